/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// story is a schedule that somebody chose: between what the story does, all act in turn
// until nothing more happens.
type story struct {
	t     *testing.T
	w     *world
	d     *decider
	trace *trace
}

func tell(t *testing.T, resized, failsJobs bool, rjobs ...replicatedJob) *story {
	sc := &scenario{rjobs: rjobs, hasResizes: resized, failsJobs: failsJobs, maxRestarts: 3, kinds: everyFailure, lag: 20, lingering: true}
	s := &story{t: t, w: sc.start(), d: newDecider(sc)}
	s.trace = newTrace(s.w)
	s.rest()
	return s
}

// rest lets the world come to rest.
func (s *story) rest() { s.until(func(*world) bool { return false }) }

// until lets the world go on until something is so, or it comes to rest.
func (s *story) until(is func(*world) bool) {
	for range 1000 {
		if is(s.w) {
			return
		}
		next := s.w.calmStep(s.d, s.row)
		if next == nil {
			return
		}
		s.w = next
	}
	s.t.Fatal("the world does not come to rest")
}

// row leaves out that caches see something, which they do at once here.
func (s *story) row(was, is *world, by step) {
	if by.kind > cacheLeases {
		s.trace.add(is, describe(was, is, by))
	}
}

// happens makes something happen, to the Pod of an index of the first Job of a ReplicatedJob.
func (s *story) happens(kind stepKind, rjob, index int8) {
	s.t.Helper()
	j := s.w.jobNamed(rjob, 0)
	for i := range s.w.pods {
		if p := &s.w.pods[i]; p.job == j.uid && p.index == index && p.live() {
			s.does(step{kind: kind, uid: p.uid})
			return
		}
	}
	s.t.Fatalf("there is no Pod of index %d", index)
}

func (s *story) does(by step) {
	s.t.Helper()
	// All of a budget is there for what the story wants.
	s.w.left = budgets{9, 9, 9, 9, 9, 9, 0, 0}
	next, err := s.w.after(by, s.d)
	if err != nil || next == nil {
		s.t.Fatalf("step %+v: %v", by, err)
	}
	s.trace.add(next, describe(s.w, next, by))
	s.w = next
	s.w.left = budgets{}
}

// TestStories compares the main stories of the protocol with what was read and found right
// before. Review the difference of a transcript and you have reviewed the behaviour.
func TestStories(t *testing.T) {
	workers := func(n int8) replicatedJob { return replicatedJob{"w", 1, n, -1} }
	for name, tc := range map[string]struct {
		of   []replicatedJob
		tell func(*story)
		// ends is what the JobSet has to come to.
		ends func(jobSet) bool
	}{
		"first-start": {[]replicatedJob{workers(2)}, func(*story) {}, epochs(0, 1, 0)},
		"one-worker-fails": {[]replicatedJob{workers(2)}, func(s *story) {
			s.happens(workerExits, 0, 0)
			s.rest()
		}, epochs(1, 2, 1)},
		"pod-is-deleted": {[]replicatedJob{workers(2)}, func(s *story) {
			s.happens(podIsDeleted, 0, 1)
			s.rest()
		}, epochs(1, 2, 1)},
		"two-fail-at-once": {[]replicatedJob{workers(3)}, func(s *story) {
			s.happens(workerExits, 0, 0)
			s.happens(podFails, 0, 1)
			s.rest()
		}, epochs(1, 2, 1)},
		"suspend-and-resume": {[]replicatedJob{workers(2)}, func(s *story) {
			s.does(step{kind: suspendJobSet})
			s.rest()
			s.does(step{kind: resumeJobSet})
			s.rest()
		}, epochs(1, 2, 0)},
		"resize": {[]replicatedJob{workers(2)}, func(s *story) {
			s.does(step{kind: resize, uid: 0, n: 3})
			s.rest()
			s.does(step{kind: resize, uid: 0, n: 1})
			s.rest()
		}, epochs(2, 3, 0)},
		"one-exits-0-then-another-fails": {[]replicatedJob{workers(2)}, func(s *story) {
			s.happens(workerExits0, 0, 0)
			s.rest()
			s.happens(workerExits, 0, 1)
			s.rest()
		}, epochs(1, 2, 1)},
		"job-failure": {[]replicatedJob{workers(2), {"v", 1, 1, -1}}, func(s *story) {
			s.happens(jobFails, 0, 0)
			s.rest()
		}, epochs(1, 2, 1)},
		"depends-on-complete-joins": {[]replicatedJob{workers(1), {"v", 1, 1, 0}}, func(s *story) {
			s.happens(workerExits0, 0, 0)
			s.rest()
		}, epochs(1, 2, 0)},
		"depends-on-complete-joins-without-one-that-ended": {[]replicatedJob{workers(1), {"e", 1, 1, -1}, {"v", 1, 1, 0}}, func(s *story) {
			s.happens(workerExits0, 1, 0)
			s.rest()
			s.happens(workerExits0, 0, 0)
			s.rest()
		}, epochs(1, 2, 0)},
		"crash-between-break-and-effects": {[]replicatedJob{workers(2)}, func(s *story) {
			s.does(step{kind: suspendJobSet})
			s.until(func(w *world) bool { return w.jobSet.live().d == 1 })
			s.until(func(w *world) bool { return w.pass != nil })
			s.does(step{kind: leaderChange})
			s.rest()
			s.does(step{kind: resumeJobSet})
			s.rest()
		}, epochs(1, 2, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tell(t, name == "resize", name == "job-failure", tc.of...)
			tc.tell(s)
			if js := s.w.jobSet.live(); !tc.ends(js) || !s.w.good() {
				t.Errorf("the story ends at D %d, S %d, charged %d, good: %v\n%s", js.d, js.s, js.inPlace+js.counted, s.w.good(), s.trace)
			}
			compare(t, name, s.trace.String())
		})
	}
}

func epochs(d, s, charged int8) func(jobSet) bool {
	return func(js jobSet) bool { return js.d == d && js.s == s && js.inPlace+js.counted == charged }
}

// compare compares a transcript with the one in testdata, or writes it there.
func compare(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *updateFlag {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with: go test ./test/sequence -run %s -update", err, t.Name())
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("transcript %s (-want +got):\n%s", path, diff)
	}
}
