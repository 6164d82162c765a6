/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sizes

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// State is what becomes of the size of a job.
type State string

// States, in the order in which they are looked for.
const (
	// Suspended: its size is nobody's business until it is resumed.
	Suspended State = "Suspended"
	// Queued: a queue of Kueue manages it, so the manager leaves its size alone.
	Queued State = "Queued"
	// Waits: its minimum does not fit.
	Waits State = "Waits"
	// Resizing: it does not run with the size that it is to have yet.
	Resizing State = "Resizing"
	// CoolsDown: its size is to change, and was changed a short time ago.
	CoolsDown State = "CoolsDown"
	// Gave: its last change of size was for another job.
	Gave State = "Gave"
	// Keeps: its size is as it should be.
	Keeps State = "Keeps"
)

// queueNameKey is the label by which Kueue manages a JobSet.
const queueNameKey = "kueue.x-k8s.io/queue-name"

// sizeOf returns the size that a ReplicatedJob runs with and the one that its spec asks for. A group that
// restarts in place gets a new size with its next epoch, others have it as soon as their Job has.
func sizeOf(js *jobset.JobSet, rjob *jobset.ReplicatedJob) (current, desired int32) {
	desired = ptr.Deref(rjob.Template.Spec.Completions, rjob.Elastic.MinInstances)
	for i := range js.Status.ReplicatedJobsStatus {
		switch status := &js.Status.ReplicatedJobsStatus[i]; {
		case status.Name != rjob.Name:
		case status.SyncedWorkers > 0:
			current = status.SyncedWorkers
		case !workerpod.WantsInPlace(js) && status.Active+status.Succeeded > 0:
			current = desired
		}
	}
	return current, desired
}

// stateOf says what becomes of a size, and what the manager said about it.
func stateOf(js *jobset.JobSet, current, desired int32, told *news) (State, string, *metav1.Time) {
	_, queued := js.Labels[queueNameKey]
	switch {
	case ptr.Deref(js.Spec.Suspend, false):
		return Suspended, "", nil
	case queued:
		return Queued, "", nil
	}
	state := Keeps
	if current != desired {
		state = Resizing
	}
	switch {
	case told == nil:
		return state, "", nil
	case told.reason == constants.ElasticWaitingReason && current > 0:
		return state, "", nil // it runs, so that is over
	case told.reason == constants.ElasticWaitingReason:
		state = Waits
	case state == Keeps && told.reason == constants.ElasticCoolingDownReason:
		state = CoolsDown
	case state == Keeps && strings.Contains(told.message, ": gave "):
		state = Gave
	}
	return state, told.message, told.at.DeepCopy()
}

// news is what the manager said about the size of a job.
type news struct {
	reason, message string
	at              metav1.Time
}

// lastTold is the last event about the size of each job.
func lastTold(events []corev1.Event) map[string]*news {
	last := map[string]*news{}
	for i := range events {
		e := &events[i]
		switch e.Reason {
		case constants.ElasticResizedReason, constants.ElasticWaitingReason, constants.ElasticCoolingDownReason:
		default:
			continue
		}
		name, message, ok := strings.Cut(strings.TrimPrefix(e.Message, "ReplicatedJob "), " ")
		if !ok || !strings.HasPrefix(e.Message, "ReplicatedJob ") {
			continue
		}
		key := ownerKey(string(e.InvolvedObject.UID), strings.TrimSuffix(name, ":"))
		if at := eventTime(e); last[key] == nil || last[key].at.Before(&at) {
			last[key] = &news{reason: e.Reason, message: message, at: at}
		}
	}
	return last
}

// eventTime is when an event was told last.
func eventTime(e *corev1.Event) metav1.Time {
	switch {
	case e.Series != nil:
		return metav1.NewTime(e.Series.LastObservedTime.Time)
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp
	case !e.EventTime.IsZero():
		return metav1.NewTime(e.EventTime.Time)
	}
	return e.CreationTimestamp
}
