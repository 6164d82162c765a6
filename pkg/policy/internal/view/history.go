/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"slices"
	"strings"
	"time"
	"unicode"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
)

// status.restartHistory is what the plugin and the dashboard tell of restarts, also when every event has gone:
//
//	written with    what
//	the break       kind, epoch or attempt, cause, planned, until when the workers wait
//	the lift        its end, the suspect, and how the workers of the epoch before had started
//	JobsReady       its end, if Jobs were recreated
//
// Nothing is decided by it, and no status is written for it. The status of a group goes to each of its agents twice a
// restart, so it keeps few restarts, and its strings are cut: Pods, nodes and agents give some of them.
const (
	mostInPlace, mostRestarts = 2, 5
	longestName               = 253
	longestLabel              = 63
	longestReason             = 256
	longestMessage            = 256
	longestSuspect            = 512
)

// oneBurst is how long restarts of single Jobs count as one entry: else one wave of them would leave room for nothing else.
const oneBurst = time.Minute

// WriteHistory brings what the pass decided about restarts into the next status, after its conditions.
func (v *View) WriteHistory(r *pass.Result, status *jobset.JobSetStatus) {
	now := metav1.NewMicroTime(v.Now)
	if last := lastRestart(status); last != nil && last.Ended == nil {
		switch {
		case r.Changes.Any(pass.LiftBarrier) && last.Kind == jobset.RestartedInPlace && last.Epoch == v.Synced:
			last.Ended, last.Workers, last.Suspect = ptr.To(now), v.Group.Size, cleaned(r.Suspect, longestSuspect)
		case last.Kind != jobset.RestartedInPlace && v.IsTrue(jobset.JobSetRestarting) && slices.ContainsFunc(r.Notices, func(n pass.Notice) bool {
			return n.Condition.Reason == constants.JobsReadyReason
		}):
			last.Ended = ptr.To(now)
		}
	}
	if starts := r.Reports.WarmStarts; starts.Epoch > 0 {
		for i := range status.RestartHistory {
			if of := &status.RestartHistory[i]; of.Kind == jobset.RestartedInPlace && of.Epoch == starts.Epoch-1 {
				of.Starts = startsOf(starts)
			}
		}
	}
	if r.Began == nil || r.Changes.Any(pass.FailsJobSet) {
		return
	}
	next := *r.Began
	next.Began, next.Cause = now, bounded(&next.Cause)
	next.Reason = cleaned(next.Reason, longestReason)
	if r.Changes.Any(pass.RestartAllJobs) {
		if next.Attempt = status.Restarts; v.Tolerant {
			next.Kind = jobset.RestartedByReset
		}
	}
	most := mostRestarts
	if v.RestartStrategy() == jobset.InPlaceRestart {
		most = mostInPlace
	}
	if last := lastRestart(status); next.Kind == jobset.RestartedJob && last != nil && last.Kind == next.Kind && v.Now.Sub(last.Began.Time) < oneBurst {
		last.Count = max(1, last.Count) + 1
		return
	}
	status.RestartHistory = append([]jobset.RestartRecord{next}, status.RestartHistory[:min(len(status.RestartHistory), most-1)]...)
}

// lastRestart returns the newest entry of the history, nil if there is none.
func lastRestart(status *jobset.JobSetStatus) *jobset.RestartRecord {
	if len(status.RestartHistory) == 0 {
		return nil
	}
	return &status.RestartHistory[0]
}

// LastCause is the cause of the newest restart in words, followed by a separator; "" if an older manager decided it.
func (v *View) LastCause(separator string) string {
	if last := lastRestart(&v.JobSet.Status); last != nil {
		return pass.CauseText(&last.Cause) + separator
	}
	return ""
}

// HangAnnounced reports whether the break of the group that assembles named a worker that hung.
func (v *View) HangAnnounced() bool {
	last := lastRestart(&v.JobSet.Status)
	return last != nil && slices.Contains([]jobset.RestartCauseType{jobset.CauseSilent, jobset.CauseNeverSigned, jobset.CauseTriggered}, last.Cause.Type)
}

// startsOf is what the history keeps of how workers were started.
func startsOf(s pass.WarmStarts) *jobset.RestartStarts {
	sign := func(of time.Duration) *metav1.Duration {
		if of <= 0 {
			return nil
		}
		return &metav1.Duration{Duration: of}
	}
	return &jobset.RestartStarts{Warm: int32(s.Warm), Cold: int32(s.Cold), WarmSign: sign(s.WarmSign), ColdSign: sign(s.ColdSign)}
}

// bounded cuts the strings of a cause.
func bounded(c *jobset.RestartCause) jobset.RestartCause {
	next := *c
	next.Job, next.Container = cleaned(c.Job, longestLabel), cleaned(c.Container, longestLabel)
	next.Pod, next.Node = cleaned(c.Pod, longestName), cleaned(c.Node, longestName)
	next.Reason, next.Message = cleaned(c.Reason, longestReason), cleaned(c.Message, longestMessage)
	return next
}

// cleaned shortens a text, and replaces what a terminal would obey or a reader could not see.
func cleaned(text string, most int) string {
	return pass.Shortened(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, strings.ToValidUTF8(text, string(unicode.ReplacementChar))), most)
}
