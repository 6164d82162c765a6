/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sizes

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
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
	// Suspended: its size does not matter until it is resumed.
	Suspended State = "Suspended"
	// Queued: a queue of Kueue manages it, so the manager leaves its size alone.
	Queued State = "Queued"
	// Waits: the manager finds no size with which it could run, or run on.
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

// sizeOf returns the size that a ReplicatedJob runs with and the one that it is to have, as the manager wrote
// them. One without the gate ElasticJobSet writes none. Then the size that is wanted is that of the spec; a group
// that restarts in place gets it with its next epoch, others as soon as their Job has it.
func sizeOf(js *jobset.JobSet, rjob *jobset.ReplicatedJob) (current, desired int32) {
	desired = ptr.Deref(rjob.Template.Spec.Completions, rjob.Elastic.MinInstances)
	for i := range js.Status.ReplicatedJobsStatus {
		switch status := &js.Status.ReplicatedJobsStatus[i]; {
		case status.Name != rjob.Name:
		case status.Elastic != nil:
			return status.Elastic.Current, status.Elastic.Desired
		case status.SyncedWorkers > 0:
			current = status.SyncedWorkers
		case !workerpod.WantsInPlace(js) && status.Active+status.Succeeded > 0:
			current = desired
		}
	}
	return current, desired
}

// stateOf says what becomes of a size, and what the manager said about it. Conditions say what lasts; events
// say why a size was changed, as long as the API server keeps them.
func stateOf(js *jobset.JobSet, rjob string, current, desired int32, last *news) (State, *news) {
	_, queued := js.Labels[constants.QueueNameKey]
	switch {
	case ptr.Deref(js.Spec.Suspend, false):
		return Suspended, nil
	case queued:
		return Queued, nil
	}
	if waits := inCondition(js, jobset.JobSetElasticWaiting, rjob); waits != nil {
		return Waits, waits
	}
	if last != nil && !last.holds(current, desired) {
		last = nil
	}
	switch {
	case current != desired && last == nil:
		return Resizing, inCondition(js, jobset.JobSetElasticResizing, rjob)
	case current != desired:
		return Resizing, last
	case last == nil:
		return Keeps, nil
	case last.reason == constants.ElasticCoolingDownReason:
		return CoolsDown, last
	case strings.Contains(last.message, ": gave "):
		return Gave, last
	}
	return Keeps, last
}

// news is what the manager said about the size of a job.
type news struct {
	reason, message string
	at              metav1.Time
}

// holds reports whether an event still speaks of the size that a job has or is to have. Others may have changed it since.
func (n *news) holds(current, desired int32) bool {
	switch n.reason {
	case constants.ElasticResizedReason:
		return strings.Contains(n.message, fmt.Sprintf(" to %d Pods: ", desired))
	case constants.ElasticCoolingDownReason:
		return strings.HasPrefix(n.message, fmt.Sprintf("from %d to ", desired))
	}
	return current == 0 // it starts although its minimum does not fit
}

// inCondition returns what a condition that is True says about a ReplicatedJob, nil if nothing.
func inCondition(js *jobset.JobSet, conditionType jobset.JobSetConditionType, rjob string) *news {
	condition := apimeta.FindStatusCondition(js.Status.Conditions, string(conditionType))
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return nil
	}
	for _, part := range strings.Split(condition.Message, subject)[1:] {
		if name, message := cutName(part); name == rjob {
			return &news{reason: condition.Reason, message: strings.TrimRight(message, ",; "), at: condition.LastTransitionTime}
		}
	}
	return nil
}

// subject is what the manager writes before the name of a ReplicatedJob.
const subject = "ReplicatedJob "

// cutName takes "trainer: it waits" and "trainer from 2 to 3 Pods" apart.
func cutName(text string) (name, message string) {
	name, message, _ = strings.Cut(text, " ")
	return strings.TrimSuffix(name, ":"), message
}

// lastEvents is the last event about the size of each job.
func lastEvents(events []corev1.Event) map[string]*news {
	last := map[string]*news{}
	for i := range events {
		e := &events[i]
		switch e.Reason {
		case constants.ElasticResizedReason, constants.ElasticWaitingReason, constants.ElasticCoolingDownReason:
		default:
			continue
		}
		text, ok := strings.CutPrefix(e.Message, subject)
		if !ok {
			continue
		}
		name, message := cutName(text)
		key := ownerKey(string(e.InvolvedObject.UID), name)
		if at := eventTime(e); last[key] == nil || last[key].at.Before(&at) {
			last[key] = &news{reason: e.Reason, message: message, at: at}
		}
	}
	return last
}

// eventTime is when an event was last recorded.
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
