/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"math"
	"slices"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/pkg/tolerance"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// The ledger, status.time, says what the time of a group went to (P140). A write adds the time since the one before to
// the phase that the stored status was in, so every second is counted once, whoever was the leader then:
//
//	Suspended                                         paused
//	D < S                                             running
//	D == S, in a pause (P71) or a reset's (P83)       paused
//	D == S otherwise                                  assembling
//
// It changes with the writes that end a phase, and never causes one.

// Phase is one of those above.
type Phase string

// The phases of the ledger.
const (
	PhaseRunning    Phase = "running"
	PhaseAssembling Phase = "assembling"
	PhasePaused     Phase = "paused"
)

// Lasting is the phase that the stored status is in.
type Lasting struct {
	// Phase is empty if the JobSet has ended or is being deleted: no write adds any time.
	Phase Phase
	// Pauses are the parts of PhaseAssembling that are paused. They may overlap, and are in the order of their beginnings.
	Pauses []Span
}

// Span is a time from one moment to another.
type Span struct{ From, To time.Time }

// LastingOf returns the phase of a JobSet that restarts in place, for readers. The longest pause after quick failures and what
// holds for spec.faultTolerance are in the configuration of the manager, which they may not know.
func LastingOf(js *jobset.JobSet, longestPause time.Duration, limits tolerance.Limits) Lasting {
	if js.DeletionTimestamp != nil {
		return Lasting{}
	}
	v := &view.View{Input: pass.Input{JobSet: js, Deadlines: pass.Deadlines{QuickFailurePause: longestPause}}}
	_, v.Finished = pass.FinishedBy(js)
	v.Deprecated, v.Synced = pass.EpochsOf(js)
	v.Tolerant = js.Spec.FaultTolerance != nil
	v.Settings, _ = limits.Of(js.Spec.FaultTolerance)
	return lasting(v)
}

func lasting(v *view.View) Lasting {
	switch {
	case v.Finished:
		return Lasting{}
	case wasSuspended(&v.JobSet.Status):
		return Lasting{Phase: PhasePaused}
	case v.Running():
		return Lasting{Phase: PhaseRunning}
	}
	return Lasting{Phase: PhaseAssembling, Pauses: pauses(v)}
}

// KeepTime brings the ledger up to date if the next status ends a phase or starts the first.
func KeepTime(v *view.View, allReported bool, next *jobset.JobSetStatus) {
	if !v.InPlace || v.Finished {
		return
	}
	was := &v.JobSet.Status
	switch {
	case was.Time == nil:
		first := len(was.ReplicatedJobsStatus) == 0 && len(next.ReplicatedJobsStatus) > 0
		if first || endsPhase(was, next) {
			next.Time = &jobset.TimeStatus{At: metav1.NewMicroTime(v.Now.Truncate(time.Microsecond))}
		}
		return
	case !endsPhase(was, next):
		return
	}
	ledger := was.Time.DeepCopy()
	lasting(v).Spend(ledger, v.Now)
	if allReported {
		addEpoch(ledger, endedReports(v))
	}
	next.Time = ledger
}

// endsPhase reports whether a write ends one of the phases above. That a reset pauses no more is known only until
// the status forgets when its pause began.
func endsPhase(was, next *jobset.JobSetStatus) bool {
	return ptr.Deref(was.DeprecatedEpoch, 0) != ptr.Deref(next.DeprecatedEpoch, 0) ||
		ptr.Deref(was.SyncedEpoch, 0) != ptr.Deref(next.SyncedEpoch, 0) ||
		wasSuspended(was) != wasSuspended(next) ||
		was.TerminalState != next.TerminalState ||
		was.FaultTolerance != nil && was.FaultTolerance.Reset != nil && (next.FaultTolerance == nil || next.FaultTolerance.Reset == nil)
}

// wasSuspended reports whether a status says that the JobSet is suspended.
func wasSuspended(s *jobset.JobSetStatus) bool {
	return apimeta.IsStatusConditionTrue(s.Conditions, string(jobset.JobSetSuspended))
}

// Spend adds the time since the last write. A clock that was put back adds nothing until it has caught up.
func (l Lasting) Spend(t *jobset.TimeStatus, now time.Time) {
	now = now.Truncate(time.Microsecond)
	spent := Span{t.At.Time, now}
	if l.Phase == "" || !spent.From.Before(spent.To) {
		return
	}
	t.At = metav1.NewMicroTime(now)
	length := spent.To.Sub(spent.From)
	switch l.Phase {
	case PhasePaused:
		t.Paused.Duration += length
	case PhaseRunning:
		t.Running.Duration += length
	case PhaseAssembling:
		paused := spent.within(l.Pauses)
		t.Paused.Duration += paused
		t.Assembling.Duration += length - paused
	}
}

// pauses are the times in which the stored status lets a group that assembles wait, in the order of their beginnings.
func pauses(v *view.View) []Span {
	var found []Span
	if ends := pauseEnds(v); !ends.IsZero() {
		found = append(found, Span{v.BrokenAt(), ends})
	}
	if reset := v.ResetUnderWay(); reset != nil && reset.JobsGoneTime != nil {
		found = append(found, Span{reset.JobsGoneTime.Time, reset.JobsGoneTime.Add(v.Settings.RetryPause)})
	}
	if len(found) == 2 && found[1].From.Before(found[0].From) {
		found[0], found[1] = found[1], found[0]
	}
	return found
}

// within returns how much of a span others cover, which may overlap and are in the order of their beginnings. The API
// keeps microseconds, so the ledger does.
func (s Span) within(others []Span) time.Duration {
	var covered time.Duration
	for _, other := range others {
		if other.From.Before(s.From) {
			other.From = s.From
		}
		if other.To.After(s.To) {
			other.To = s.To
		}
		if other.From.Before(other.To) {
			covered += other.To.Sub(other.From)
			s.From = other.To
		}
	}
	return covered.Truncate(time.Microsecond)
}

// epochReport is what the workers of an epoch that has ended told together.
type epochReport struct {
	// start is the longest from a start to a first sign, 0 if none gave a sign.
	start time.Duration
	// steps: one told a step. They went from first to highest, each the median of those who told one, so that one
	// worker that tells a wrong number changes nothing (P136a).
	steps          bool
	first, highest int64
}

// stepsTold are the steps that workers of an epoch told.
type stepsTold struct{ first, highest []int64 }

// median of some numbers, of which there is at least one; of two the lower one.
func median(numbers []int64) int64 {
	sorted := slices.Sorted(slices.Values(numbers))
	return sorted[(len(sorted)-1)/2]
}

// endedReports adds up what the workers of epoch S told, which are all reported when S+1 is released.
func endedReports(v *view.View) epochReport {
	var sum epochReport
	var steps stepsTold
	for i := range v.Group.Jobs {
		for k := range v.Group.Jobs[i].Slots {
			slot := &v.Group.Jobs[i].Slots[k]
			if slot.State != view.SlotMember {
				continue
			}
			if r, told := endedReport(v, slot.Pod); told {
				sum.start = max(sum.start, r.Start())
				steps.add(r.Steps)
			}
		}
	}
	if len(steps.first) > 0 {
		sum.steps, sum.first, sum.highest = true, median(steps.first), median(steps.highest)
	}
	return sum
}

// endedReport returns what a worker reported of epoch S.
func endedReport(v *view.View, m *facts.Member) (r protocol.ProgressReport, told bool) {
	if m.Progress == nil || m.Progress.Epoch != v.Synced {
		return r, false
	}
	return *m.Progress, true
}

func (s *stepsTold) add(told *protocol.Steps) {
	if told != nil {
		s.first, s.highest = append(s.first, told.First), append(s.highest, told.Highest)
	}
}

// addEpoch adds what is known of an epoch one lift later. Workers tell it, so no more is believed than the ledger has.
func addEpoch(t *jobset.TimeStatus, e epochReport) {
	t.Starting.Duration = min(t.Starting.Duration+e.start, t.Running.Duration)
	if e.steps {
		t.Steps = StepsWith(t.Steps, e.first, e.highest)
	}
}

// StepsWith returns the steps of the ledger, nil if it has none, with those of an epoch from its first to its highest.
func StepsWith(s *jobset.StepsStatus, first, highest int64) *jobset.StepsStatus {
	if s == nil {
		return &jobset.StepsStatus{Highest: highest}
	}
	next := *s
	if top := min(s.Highest, highest); first <= top {
		again := top - first
		if again < math.MaxInt64 {
			again++
		}
		next.Repeated += min(again, math.MaxInt64-s.Repeated)
	}
	next.Highest = max(s.Highest, highest)
	return &next
}
