/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

// Property 10, computed from the spec and from what happened. See place for which nodes a new Pod avoids.

// judgeNodes checks, when a status is written, that a charged restart counts against a node on which something failed, that
// a node is avoided by its count, and given up only for Pods that find no other; and keeps the book of the counts.
func (w *world) judgeNodes(on basis, was, next status) error {
	if !w.sc.avoids() {
		return nil
	}
	charged := next.inPlace != was.inPlace || next.counted != was.counted
	blamed := int8(0)
	for i := range next.nodes {
		n, before, name := next.nodes[i], was.nodes[i], nodeName(int8(i+1))
		counts := n.failures > before.failures || n.avoided == justNow
		enough := w.book.counts[i]+1 >= w.sc.ft.avoid
		switch {
		case n.givenUp == justNow && !on.placeless:
			return violates(10, "%s is given up, and every Pod has found a node in time", name)
		case before.avoided > never && n.avoided <= never && n.givenUp != justNow:
			return violates(10, "%s is avoided no more before its time is over", name)
		case !counts:
			continue
		case !charged || blamed > 0:
			return violates(10, "a restart counts against %s, but nothing is charged, or another node is counted too", name)
		case w.book.blamed&(1<<i) == 0:
			return violates(10, "a restart counts against %s, where nothing failed", name)
		case (n.avoided == justNow) != (enough && before.givenUp <= never):
			return violates(10, "%s has failed %d times within a day, and that it is avoided is %t", name, w.book.counts[i]+1, n.avoided == justNow)
		}
		blamed = int8(i + 1)
		w.book.counts[i] = min(w.book.counts[i]+1, w.sc.ft.avoid)
	}
	switch {
	case charged && next.d != was.d && on.first > 0 && blamed != on.first && was.nodes[on.first-1].givenUp <= never:
		return violates(10, "the restart began on %s, and does not count against it", nodeName(on.first))
	case charged && next.restarts != was.restarts && was.unhealthy == troubledLong && on.placeless && on.action == "" && was.avoidsAny():
		return violates(10, "a reset is charged because a Pod finds no node, and a node is avoided that it might use")
	case next.s > was.s && on.stranded:
		return violates(10, "epoch %d begins, and a Pod is left on a node that is avoided", next.s)
	}
	if next.d != was.d || next.restarts != was.restarts {
		w.book.blamed = 0
	}
	return nil
}

// blame notes that a Pod failed in a way that counts against its node.
func (w *world) blame(p *pod) {
	if p.node > 0 {
		w.book.blamed |= 1 << (p.node - 1)
	}
}

func (s *status) avoidsAny() bool {
	for _, n := range s.nodes {
		if n.avoided > never {
			return true
		}
	}
	return false
}

// givesUp reports whether a status gives a node up, for which nobody is charged.
func (s *status) givesUp() bool {
	for _, n := range s.nodes {
		if n.givenUp == justNow {
			return true
		}
	}
	return false
}

// placeless reports whether a Pod that could have its node has been without one for a period; stranded whether one runs on
// a node that has been avoided since it was created.
func (v *view) placeless() bool {
	return v.anyLive(func(p *podObject) bool { return p.node == nowhere && p.born&aPeriod != 0 })
}

func (v *view) stranded() bool {
	return v.anyLive(func(p *podObject) bool {
		return p.node > 0 && p.node <= maxNodes && v.js.nodes[p.node-1].avoided > never && p.born.order() < v.js.nodes[p.node-1].avoided.order()
	})
}

func (v *view) anyLive(is func(*podObject) bool) bool {
	for _, pods := range v.pods {
		for i := range pods {
			if pods[i].live() && is(&pods[i]) {
				return true
			}
		}
	}
	return false
}

// blames is the node of the first failure that was seen, 0 if none counts against a node.
func (v *view) blames() int8 {
	if f := v.failure(); f != nil && !f.Deleted {
		return v.first.node
	}
	return 0
}
