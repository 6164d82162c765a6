/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Group is what is seen of a copy at one moment.
type Group struct {
	// JobSet is nil if it is gone, or was not seen yet.
	JobSet *jobset.JobSet
	Pods   []*corev1.Pod
}

// Wanted is how many workers the spec asks for.
func (g Group) Wanted() int {
	wanted := 0
	for i := range g.JobSet.Spec.ReplicatedJobs {
		rjob := &g.JobSet.Spec.ReplicatedJobs[i]
		each := ptr.Deref(rjob.Template.Spec.Parallelism, 1)
		wanted += int(rjob.Replicas) * int(min(each, ptr.Deref(rjob.Template.Spec.Completions, each)))
	}
	return wanted
}

// Running returns the Pods that have not ended and are not told to, in the order of their places.
func (g Group) Running() []*corev1.Pod {
	pods := slices.DeleteFunc(slices.Clone(g.Pods), func(pod *corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	})
	slices.SortFunc(pods, ByPlace)
	return pods
}

// ByPlace orders Pods by their Jobs and indexes.
func ByPlace(a, b *corev1.Pod) int {
	return cmp.Or(
		cmp.Compare(number(a.Labels[jobset.JobGlobalIndexKey]), number(b.Labels[jobset.JobGlobalIndexKey])),
		cmp.Compare(number(a.Annotations[batchv1.JobCompletionIndexAnnotation]), number(b.Annotations[batchv1.JobCompletionIndexAnnotation])))
}

func number(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}

// Nodes is how many nodes run workers.
func (g Group) Nodes() int {
	nodes := map[string]bool{}
	for _, pod := range g.Running() {
		nodes[pod.Spec.NodeName] = true
	}
	return len(nodes)
}

// Epoch is that of the workers that run, or ran last.
func (g Group) Epoch() int32 { return ptr.Deref(g.JobSet.Status.SyncedEpoch, 0) }

// Over returns why no worker runs again, nil if they may.
func (g Group) Over() error {
	if g.JobSet == nil {
		return nil
	}
	for _, c := range g.JobSet.Status.Conditions {
		if c.Status == "True" && (c.Type == string(jobset.JobSetCompleted) || c.Type == string(jobset.JobSetFailed)) {
			return fmt.Errorf("the JobSet is %s: %s", c.Type, c.Message)
		}
	}
	return nil
}

// Broken reports whether a group has been told to restart since it was seen like this.
func (g Group) Broken(s Strategy, before Group) bool {
	if g.JobSet == nil {
		return false
	}
	if g.JobSet.Status.Restarts > before.JobSet.Status.Restarts {
		return true
	}
	return s.inPlace() && ptr.Deref(g.JobSet.Status.DeprecatedEpoch, 0) >= before.Epoch()
}

// Waits says what keeps the workers from running again as the API shows it, since they ran like this; empty if nothing does. Before
// the first start there is no before. That workers in process mode have started the API does not show: their logs do.
func (g Group) Waits(s Strategy, before *Group) string {
	switch {
	case g.JobSet == nil:
		return "the JobSet was not seen"
	case s.inPlace() && (g.Epoch() == 0 || ptr.Deref(g.JobSet.Status.DeprecatedEpoch, 0) >= g.Epoch()):
		return "the workers are held until all are back"
	case before != nil && !g.Broken(s, *before):
		return "the group was not told to restart"
	}
	old := map[types.UID]*corev1.Pod{}
	if before != nil {
		for _, pod := range before.Pods {
			old[pod.UID] = pod
		}
	}
	back := 0
	for _, pod := range g.Pods {
		if g.isBack(s, pod, old[pod.UID]) {
			back++
		}
	}
	if wanted := g.Wanted(); back < wanted {
		return fmt.Sprintf("%d of %d workers are not running and ready", wanted-back, wanted)
	}
	return ""
}

// isBack reports whether a Pod, which was there before or was not, has its worker again.
func (g Group) isBack(s Strategy, pod, before *corev1.Pod) bool {
	switch {
	case pod.Status.Phase == corev1.PodSucceeded: // as one that others depend on
		return before == nil || s.inPlace()
	case pod.DeletionTimestamp != nil || !isReady(pod):
		return false
	case !s.inPlace():
		return before == nil
	case pod.Annotations[jobset.EpochKey] != strconv.Itoa(int(g.Epoch())):
		return false
	case s.Mode == jobset.ContainerMode && before != nil:
		return allNew(pod, before)
	}
	return true
}

func isReady(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// allNew reports whether all containers are others. The status of a Pod may be older than the report of its agent.
func allNew(pod, before *corev1.Pod) bool {
	was := map[string]bool{}
	for i := range before.Status.ContainerStatuses {
		was[before.Status.ContainerStatuses[i].ContainerID] = true
	}
	return !slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return was[s.ContainerID] })
}
