/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package facts is all that decisions read of a Pod, a Lease or a Node: small values, parsed once when an event brings the object.
//
//	cache      keeps Of(pod) in place of the Pod
//	events     wake a JobSet if the Standing of a Pod differs
//	gather     joins each Pod with the report in its Lease: Join
//	decisions  read Members, never a Pod
//
// To let a decision read another field of a Pod, add it to Member and Of. In Standing it wakes the JobSet when it changes; elsewhere
// in Member only readiness does, while something is reported of it.
package facts

import (
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Member is what is read of a Pod of a JobSet. A cache keeps it in place of the Pod, so it is shared and must not be changed. Of its
// metadata it has what it is found and deleted by, of its owners its controller; annotations and finalizers are read into the other fields.
type Member struct {
	metav1.ObjectMeta
	// Index is its completion index, -1 if it has none.
	Index int32
	// Node is empty until the Pod is scheduled. Unscheduled is what the scheduler says of one without a node, cut to what is shown.
	Node, Unscheduled string
	// Gated: a scheduling gate keeps the scheduler from it.
	Gated bool

	Standing

	// ByForce: it was deleted with grace period 0.
	ByForce bool
	// Reason is that of its phase, such as Evicted; Disruption why it is taken away, such as PreemptionByScheduler.
	Reason, Disruption string
	// Restarting: the kubelet restarts all its containers.
	Restarting bool
	// End is what ended it, or restarts it.
	End End
	// Keeper is a regular container that runs on beside one that ended with 0, and so keeps the Pod from succeeding (P45d).
	Keeper string
	// Killed is the last end of a container that the kubelet started, or starts, again with its supervisor (P66); empty if none did.
	Killed End
	// LeftBy is the container of a Failed Pod whose supervisor asked for another Pod (P70).
	LeftBy string
	// Failures is how often its index failed before it, and Finished when it ended if it is Failed, both as the Job controller counts (P170).
	Failures int64
	Finished time.Time
	// Exit, Progress and Address are what its agent reports beside the epoch, see Report.
	Exit     *protocol.WorkerExit
	Progress *protocol.ProgressReport
	Address  string
	// Leased is the epoch that counts in its Lease, 0 if none does, and FromLease says that Reported is from there: see Join.
	Leased    int32
	FromLease bool
	// Preparation is what keeps its agent from reporting that another Pod in its place would not have sooner (P48a).
	Preparation Preparation
	// Readiness is that of its worker, and UnreadySince since when it is not Ready. Blocker is what keeps one that is Blocked.
	Readiness    Readiness
	UnreadySince time.Time
	Blocker      Blocker

	Place
}

// Standing is the part of the facts whose change decides something, so that it wakes the JobSet.
type Standing struct {
	Phase corev1.PodPhase
	// Deadline is when the grace period of a Pod ends that is being deleted, zero if it is not.
	Deadline time.Time
	Reported Reported
	// Tracked: the Job controller has not counted its end yet.
	Tracked bool
	// EndedWell: it succeeded, or is about to (P45).
	EndedWell bool
	// NoSandboxSince is since when it has no sandbox and gets none, zero if that is not so (P74).
	NoSandboxSince time.Time
}

// GetObjectKind makes events about a Member events about its Pod.
func (m *Member) GetObjectKind() schema.ObjectKind {
	return &metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Pod"}
}

// DeepCopyObject copies what may be set; the rest is shared and never changes.
func (m *Member) DeepCopyObject() runtime.Object {
	other := *m
	return &other
}

// Of returns the facts of a Pod.
func Of(pod *corev1.Pod) *Member {
	report := reportIn(pod.Annotations)
	m := &Member{
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
			OwnerReferences: controllerOf(pod), Labels: Pick(pod.Labels, jobset.JobSetNameKey, jobset.JobSetUIDKey),
		},
		Index: indexOf(pod), Node: pod.Spec.NodeName,
		Standing: standingOf(pod, report.Reported),
		ByForce:  pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0,
		Reason:   pod.Status.Reason, Disruption: disruption(pod),
		Gated: len(pod.Spec.SchedulingGates) > 0,
		Exit:  report.Exit, Progress: report.Progress, Address: report.Address,
		Restarting:  isTrue(pod, corev1.AllContainersRestarting),
		Failures:    failuresBefore(pod),
		Preparation: preparationOf(pod),
		Place:       placeOf(pod),
	}
	if m.Node == "" {
		m.Unscheduled = whyUnscheduled(pod)
	}
	if m.Phase == corev1.PodFailed || m.Restarting {
		m.End = firstEnd(pod)
	}
	if !m.Ended() && !m.EndedWell {
		m.Keeper, m.Killed = keeper(pod), lastKilled(pod)
	}
	if m.Phase == corev1.PodFailed {
		m.LeftBy, m.Finished = leftBy(pod), finished(pod)
	}
	if m.Readiness, m.UnreadySince = readinessOf(pod); m.Readiness == Blocked {
		m.Blocker = blockerOf(pod)
	}
	return m
}

// controllerOf returns the owner that controls a Pod, in a list for its metadata. There may be thousands of others.
func controllerOf(pod *corev1.Pod) []metav1.OwnerReference {
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return []metav1.OwnerReference{*owner}
	}
	return nil
}

// Created is when the Pod was created.
func (m *Member) Created() time.Time { return m.CreationTimestamp.Time }

func standingOf(pod *corev1.Pod, reported Reported) Standing {
	s := Standing{
		Phase: pod.Status.Phase, Reported: reported,
		Tracked:   slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer),
		EndedWell: endedWell(pod),
	}
	if pod.DeletionTimestamp != nil {
		s.Deadline = moment(pod.DeletionTimestamp)
	}
	if !s.EndedWell && s.Phase != corev1.PodFailed {
		s.NoSandboxSince = noSandboxSince(pod)
	}
	return s
}

// Terminating reports whether the Pod is being deleted.
func (s *Standing) Terminating() bool { return !s.Deadline.IsZero() }

// Ended reports whether the Pod has failed or succeeded.
func (s *Standing) Ended() bool { return s.Phase == corev1.PodFailed || s.Phase == corev1.PodSucceeded }

// indexOf returns the completion index of a Pod, -1 if it has none.
func indexOf(pod *corev1.Pod) int32 {
	index, err := strconv.ParseInt(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
	if err != nil || index < 0 {
		return -1
	}
	return int32(index)
}

// moment is a time in a form that can be compared by ==.
func moment(t *metav1.Time) time.Time { return t.Round(0).UTC() }

// ConditionOf returns a condition of a Pod, nil if it has none of the kind.
func ConditionOf(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == kind {
			return c
		}
	}
	return nil
}

func isTrue(pod *corev1.Pod, kind corev1.PodConditionType) bool {
	c := ConditionOf(pod, kind)
	return c != nil && c.Status == corev1.ConditionTrue
}

// Pick returns the entries of a map with these keys.
func Pick(all map[string]string, keys ...string) map[string]string {
	picked := make(map[string]string, len(keys))
	for _, key := range keys {
		if value, ok := all[key]; ok {
			picked[key] = value
		}
	}
	return picked
}
