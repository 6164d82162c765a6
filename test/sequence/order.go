/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

// tooEarly returns the name of a ReplicatedJob whose Jobs are to be created or resumed though the workers of the one that it
// waits for are not all back, "" if there is none (P126). A JobSet that is suspended has no order.
func (v *view) tooEarly(sc *scenario, ops []op) string {
	if sc.order == complete || v.js.suspend {
		return ""
	}
	for _, o := range ops {
		first := sc.rjobs[o.job.rjob].after
		if first >= 0 && (o.kind == opCreate || o.kind == opResume) && !v.allReport(sc, first) {
			return sc.rjobs[o.job.rjob].name
		}
	}
	return ""
}

// allReport reports whether every worker of a ReplicatedJob is done, or at S+1 while D == S, or at S while D < S.
func (v *view) allReport(sc *scenario, rjob int8) bool {
	want := v.js.s
	if v.js.d == v.js.s {
		want++
	}
	for index := range sc.rjobs[rjob].replicas {
		at := v.find(rjob, index)
		if at < 0 || v.jobs[at].attempt < v.js.restarts || v.jobs[at].deleting {
			return false
		}
		j := &v.jobs[at]
		for worker := range j.size {
			if !j.complete && !j.criteriaMet && !j.isDone(worker) && !v.isAt(at, worker, want) {
				return false
			}
		}
	}
	return true
}

func (v *view) isAt(at int, worker, epoch int8) bool {
	members := 0
	for _, p := range v.pods[at] {
		switch {
		case p.index != worker || p.job != v.jobs[at].uid:
		case p.phase == podSucceeded:
			return true
		case p.live():
			members++
			if p.reports() != epoch {
				return false
			}
		}
	}
	return members == 1
}
