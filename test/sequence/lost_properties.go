/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

// judgeLost checks whom a pass is about to replace by force (12).
func (w *world) judgeLost(v *view, ops []op) error {
	js := w.jobSet.live()
	silent, all := 0, 0
	for i := range v.pods {
		for _, p := range v.pods[i] {
			all += map[bool]int{true: 1}[p.node > 0 && p.phase == running]
		}
	}
	for _, o := range ops {
		if o.kind != opReplaceLost {
			continue
		}
		at := w.podAt(o.pod)
		if at < 0 {
			continue
		}
		silent++
		switch p := &w.pods[at]; {
		case js.d < js.s:
			return violates(12, "a worker of a group that runs is replaced by force")
		case !w.timeUp:
			return violates(12, "a worker is replaced by force before the time for which it may do what counts is over")
		case p.node <= 0 || !w.nodes[p.node-1].silent:
			return violates(12, "a worker is replaced by force whose node was heard from")
		}
	}
	if silent > 1 && 3*silent > all {
		return violates(12, "%d workers of %d are replaced by force at once", silent, all)
	}
	return nil
}

// checkSteps checks that no step of an epoch can be computed any more once the next one was lifted: that takes all of its workers.
func (w *world) checkSteps() error {
	js := w.jobSet.live()
	for _, r := range w.remnants {
		if r.epoch >= js.s {
			continue
		}
		var slots indexes
		for i := range w.pods {
			if p := &w.pods[i]; p.worker == r.epoch {
				slots |= 1 << p.index
			}
		}
		for _, other := range w.remnants {
			if other.epoch == r.epoch {
				slots |= 1 << other.index
			}
		}
		if len(slots.list()) == int(js.size[0]) {
			return violates(12, "all workers of epoch %d run, and epoch %d was lifted", r.epoch, js.s)
		}
	}
	return nil
}
