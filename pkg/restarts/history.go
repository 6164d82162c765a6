/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
)

// Restart is an entry of status.restartHistory, and what follows from it.
type Restart struct {
	jobset.RestartRecord `json:",inline"`
	// Because is the cause in words.
	Because string `json:"because"`
	// Seconds from its beginning to its end; nil if it has not ended.
	Seconds *float64 `json:"seconds,omitempty"`
	// InProgress: the workers are held until all are back.
	InProgress bool `json:"inProgress,omitempty"`
}

// History returns the restarts that the status of a JobSet remembers, newest first.
func History(js *jobset.JobSet) []Restart {
	history := make([]Restart, len(js.Status.RestartHistory))
	for i := range history {
		r := &history[i]
		r.RestartRecord = js.Status.RestartHistory[i]
		if r.Because = policy.CauseText(&r.Cause); r.Because == "" {
			r.Because = "a cause that this version does not know: " + string(r.Cause.Type)
		}
		if r.Ended != nil {
			r.Seconds = ptr.To(r.Ended.Sub(r.Began.Time).Seconds())
		}
	}
	return history
}

// explainPause says until when the workers wait although all of them may be back (P71).
func (r *Report) explainPause(js *jobset.JobSet, now time.Time) {
	if until := pauseOf(js); now.Before(until) {
		r.Notes.Add("%d epochs in a row failed within a minute: the barrier stays until %s", js.Status.QuickFailures, stamp(until))
	}
}

// pauseOf returns until when the workers wait, to the second, as the controller reported it; zero if there is no pause.
func pauseOf(js *jobset.JobSet) time.Time {
	history := js.Status.RestartHistory
	if policy.IfTrue(js, jobset.JobSetRestarting) == nil || len(history) == 0 || history[0].NotBefore == nil {
		return time.Time{}
	}
	return history[0].NotBefore.Time
}

func (r *Report) addRestarts(in Input) {
	r.LastRestarts = History(in.JobSet)
	if len(r.LastRestarts) == 0 {
		if r.Budget.Used+r.Budget.NotCounted > 0 {
			r.Notes.Add("status.restartHistory is empty: an earlier version of the manager decided these restarts, and did not record them")
		}
		return
	}
	last := &r.LastRestarts[0]
	last.InProgress = r.State.Name == Assembling && last.Kind == jobset.RestartedInPlace && last.Ended == nil && last.Epoch == r.Epochs.Synced
	r.explainStarts()
	if in.Limit > 0 && len(r.LastRestarts) > in.Limit {
		r.LastRestarts = r.LastRestarts[:in.Limit]
	}
}

// EventTime is when an event happened: old and new kinds of events say it in different fields.
func EventTime(e *corev1.Event) metav1.Time {
	switch {
	case !e.EventTime.IsZero():
		return metav1.NewTime(e.EventTime.Time)
	case !e.FirstTimestamp.IsZero():
		return e.FirstTimestamp
	default:
		return e.CreationTimestamp
	}
}
