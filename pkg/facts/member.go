/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package facts is all that decisions read of a Pod or a Node: Of returns it as a small value that can be compared, and Strip
// returns an object that has little else (see there). So the three places that have to agree cannot differ:
//
//	cache      keeps Strip(pod), and Of(Strip(pod)) == Of(pod) holds for every Pod
//	events     wake a JobSet if the Standing of a Pod differs
//	decisions  read facts, never a Pod
//
// To let a decision read another field of a Pod, add it to Member, Of and Strip in this file. TestStrippingKeepsTheFacts
// draws texts, numbers, bools and keptAnnotations by itself, and says if it draws no Pod that has the fact. In Standing it wakes
// the JobSet when it changes; elsewhere in Member only readiness does, while something is reported of it.
package facts

import (
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/placement"
)

// Member is what is read of a Pod of a JobSet.
type Member struct {
	Name    string
	Created time.Time
	// Index is its completion index, -1 if it has none.
	Index int32
	// Node is empty until the Pod is scheduled. Unscheduled is what the scheduler says of one without a node, cut to what is told.
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
	// WorkerExit is what its agent tells of how its worker ended (P66), in the form of the annotation.
	WorkerExit string
	// Progress is what its agent tells of the signs that its worker gave (P137), in the form of the annotation.
	Progress string
	// Address is what its agent reports as its address.
	Address string
	// Preparation is what keeps its agent from reporting that another Pod in its place would not have sooner (P48a).
	Preparation Preparation
	// Readiness is that of its worker, and UnreadySince since when it is not Ready. Blocker is what keeps one that is Blocked.
	Readiness    Readiness
	UnreadySince time.Time
	Blocker      Blocker
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

// Reported is what the agent of a Pod reported.
type Reported struct {
	// Epoch is 0 if it reported none.
	Epoch int32
	// Invalid: its annotation is not a decimal int32 >= 1, but Text. That is no report (P12).
	Invalid bool
	Text    string
}

// Of returns the facts of a Pod.
func Of(pod *corev1.Pod) Member {
	m := Member{
		Name: pod.Name, Created: moment(&pod.CreationTimestamp),
		Index: IndexOf(pod), Node: NodeOf(pod),
		Standing:   StandingOf(pod),
		ByForce:    pod.DeletionGracePeriodSeconds != nil && *pod.DeletionGracePeriodSeconds == 0,
		Reason:     pod.Status.Reason,
		WorkerExit: pod.Annotations[jobset.WorkerExitKey],
		Progress:   ProgressOf(pod),
		Gated:      len(pod.Spec.SchedulingGates) > 0,
		Address:    pod.Annotations[jobset.AddressKey],
		Disruption: disruption(pod),
		Restarting: isTrue(pod, corev1.AllContainersRestarting),
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
	m.Failures = failuresBefore(pod)
	if m.Phase == corev1.PodFailed {
		m.LeftBy, m.Finished = leftBy(pod), finished(pod)
	}
	m.Preparation = PreparationOf(pod)
	if m.Readiness, m.UnreadySince = ReadinessOf(pod); m.Readiness == Blocked {
		m.Blocker = blockerOf(pod)
	}
	return m
}

// StandingOf returns the Standing of a Pod alone. A pass may take a microsecond for a Pod (P22), so it looks at this of each,
// at what NodeOf, IndexOf, PreparationOf and ReadinessOf return of many, and at all facts of few.
func StandingOf(pod *corev1.Pod) Standing {
	s := Standing{
		Phase: pod.Status.Phase, Reported: reported(pod),
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

// keptAnnotations are those that are read of a Pod.
var keptAnnotations = []string{
	jobset.EpochKey, jobset.WorkerExitKey, jobset.ProgressKey, jobset.AddressKey, batchv1.JobCompletionIndexAnnotation,
	batchv1.JobIndexFailureCountAnnotation, batchv1.JobIndexIgnoredFailureCountAnnotation, jobset.ExclusiveKey,
	jobset.NodeSelectorStrategyKey,
}

// Strip returns a Pod with the facts of another, the labels and owners by which it is found, and what exclusive placement and
// elastic groups read; see the packages placement and elastic. It shares what it keeps with the other.
func Strip(pod *corev1.Pod) *corev1.Pod {
	stripped := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
			CreationTimestamp: pod.CreationTimestamp, DeletionTimestamp: pod.DeletionTimestamp,
			DeletionGracePeriodSeconds: pod.DeletionGracePeriodSeconds,
			OwnerReferences:            pod.OwnerReferences,
			Labels:                     Pick(pod.Labels, jobset.JobSetNameKey, jobset.JobSetUIDKey),
			Annotations:                Pick(pod.Annotations, keptAnnotations...),
		},
		Spec:   corev1.PodSpec{NodeName: pod.Spec.NodeName, SchedulingGates: pod.Spec.SchedulingGates},
		Status: corev1.PodStatus{Phase: pod.Status.Phase, Reason: pod.Status.Reason},
	}
	if topology, exclusive := placement.Topology(pod); exclusive {
		if domain, ok := pod.Spec.NodeSelector[topology]; ok {
			stripped.Spec.NodeSelector = map[string]string{topology: domain}
		}
	}
	if slices.Contains(pod.Finalizers, batchv1.JobTrackingFinalizer) {
		stripped.Finalizers = []string{batchv1.JobTrackingFinalizer}
	}
	m := Of(pod)
	showUnscheduled(stripped, &m)
	showDisruption(stripped, pod)
	showEnds(stripped, &m)
	showKilled(stripped, &m)
	showSandbox(stripped, &m)
	showReadiness(stripped, &m)
	showPreparation(stripped, &m)
	return stripped
}

// Terminating reports whether the Pod is being deleted.
func (s *Standing) Terminating() bool { return !s.Deadline.IsZero() }

// Ended reports whether the Pod has failed or succeeded.
func (s *Standing) Ended() bool { return s.Phase == corev1.PodFailed || s.Phase == corev1.PodSucceeded }

// NodeOf returns the node of a Pod alone.
func NodeOf(pod *corev1.Pod) string { return pod.Spec.NodeName }

// ProgressOf returns what the agent of a Pod tells of its worker alone (P137).
func ProgressOf(pod *corev1.Pod) string { return pod.Annotations[jobset.ProgressKey] }

// IndexOf returns the completion index of a Pod, -1 if it has none.
func IndexOf(pod *corev1.Pod) int32 {
	index, err := strconv.ParseInt(pod.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
	if err != nil || index < 0 {
		return -1
	}
	return int32(index)
}

func reported(pod *corev1.Pod) Reported {
	text, ok := pod.Annotations[jobset.EpochKey]
	if !ok {
		return Reported{}
	}
	return reportedIn(text)
}

// reportedIn reads the value of the annotation.
func reportedIn(text string) Reported {
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 || text[0] == '+' || text[0] == '0' {
		return Reported{Invalid: true, Text: text}
	}
	return Reported{Epoch: int32(n)}
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

// show adds a condition to a stripped Pod.
func show(to *corev1.Pod, c corev1.PodCondition) {
	to.Status.Conditions = append(to.Status.Conditions, c)
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
