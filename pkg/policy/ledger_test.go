/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy/internal/group"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// spentUntil: the ledger was last written so long ago.
func spentUntil(ago time.Duration, changes ...func(*jobset.TimeStatus)) func(*Input) {
	return func(in *Input) {
		in.JobSet.Status.Time = &jobset.TimeStatus{At: metav1.NewMicroTime(now.Add(-ago))}
		for _, change := range changes {
			change(in.JobSet.Status.Time)
		}
	}
}

func ran(d time.Duration) func(*jobset.TimeStatus) {
	return func(t *jobset.TimeStatus) { t.Running.Duration = d }
}

func reachedStep(highest, repeated int64) func(*jobset.TimeStatus) {
	return func(t *jobset.TimeStatus) { t.Steps = &jobset.StepsStatus{Highest: highest, Repeated: repeated} }
}

// tells: the Pod of a worker has this annotation.
func tells(index int, progress string) func(*Input) {
	return func(in *Input) {
		edit(in.Pods[in.Jobs[0].UID][index], func(pod *corev1.Pod) { pod.Annotations[jobset.ProgressKey] = progress })
	}
}

// ledgerText is short, and empty if there is no ledger.
func ledgerText(t *jobset.TimeStatus) string {
	if t == nil {
		return ""
	}
	text := fmt.Sprintf("%s ago: running %s, assembling %s, starting %s, paused %s", now.Sub(t.At.Time),
		t.Running.Duration, t.Assembling.Duration, t.Starting.Duration, t.Paused.Duration)
	if t.Steps != nil {
		text += fmt.Sprintf(", step %d, %d again", t.Steps.Highest, t.Steps.Repeated)
	}
	return text
}

// TestLedger: each write adds the time since the last to the phase that it ends (P140).
func TestLedger(t *testing.T) {
	t.Parallel()
	const lifted = "0s ago: running 10s, assembling 5s, starting "
	lift := func(changes ...func(*Input)) Input {
		return inPlace(1, 1, "2 2", append([]func(*Input){spentUntil(5*time.Second, ran(10*time.Second))}, changes...)...)
	}
	tests := map[string]struct {
		in   Input
		want string
	}{
		"P140: a break ends what ran":                {inPlace(0, 1, "1 2", spentUntil(7*time.Second)), "0s ago: running 7s, assembling 0s, starting 0s, paused 0s"},
		"P140: a lift ends the assembly":             {lift(), lifted + "0s, paused 0s"},
		"P140: nothing changes, nothing is written":  {inPlace(0, 1, "1 1", spentUntil(7*time.Second)), "7s ago: running 0s, assembling 0s, starting 0s, paused 0s"},
		"P140: nor while it assembles":               {inPlace(1, 1, "2 1", spentUntil(7*time.Second)), "7s ago: running 0s, assembling 0s, starting 0s, paused 0s"},
		"P140: without the gate there is none":       {inPlace(0, 1, "1 2", gateOff), ""},
		"P140: a ledger that is lost starts again":   {inPlace(0, 1, "1 2"), "0s ago: running 0s, assembling 0s, starting 0s, paused 0s"},
		"P140: a clock put back adds nothing":        {inPlace(0, 1, "1 2", spentUntil(-3*time.Second)), "-3s ago: running 0s, assembling 0s, starting 0s, paused 0s"},
		"P140: the pause of quick failures":          {lift(quick(4, time.Hour), brokeAt(4500*time.Millisecond)), "0s ago: running 10s, assembling 1s, starting 0s, paused 4s"},
		"P140: the part of a pause since the write":  {inPlace(1, 1, "2 2", spentUntil(time.Second), quick(4, time.Hour), brokeAt(4500*time.Millisecond)), "0s ago: running 0s, assembling 500ms, starting 0s, paused 500ms"},
		"P137: the slowest start of the epoch":       {lift(tells(0, `{"epoch":1,"startMs":1500}`), tells(1, `{"epoch":1,"startMs":2000}`)), lifted + "2s, paused 0s"},
		"P137: what is told of another epoch":        {lift(tells(0, `{"epoch":2,"startMs":1500}`)), lifted + "0s, paused 0s"},
		"P137: what is no report":                    {lift(tells(0, `{"epoch":1,"startMs":-1}`)), lifted + "0s, paused 0s"},
		"P137: a start longer than all that ran":     {lift(tells(0, `{"epoch":1,"startMs":3153600000000}`)), lifted + "10s, paused 0s"},
		"P140: the first steps":                      {lift(tells(0, `{"epoch":1,"steps":{"first":1,"last":9,"highest":9},"startMs":1}`)), lifted + "1ms, paused 0s, step 9, 0 again"},
		"P140: steps that were computed before":      {lift(spentUntil(5*time.Second, ran(10*time.Second), reachedStep(120, 3)), tells(0, `{"epoch":1,"steps":{"first":101,"last":150,"highest":150},"startMs":1}`)), lifted + "1ms, paused 0s, step 150, 23 again"},
		"P140: fewer steps than before":              {lift(spentUntil(5*time.Second, ran(10*time.Second), reachedStep(120, 3)), tells(0, `{"epoch":1,"steps":{"first":101,"last":110,"highest":110},"startMs":1}`)), lifted + "1ms, paused 0s, step 120, 13 again"},
		"P140: the largest steps there are":          {lift(spentUntil(5*time.Second, ran(10*time.Second), reachedStep(math.MaxInt64, 3)), tells(0, fmt.Sprintf(`{"epoch":1,"steps":{"first":0,"last":%[1]d,"highest":%[1]d},"startMs":1}`, math.MaxInt64))), fmt.Sprintf("%s1ms, paused 0s, step %[2]d, %[2]d again", lifted, math.MaxInt64)},
		"P140: the first write of the status starts": {firstWrite(), "0s ago: running 0s, assembling 0s, starting 0s, paused 0s"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan, err := Decide(test.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := ledgerText(plan.Status.Time); got != test.want {
				t.Errorf("the ledger is\n%s, want\n%s", got, test.want)
			}
		})
	}
}

// firstWrite is the pass that creates the first Jobs.
func firstWrite() Input {
	in := inPlace(0, 0, "_")
	in.Jobs, in.Pods = nil, nil
	return in
}

// TestLedgerAddsUp: over random sequences of breaks, lifts, suspensions and resets with pauses, each phase is what a log
// says that is written beside it, and their sum is the time since the first Job (P140).
func TestLedgerAddsUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		l := newLedgerRun(seed)
		for range 100 {
			l.next()
			got := l.js.Status.Time
			sum := got.Running.Duration + got.Assembling.Duration + got.Paused.Duration
			if sum != got.At.Sub(l.first) {
				t.Fatalf("seed %d: the phases add up to %s, and %s have passed", seed, sum, got.At.Sub(l.first))
			}
			if log := [3]time.Duration{got.Running.Duration, got.Assembling.Duration, got.Paused.Duration}; log != l.log {
				t.Fatalf("seed %d: running, assembling, paused are %v, the log says %v", seed, log, l.log)
			}
		}
	}
}

// ledgerRun is a JobSet to which troubles happen, and a log of its phases: running, assembling, paused.
type ledgerRun struct {
	rand       *rand.Rand
	js         *jobset.JobSet
	now, first time.Time
	log        [3]time.Duration
}

func newLedgerRun(seed uint64) *ledgerRun {
	l := &ledgerRun{rand: rand.New(rand.NewPCG(seed, 0)), now: now, first: now}
	l.js = builders.MakeJobSet("js", "ns").FailurePolicy(jobset.InPlaceRestart, 1000).Obj()
	l.write(false, func(s *jobset.JobSetStatus) { s.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "w"}} })
	return l
}

// spend lets time pass in a phase.
func (l *ledgerRun) spend(phase int, most time.Duration) {
	d := time.Duration(l.rand.Int64N(int64(most/time.Microsecond))) * time.Microsecond
	l.now = l.now.Add(d)
	l.log[phase] += d
}

// write is what the manager does, each time one that remembers nothing.
func (l *ledgerRun) write(lifts bool, change func(*jobset.JobSetStatus)) {
	v := &view.View{Input: Input{JobSet: l.js, Now: l.now, Gates: gates.Set{InPlaceRestart: true}}, InPlace: true}
	v.Deadlines.QuickFailurePause = 5 * time.Minute
	v.Tolerant, v.Settings.RetryPause = true, resetPause
	v.Deprecated, v.Synced = pass.EpochsOf(l.js)
	next := l.js.Status.DeepCopy()
	change(next)
	group.KeepTime(v, lifts, next)
	l.js.Status = *next
}

// next is a random trouble, or the end of one.
func (l *ledgerRun) next() {
	s := &l.js.Status
	running := ptr.Deref(s.DeprecatedEpoch, 0) < ptr.Deref(s.SyncedEpoch, 0)
	switch {
	case apimeta.IsStatusConditionTrue(s.Conditions, string(jobset.JobSetSuspended)):
		l.spend(2, time.Hour)
		l.write(false, becomesSuspended(metav1.ConditionFalse))
	case running && l.rand.IntN(4) == 0:
		l.reset()
	case running:
		l.spend(0, 2*time.Hour)
		l.write(false, func(s *jobset.JobSetStatus) {
			s.DeprecatedEpoch, s.QuickFailures = s.SyncedEpoch, l.rand.Int32N(8)
			s.BreakTime = ptr.To(metav1.NewMicroTime(l.now))
		})
	case l.waitOut(s):
	case l.rand.IntN(4) == 0:
		l.spend(1, time.Minute)
		l.write(false, func(s *jobset.JobSetStatus) {
			s.BreakTime = nil
			becomesSuspended(metav1.ConditionTrue)(s)
		})
	default:
		l.spend(1, time.Minute)
		l.write(true, func(s *jobset.JobSetStatus) {
			s.BreakTime, s.SyncedEpoch = nil, ptr.To(ptr.Deref(s.SyncedEpoch, 0)+1)
		})
	}
}

// resetPause is that of a reset between the last Job of an attempt and the first of the next (P83).
const resetPause = 20 * time.Second

// reset ends what runs by a reset, up to when it no longer pauses: its Jobs go, the pause passes, and others are created.
func (l *ledgerRun) reset() {
	l.spend(0, 2*time.Hour)
	started := metav1.NewTime(l.now)
	l.write(false, func(s *jobset.JobSetStatus) {
		s.DeprecatedEpoch, s.QuickFailures = s.SyncedEpoch, 0
		s.BreakTime = ptr.To(metav1.NewMicroTime(l.now))
		s.FaultTolerance = &jobset.FaultToleranceStatus{Reset: &jobset.ResetStatus{StartTime: started}}
	})
	l.spend(1, time.Minute)
	gone := l.now.Add(time.Second - 1).Truncate(time.Second) // rounded up, as the API keeps it
	l.write(false, func(s *jobset.JobSetStatus) { s.FaultTolerance.Reset.JobsGoneTime = ptr.To(metav1.NewTime(gone)) })
	l.log[1] += gone.Sub(l.now)
	l.log[2] += resetPause
	l.now = gone.Add(resetPause)
	l.spend(1, time.Second)
	l.write(false, func(s *jobset.JobSetStatus) { s.FaultTolerance = nil })
}

// waitOut lets the pause after quick failures pass to its end, if one began (P71). It writes nothing, so it is no case.
func (l *ledgerRun) waitOut(s *jobset.JobSetStatus) bool {
	if s.BreakTime != nil && s.QuickFailures >= 2 {
		pause := time.Second << (s.QuickFailures - 2)
		l.now = l.now.Add(pause)
		l.log[2] += pause
	}
	return false
}

func becomesSuspended(status metav1.ConditionStatus) func(*jobset.JobSetStatus) {
	return func(s *jobset.JobSetStatus) {
		n := pass.Silently(jobset.JobSetSuspended, status, "Because", "")
		n.Apply(&s.Conditions, now)
	}
}
