/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package testing

import (
	"fmt"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// JobWrapper builds a child Job as a cache shows it.
type JobWrapper struct{ job batchv1.Job }

// MakeJob starts a Job of one Pod of a JobSet, of its current attempt, with UID "<name>-uid".
func MakeJob(js *jobset.JobSet, rjob string, index int) *JobWrapper {
	name := fmt.Sprintf("%s-%s-%d", js.Name, rjob, index)
	return &JobWrapper{batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name:      name,
			Namespace: js.Namespace,
			UID:       types.UID(name + "-uid"),
			Labels: map[string]string{
				jobset.JobSetNameKey:        js.Name,
				jobset.ReplicatedJobNameKey: rjob,
				jobset.JobIndexKey:          strconv.Itoa(index),
				constants.RestartsKey:       strconv.Itoa(int(js.Status.Restarts)),
			},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(js, jobset.GroupVersion.WithKind(jobset.Kind))},
		},
		Spec: batchv1.JobSpec{Suspend: ptr.To(false), Parallelism: ptr.To[int32](1), Completions: ptr.To[int32](1)},
	}}
}

// Obj returns a Job that shares nothing with the wrapper.
func (w *JobWrapper) Obj() *batchv1.Job { return w.job.DeepCopy() }

// Change makes a change for which the wrapper has no method.
func (w *JobWrapper) Change(change func(*batchv1.Job)) *JobWrapper {
	change(&w.job)
	return w
}

// UID sets the UID.
func (w *JobWrapper) UID(uid string) *JobWrapper {
	w.job.UID = types.UID(uid)
	return w
}

// Label sets a label.
func (w *JobWrapper) Label(key, value string) *JobWrapper {
	w.job.Labels[key] = value
	return w
}

// Attempt sets the restart attempt that the Job was built for.
func (w *JobWrapper) Attempt(n int) *JobWrapper {
	return w.Label(constants.RestartsKey, strconv.Itoa(n))
}

// JobAttempt sets how often the Job had been restarted on its own when it was built.
func (w *JobWrapper) JobAttempt(n int) *JobWrapper {
	return w.Label(constants.JobRestartAttemptKey, strconv.Itoa(n))
}

// Workers makes the Job one of n Pods that run together.
func (w *JobWrapper) Workers(n int32) *JobWrapper {
	w.job.Spec.Parallelism, w.job.Spec.Completions = ptr.To(n), ptr.To(n)
	return w
}

// Suspend sets spec.suspend.
func (w *JobWrapper) Suspend(suspend bool) *JobWrapper {
	w.job.Spec.Suspend = ptr.To(suspend)
	return w
}

// Counts sets the counts of Pods in the status.
func (w *JobWrapper) Counts(active, ready, succeeded int32) *JobWrapper {
	w.job.Status.Active, w.job.Status.Ready, w.job.Status.Succeeded = active, ptr.To(ready), succeeded
	return w
}

// CompletedIndexes sets status.completedIndexes.
func (w *JobWrapper) CompletedIndexes(indexes string) *JobWrapper {
	w.job.Status.CompletedIndexes = indexes
	return w
}

// Terminating sets a deletion timestamp.
func (w *JobWrapper) Terminating(at time.Time) *JobWrapper {
	w.job.DeletionTimestamp = ptr.To(metav1.NewTime(at))
	w.job.Finalizers = []string{metav1.FinalizerDeleteDependents}
	return w
}

// Condition adds a condition that is True.
func (w *JobWrapper) Condition(conditionType batchv1.JobConditionType) *JobWrapper {
	w.job.Status.Conditions = append(w.job.Status.Conditions, batchv1.JobCondition{Type: conditionType, Status: corev1.ConditionTrue})
	return w
}

// Complete makes the Job complete.
func (w *JobWrapper) Complete() *JobWrapper { return w.Condition(batchv1.JobComplete) }

// Failed makes the Job failed.
func (w *JobWrapper) Failed(at time.Time, reason, message string) *JobWrapper {
	w.job.Status.Conditions = append(w.job.Status.Conditions, batchv1.JobCondition{
		Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(at), Reason: reason, Message: message,
	})
	return w
}

// PodWrapper builds a worker Pod as a cache shows it.
type PodWrapper struct{ pod corev1.Pod }

// MakePod starts a running Pod of a Job, named "<job>-<index>", with UID "<name>-uid".
func MakePod(job *batchv1.Job, index int) *PodWrapper {
	name := fmt.Sprintf("%s-%d", job.Name, index)
	return &PodWrapper{corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name,
			Namespace:       job.Namespace,
			UID:             types.UID(name + "-uid"),
			Labels:          map[string]string{jobset.JobSetNameKey: job.Labels[jobset.JobSetNameKey], batchv1.ControllerUidLabel: string(job.UID), batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index)},
			Annotations:     map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index)},
			Finalizers:      []string{batchv1.JobTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}}
}

// Obj returns a Pod that shares nothing with the wrapper.
func (w *PodWrapper) Obj() *corev1.Pod { return w.pod.DeepCopy() }

// Name sets name and UID.
func (w *PodWrapper) Name(name string) *PodWrapper {
	w.pod.Name, w.pod.UID = name, types.UID(name+"-uid")
	return w
}

// Epoch sets the annotation in which the agent reports.
func (w *PodWrapper) Epoch(value string) *PodWrapper { return w.Annotation(jobset.EpochKey, value) }

// Annotation sets an annotation.
func (w *PodWrapper) Annotation(key, value string) *PodWrapper {
	metav1.SetMetaDataAnnotation(&w.pod.ObjectMeta, key, value)
	return w
}

// Phase sets the phase.
func (w *PodWrapper) Phase(phase corev1.PodPhase) *PodWrapper {
	w.pod.Status.Phase = phase
	return w
}

// Counted removes the finalizer, as the Job controller does once it has counted the Pod.
func (w *PodWrapper) Counted() *PodWrapper {
	w.pod.Finalizers = nil
	return w
}

// Terminating sets the deletion timestamp: the time at which the grace period ends.
func (w *PodWrapper) Terminating(at time.Time) *PodWrapper {
	w.pod.DeletionTimestamp = ptr.To(metav1.NewTime(at))
	return w
}

// Change makes a change for which the wrapper has no method.
func (w *PodWrapper) Change(change func(*corev1.Pod)) *PodWrapper {
	change(&w.pod)
	return w
}
