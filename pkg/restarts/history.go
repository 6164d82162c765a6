/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// Restart is a restart that events, or the condition RestartingJobSet, tell of.
type Restart struct {
	Kind RestartKind `json:"kind"`
	// Epoch is that of the workers that restarted, for restarts in place; 0 if nothing tells.
	Epoch int32 `json:"epoch,omitempty"`
	// Started and Ended are nil if nothing tells.
	Started *metav1.Time `json:"started,omitempty"`
	Ended   *metav1.Time `json:"ended,omitempty"`
	// Seconds from break to lift; nil if it has not ended, or if nothing tells.
	Seconds *float64 `json:"seconds,omitempty"`
	// Planned: nothing failed. The group is to be another one, or was moved off a node.
	Planned bool `json:"planned,omitempty"`
	// NotBefore is until when the workers of a group that failed several times in a row wait; nil if they do not.
	NotBefore *metav1.Time `json:"notBefore,omitempty"`
	// InProgress: the workers are held until all are back.
	InProgress bool `json:"inProgress,omitempty"`
	// Workers that restarted in place; 0 if nothing tells.
	Workers int64 `json:"workers,omitempty"`
	// Cause is empty if nothing tells.
	Cause string `json:"cause,omitempty"`
	// Suspect is which worker stood out among those of a group that hung, and why, or that none did; else empty.
	Suspect string `json:"suspect,omitempty"`
	// Starts is how the workers started again, with warm start; nil if nothing tells, as before the next restart.
	Starts *Starts `json:"starts,omitempty"`
}

// RestartKind is what was restarted.
type RestartKind string

const (
	// InPlace: the containers of all workers, in their Pods.
	InPlace RestartKind = "InPlace"
	// AllJobs: all Jobs were recreated.
	AllJobs RestartKind = "AllJobs"
	// OneJob: one Job was recreated.
	OneJob RestartKind = "OneJob"
)

// explainPause says until when the workers wait although all of them may be back (P71).
func (r *Report) explainPause(js *jobset.JobSet, now time.Time) {
	if until, failures := pauseOf(js); now.Before(until) {
		r.note("%s epochs in a row failed within a minute: the barrier stays until %s", failures, stamp(until))
	}
}

// pauseOf returns until when the workers wait, to the second, and after how many failures, as the controller reported it. The
// time is zero if there is no pause.
func pauseOf(js *jobset.JobSet) (until time.Time, failures string) {
	restarting := condition(js, jobset.JobSetRestarting)
	if !isTrue(restarting) {
		return time.Time{}, ""
	}
	parts := startedMessage.FindStringSubmatch(restarting.Message)
	if len(parts) == 0 {
		return time.Time{}, ""
	}
	until, _ = time.Parse(time.RFC3339, parts[3])
	return until, parts[4]
}

func (r *Report) addRestarts(in Input) {
	if in.EventsUnread != nil {
		r.note("events could not be read, so restarts are missing here: %v", in.EventsUnread)
	}
	h := history{}
	h.readEvents(in.Events)
	h.readCondition(condition(in.JobSet, jobset.JobSetRestarting))
	for i := range h {
		if last := &h[i]; r.State.Name == Assembling && last.Kind == InPlace && last.Ended == nil && last.Epoch == r.Epochs.Synced {
			last.InProgress = true
		}
	}
	var inPlace, all int64
	for i := range h {
		switch {
		case h[i].Kind != InPlace:
			all++
		case !h[i].Planned: // others are not counted
			inPlace++
		}
	}
	if in.EventsUnread == nil {
		r.explainMissing(inPlace, r.Budget.InPlace, "group restarts")
		r.explainMissing(all, r.Budget.AllJobs+r.Budget.NotCounted+r.Budget.OneJob, "restarts of Jobs")
	}
	r.explainStarts(h.readStarts(in.Events))
	slices.Reverse(h)
	if in.Limit > 0 && len(h) > in.Limit {
		h = h[:in.Limit]
	}
	r.LastRestarts = append([]Restart{}, h...)
}

func (r *Report) explainMissing(listed, happened int64, what string) {
	const kept = "an API server keeps events for an hour, unless its --event-ttl says otherwise"
	switch {
	case listed >= happened:
	case listed == 0:
		r.note("%s: %d happened, no events are left; %s", what, happened, kept)
	default:
		r.note("%s: %d happened, events of %d are left; %s", what, happened, listed, kept)
	}
}

// history lists the reported restarts, oldest first.
type history []Restart

func (h *history) readEvents(events []corev1.Event) {
	sorted := slices.Clone(events)
	slices.SortStableFunc(sorted, func(a, b corev1.Event) int {
		x, y := EventTime(&a), EventTime(&b)
		return cmp.Or(x.Compare(y.Time), cmp.Compare(a.Name, b.Name))
	})
	for i := range sorted {
		at, message := EventTime(&sorted[i]), sorted[i].Message
		switch sorted[i].Reason {
		case constants.InPlaceRestartStartedReason, constants.InPlaceRestartPlannedReason:
			h.started(at, message)
		case constants.InPlaceRestartCompletedReason:
			h.completed(at, message)
		case constants.ActionReason(jobset.RestartJobSet), constants.ActionReason(jobset.RestartJobSetAndIgnoreMaxRestarts), constants.MovedOffNodesReason:
			*h = append(*h, Restart{Kind: AllJobs, Started: &at, Cause: message, Planned: sorted[i].Reason == constants.MovedOffNodesReason})
		case constants.ActionReason(jobset.RestartJob), constants.ActionReason(jobset.RestartJobAndIgnoreMaxRestarts):
			*h = append(*h, Restart{Kind: OneJob, Started: &at, Cause: message})
		case constants.JobsReadyReason:
			h.jobsReady(at)
		}
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

func (h *history) started(at metav1.Time, message string) {
	restart := Restart{Kind: InPlace, Started: &at, Cause: message, Planned: plannedMessage.MatchString(message)}
	if parts := startedMessage.FindStringSubmatch(message); parts != nil {
		restart.Cause, restart.Epoch = parts[1], epochIn(parts[2])
		if until, err := time.Parse(time.RFC3339, parts[3]); err == nil {
			restart.NotBefore = ptr.To(metav1.NewTime(until))
		}
	}
	*h = append(*h, restart)
}

// completed ends the restart of the epoch before; one whose start was not reported starts here.
func (h *history) completed(at metav1.Time, message string) {
	end := Restart{Kind: InPlace, Ended: &at}
	if parts := completedMessage.FindStringSubmatch(message); parts != nil {
		end.Seconds = seconds(parts[3])
		end.Workers, _ = strconv.ParseInt(parts[1], 10, 64)
		end.Epoch, end.Suspect = epochIn(parts[2])-1, parts[4]
	}
	if open := h.open(InPlace, end.Epoch); open != nil {
		open.Ended, open.Seconds, open.Workers, open.Epoch, open.Suspect = end.Ended, end.Seconds, end.Workers, end.Epoch, end.Suspect
		return
	}
	*h = append(*h, end)
}

// open finds the last restart of a kind that has not ended, of an epoch as far as that is known.
func (h *history) open(kind RestartKind, epoch int32) *Restart {
	for i := len(*h) - 1; i >= 0; i-- {
		r := &(*h)[i]
		if r.Kind != kind {
			continue
		}
		if r.Ended == nil && (r.Epoch == epoch || r.Epoch == 0 || epoch == 0) {
			return r
		}
		return nil
	}
	return nil
}

func (h *history) jobsReady(at metav1.Time) {
	if open := h.open(AllJobs, 0); open != nil {
		seconds := at.Sub(open.Started.Time).Seconds()
		open.Ended, open.Seconds = &at, &seconds
	}
}

// readCondition adds the last restart if no event tells of it any more.
func (h *history) readCondition(c *metav1.Condition) {
	if c == nil {
		return
	}
	at := c.LastTransitionTime
	switch {
	case isTrue(c) && c.Reason == constants.InPlaceRestartReason:
		var restart history
		restart.started(at, c.Message)
		if !h.tells(InPlace, restart[0].Epoch) {
			*h = append(*h, restart...)
		}
	case isTrue(c):
		if h.open(AllJobs, 0) == nil {
			*h = append(*h, Restart{Kind: AllJobs, Started: &at, Cause: c.Message, Planned: c.Reason == constants.MovedOffNodesReason})
		}
	case c.Reason == constants.WorkersSyncedReason:
		h.synced(at, c.Message)
	}
}

// synced ends a restart whose event of that did not come, or adds one of which nothing else is left.
func (h *history) synced(at metav1.Time, message string) {
	parts := syncedMessage.FindStringSubmatch(message)
	if parts == nil {
		return
	}
	workers, _ := strconv.ParseInt(parts[1], 10, 64)
	epoch := epochIn(parts[2]) - 1
	if open := h.open(InPlace, epoch); open != nil {
		seconds := max(0, at.Sub(open.Started.Time).Seconds())
		open.Ended, open.Seconds, open.Workers, open.Epoch = &at, &seconds, workers, epoch
	} else if !h.tells(InPlace, epoch) {
		*h = append(*h, Restart{Kind: InPlace, Epoch: epoch, Ended: &at, Workers: workers})
	}
}

func (h *history) tells(kind RestartKind, epoch int32) bool {
	return slices.ContainsFunc(*h, func(r Restart) bool { return r.Kind == kind && r.Epoch == epoch })
}

// epochIn reads a number that the controller wrote; 0 if it is none.
func epochIn(text string) int32 {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}
