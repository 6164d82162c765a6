/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

// good reports whether the world is where it has to come to when failures stop (property 5):
// the group runs in one epoch, or the JobSet is finished or gone, or it is suspended and stands still.
func (w *world) good() bool {
	js := w.jobSet.live()
	switch {
	case js.exists && js.phase != unfinished && w.sc.ft != nil:
		return js.deployed != isTrue
	case !js.exists || js.phase != unfinished:
		return true
	case w.pass != nil || w.ghost != nil:
		return false
	case js.suspend:
		return w.rests(&js) && js.deployed != isTrue
	case w.leftToKubernetes():
		return true
	case w.now().succeeds(w.sc, true):
		return false // it has to be Completed
	case w.mustLeave(&js):
		return false
	case js.disabled || !w.gate || w.sc.recreates():
		return w.allRun(&js, func(p *pod) bool { return p.worker != 0 })
	}
	return js.d < js.s && w.allRun(&js, func(p *pod) bool { return p.worker == js.s })
}

// rests reports whether nothing runs.
func (w *world) rests(js *jobSet) bool {
	for _, j := range w.jobs.live() {
		if j.owner != js.uid || !j.suspend && !j.finished() {
			return false
		}
	}
	for i := range w.pods {
		if w.pods[i].phase == running {
			return false
		}
	}
	return true
}

// allRun reports whether all Jobs are as the spec wants them, and a worker runs in every slot.
func (w *world) allRun(js *jobSet, runs func(*pod) bool) bool {
	v := view{js: *js, jobs: w.jobs.live()}
	if v.differs(w.sc) {
		return false
	}
	slots := 0
	for i := range v.jobs {
		j := &v.jobs[i]
		switch {
		case j.owner != js.uid || j.deleting || j.failing || j.broken:
			return false
		case j.complete:
			continue
		}
		for index := range j.size {
			if j.isDone(index) {
				continue
			}
			if !w.oneRuns(j, index, runs) {
				return false
			}
			slots++
		}
	}
	return slots > 0
}

func (w *world) oneRuns(j *job, index int8, runs func(*pod) bool) bool {
	found := 0
	for i := range w.pods {
		p := &w.pods[i]
		if p.job != j.uid || p.index != index || p.phase == podFailed {
			continue
		}
		found++
		if p.phase != podSucceeded && (p.deleting || !runs(p)) {
			return false
		}
	}
	return found == 1
}
