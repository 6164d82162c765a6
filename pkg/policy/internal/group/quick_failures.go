/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// Neither a kubelet that restarts all containers of a Pod nor a supervisor slows down a worker that
// fails again and again. So the workers of a group wait for the next lift (P71):
//
//	epoch that failed after less than a minute   1st  2nd  3rd  4th  ...  10th
//	quickFailures                                 1    2    3    4         10
//	lift, after the break, not before             -    1 s  2 s  4 s       256 s
//
// The count and the break are in the status, so another manager goes on where this one stopped. Suspending
// the JobSet ends the pause: whoever resumes it wants it to run.

// longRun is how long an epoch has to run in order not to be a quick failure.
const longRun = time.Minute

// QuickFailuresAfter returns how many quick failures in a row there are once the epoch that runs ends
// by these changes.
func QuickFailuresAfter(v *view.View, changes pass.Changes) int32 {
	count, lifted := v.JobSet.Status.QuickFailures, v.JobSet.Status.LastSyncTime
	switch {
	case v.Deadlines.QuickFailurePause <= 0 || lifted == nil || v.Now.Sub(lifted.Time) >= longRun:
		return 0
	case changes.Any(pass.ChargeAllJobs|pass.ChargeGroup) && !changes.Any(pass.Disrupted) && count < math.MaxInt32:
		return count + 1
	}
	return count // ended by a user, or for others (P71b)
}

// pauseAfter returns how long after the break the workers wait.
func pauseAfter(v *view.View, quickFailures int32) time.Duration {
	const doublings = 30
	if quickFailures < 2 || v.Deadlines.QuickFailurePause <= 0 {
		return 0
	}
	return min(time.Second<<min(quickFailures-2, doublings), v.Deadlines.QuickFailurePause)
}

// pauseEnds returns when the pause of a group that assembles is over, zero if there is none.
func pauseEnds(v *view.View) time.Time {
	pause, broken := pauseAfter(v, v.JobSet.Status.QuickFailures), v.BrokenAt()
	if pause <= 0 || v.Running() || broken.IsZero() {
		return time.Time{}
	}
	return broken.Add(pause)
}

// pauseLeft returns how long the workers of a group that assembles still have to wait.
func pauseLeft(v *view.View) time.Duration {
	ends := pauseEnds(v)
	if ends.IsZero() {
		return 0
	}
	longest := pauseAfter(v, v.JobSet.Status.QuickFailures)
	return max(0, min(longest, v.Until(ends))) // see BreakIsAhead
}

// BreakIsAhead reports whether the pause began later than now, because the clock was put back or a new leader's is behind. Then
// it begins again: otherwise it would last until the clock has caught up.
func BreakIsAhead(v *view.View) bool {
	return v.Watched && !pauseEnds(v).IsZero() && v.BrokenAt().After(v.Now)
}

// QuickFailurePause looks again when the workers may start. Until then the clock of the assembly
// stands still (P48): no worker is late.
func QuickFailurePause(v *view.View, _ pass.Result) pass.Result {
	left := pauseLeft(v)
	if left <= 0 {
		return pass.Result{}
	}
	r := pass.RequeueAfter(left)
	r.Remember.ClockStands = true
	return r
}

// notBefore says until when the workers of a group that breaks now, by these changes, have to wait, "" if they do not.
func notBefore(v *view.View, changes pass.Changes) string {
	count := QuickFailuresAfter(v, changes)
	pause := pauseAfter(v, count)
	if pause <= 0 {
		return ""
	}
	return fmt.Sprintf(", not before %s: %d epochs in a row failed within a minute", v.Now.Add(pause).UTC().Format(time.RFC3339), count)
}

// NotBeforeLift says until when the workers of a group wait after a reset, "" if they may start as soon as
// its pause is over and they exist.
func NotBeforeLift(v *view.View, resetPauseEnds time.Time) string {
	if ends := pauseEnds(v); v.Watched && ends.After(resetPauseEnds) {
		return fmt.Sprintf("; no worker starts before %s: %d epochs in a row failed within a minute",
			ends.UTC().Format(time.RFC3339), v.JobSet.Status.QuickFailures)
	}
	return ""
}

// RestartRecord is the entry of a restart of the group.
func RestartRecord(v *view.View, cause jobset.RestartCause, charged pass.Changes) *jobset.RestartRecord {
	next := &jobset.RestartRecord{Kind: jobset.RestartedInPlace, Epoch: v.Synced, Reason: constants.InPlaceRestartReason, Cause: cause}
	if pause := pauseAfter(v, QuickFailuresAfter(v, charged)); pause > 0 {
		next.NotBefore = ptr.To(metav1.NewTime(v.Now.Add(pause)))
	}
	return next
}
