/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// NeedsLeases reports whether agents of these Pods report in Leases: those of large groups do (P150).
func NeedsLeases(pods []corev1.Pod) bool {
	return slices.ContainsFunc(pods, func(pod corev1.Pod) bool { return workerpod.ReportsInLease(&pod.Spec) })
}

// Member returns the facts of a Pod with what its Lease reports, as the controller has them (P157).
func (in *Input) Member(pod *corev1.Pod) *facts.Member {
	m := facts.Of(pod)
	return facts.Join(m, in.Leases.Of(m), ptr.Deref(in.JobSet.Status.SyncedEpoch, 0))
}

// read is what a decision would see, and the Pods by UID, which show more than facts do.
type read struct {
	policy.Input
	pods     map[types.UID]*corev1.Pod
	failures map[types.UID]string
	epochs   Epochs
}

// inputOf sorts what was read as the controller has it: Jobs that the JobSet controls, and the Pods that each of these Jobs controls.
func inputOf(in Input) read {
	js := in.JobSet
	out := read{
		Input:    policy.Input{JobSet: js, Gates: gatesOf(js), Now: in.Now, Pods: map[types.UID][]*facts.Member{}},
		pods:     make(map[types.UID]*corev1.Pod, len(in.Pods)),
		failures: failuresOf(in.JobEvents),
		epochs:   Epochs{Synced: ptr.Deref(js.Status.SyncedEpoch, 0), Deprecated: ptr.Deref(js.Status.DeprecatedEpoch, 0)},
	}
	for i := range in.Jobs {
		if metav1.IsControlledBy(&in.Jobs[i], js) {
			out.Jobs = append(out.Jobs, &in.Jobs[i])
		}
	}
	for i := range in.Pods {
		owner := metav1.GetControllerOfNoCopy(&in.Pods[i])
		if owner != nil && owner.Kind == "Job" && owner.APIVersion == batchv1.SchemeGroupVersion.String() {
			out.pods[in.Pods[i].UID] = &in.Pods[i]
			out.Pods[owner.UID] = append(out.Pods[owner.UID], in.Member(&in.Pods[i]))
		}
	}
	return out
}

// podOf returns the Pod of a slot, nil if none stands in it.
func (r *read) podOf(slot *policy.WorkerSlot) *corev1.Pod {
	if slot.Pod == nil {
		return nil
	}
	return r.pods[slot.Pod.UID]
}
