/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"math"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
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

// span is a time from one moment to another.
type span struct{ from, to time.Time }

// keepTime brings the ledger up to date if the next status ends a phase or starts the first.
func (v *view) keepTime(allReported bool, next *jobset.JobSetStatus) {
	if !v.inPlace || v.finished {
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
	v.spend(ledger)
	if allReported {
		addEpoch(ledger, v.endedReports())
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

func wasSuspended(s *jobset.JobSetStatus) bool {
	return apimeta.IsStatusConditionTrue(s.Conditions, string(jobset.JobSetSuspended))
}

// spend adds the time since the last write. A clock that was put back adds nothing until it has caught up.
func (v *view) spend(t *jobset.TimeStatus) {
	now := v.Now.Truncate(time.Microsecond)
	spent := span{t.At.Time, now}
	if !spent.from.Before(spent.to) {
		return
	}
	t.At = metav1.NewMicroTime(now)
	length := spent.to.Sub(spent.from)
	switch {
	case wasSuspended(&v.JobSet.Status):
		t.Paused.Duration += length
	case v.running():
		t.Running.Duration += length
	default:
		paused := spent.within(v.pauses())
		t.Paused.Duration += paused
		t.Assembling.Duration += length - paused
	}
}

// pauses are the times in which the stored status lets a group that assembles wait, in the order of their beginnings.
func (v *view) pauses() []span {
	var found []span
	if ends := v.pauseEnds(); !ends.IsZero() {
		found = append(found, span{v.brokenAt(), ends})
	}
	if reset := v.resetUnderWay(); reset != nil && reset.JobsGoneTime != nil {
		found = append(found, span{reset.JobsGoneTime.Time, reset.JobsGoneTime.Add(v.tolerance.RetryPause)})
	}
	if len(found) == 2 && found[1].from.Before(found[0].from) {
		found[0], found[1] = found[1], found[0]
	}
	return found
}

// within returns how much of a span others cover, which may overlap and are in the order of their beginnings. The API
// keeps microseconds, so the ledger does.
func (s span) within(others []span) time.Duration {
	var covered time.Duration
	for _, other := range others {
		if other.from.Before(s.from) {
			other.from = s.from
		}
		if other.to.After(s.to) {
			other.to = s.to
		}
		if other.from.Before(other.to) {
			covered += other.to.Sub(other.from)
			s.from = other.to
		}
	}
	return covered.Truncate(time.Microsecond)
}

// epochReport is what the workers of an epoch that has ended told together.
type epochReport struct {
	// start is the longest from a start to a first sign, 0 if none gave a sign.
	start time.Duration
	// steps: one told a step. They went from first to highest.
	steps          bool
	first, highest int64
}

// endedReports adds up what the workers of epoch S told, which are all reported when S+1 is released.
func (v *view) endedReports() epochReport {
	var sum epochReport
	for i := range v.group.jobs {
		for k := range v.group.jobs[i].slots {
			slot := &v.group.jobs[i].slots[k]
			if slot.State != SlotMember {
				continue
			}
			if r, told := v.endedReport(facts.ProgressOf(slot.Pod)); told {
				sum.add(r)
			}
		}
	}
	return sum
}

// endedReport reads what a worker told of epoch S. Whatever it told of another one, or cannot be read, counts for nothing.
func (v *view) endedReport(progress string) (r protocol.ProgressReport, told bool) {
	if progress == "" {
		return r, false
	}
	r, err := protocol.ParseProgressReport(progress)
	return r, err == nil && r.Epoch == v.synced
}

func (e *epochReport) add(r protocol.ProgressReport) {
	e.start = max(e.start, r.Start())
	s := r.Steps
	switch {
	case s == nil:
	case !e.steps:
		e.steps, e.first, e.highest = true, s.First, s.Highest
	default:
		e.first, e.highest = min(e.first, s.First), max(e.highest, s.Highest)
	}
}

// addEpoch adds what is known of an epoch one lift later. Workers tell it, so no more is believed than the ledger has.
func addEpoch(t *jobset.TimeStatus, e epochReport) {
	t.Starting.Duration = min(t.Starting.Duration+e.start, t.Running.Duration)
	if !e.steps {
		return
	}
	if t.Steps == nil {
		t.Steps = &jobset.StepsStatus{Highest: e.highest}
		return
	}
	if top := min(t.Steps.Highest, e.highest); e.first <= top {
		again := top - e.first
		if again < math.MaxInt64 {
			again++
		}
		t.Steps.Repeated += min(again, math.MaxInt64-t.Steps.Repeated)
	}
	t.Steps.Highest = max(t.Steps.Highest, e.highest)
}
