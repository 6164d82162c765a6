/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"encoding/json"
	"fmt"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Kubelet is played by hand: it writes what becomes of Pods.
type Kubelet struct{ world *World }

func (k Kubelet) writes(pod *corev1.Pod, change func(*corev1.PodStatus)) *corev1.Pod {
	GinkgoHelper()
	fresh := Now(k.world, pod)
	base := fresh.DeepCopy()
	change(&fresh.Status)
	Expect(k.world.Client.Status().Patch(k.world.Context, fresh, client.MergeFrom(base))).To(Succeed())
	return fresh
}

// Runs a Pod.
func (k Kubelet) Runs(pod *corev1.Pod) *corev1.Pod {
	GinkgoHelper()
	return k.writes(pod, func(s *corev1.PodStatus) {
		s.Phase = corev1.PodRunning
		s.ContainerStatuses = []corev1.ContainerStatus{containerThat(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})}
		s.Conditions = []corev1.PodCondition{{Type: corev1.AllContainersRestarting, Status: corev1.ConditionFalse}}
	})
}

// IsPending: the kubelet has not started a Pod yet.
func (k Kubelet) IsPending(pod *corev1.Pod) *corev1.Pod {
	GinkgoHelper()
	return k.writes(pod, func(s *corev1.PodStatus) { s.Phase, s.ContainerStatuses = corev1.PodPending, nil })
}

// RestartsInPlace restarts all containers of a Pod whose worker exited with a code.
func (k Kubelet) RestartsInPlace(pod *corev1.Pod, exitCode int32) {
	GinkgoHelper()
	k.writes(pod, func(s *corev1.PodStatus) {
		s.ContainerStatuses = []corev1.ContainerStatus{exited(exitCode)}
		s.Conditions = []corev1.PodCondition{{Type: corev1.AllContainersRestarting, Status: corev1.ConditionTrue}}
	})
	k.Runs(pod)
}

// SeesFail: the Pod has failed, as a whole.
func (k Kubelet) SeesFail(pod *corev1.Pod, exitCode int32) {
	GinkgoHelper()
	k.writes(pod, func(s *corev1.PodStatus) {
		s.Phase = corev1.PodFailed
		s.ContainerStatuses = []corev1.ContainerStatus{exited(exitCode)}
	})
}

// SeesSucceed: the worker is done.
func (k Kubelet) SeesSucceed(pods ...*corev1.Pod) {
	GinkgoHelper()
	for _, pod := range pods {
		k.writes(pod, func(s *corev1.PodStatus) {
			s.Phase = corev1.PodSucceeded
			s.ContainerStatuses = []corev1.ContainerStatus{exited(0)}
		})
	}
}

// StartsStopping deletes a Pod, which stays for its grace period.
func (k Kubelet) StartsStopping(pod *corev1.Pod, graceSeconds int64) {
	GinkgoHelper()
	Expect(k.world.Client.Delete(k.world.Context, pod, client.GracePeriodSeconds(graceSeconds))).To(Succeed())
}

// Removes Pods from the API.
func (k Kubelet) Removes(pods ...*corev1.Pod) {
	GinkgoHelper()
	for _, pod := range pods {
		stripFinalizer(k.world, pod, batchv1.JobTrackingFinalizer)
		Expect(client.IgnoreNotFound(k.world.Client.Delete(k.world.Context, pod, client.GracePeriodSeconds(0)))).To(Succeed())
	}
}

func containerThat(state corev1.ContainerState) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: "worker", Image: "worker", State: state}
}

func exited(code int32) corev1.ContainerStatus {
	return containerThat(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.Now()}})
}

// Agents are played by hand: each reports on its Pod, or in its Lease.
type Agents struct{ world *World }

// Report an epoch from these Pods, one after the other.
func (a Agents) Report(epoch int32, pods ...*corev1.Pod) {
	GinkgoHelper()
	a.ReportText(strconv.Itoa(int(epoch)), pods...)
}

// ReportText reports what may be no epoch at all.
func (a Agents) ReportText(epoch string, pods ...*corev1.Pod) {
	GinkgoHelper()
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, jobset.EpochKey, epoch))
	for _, pod := range pods {
		Expect(a.world.Client.Patch(a.world.Context, pod.DeepCopy(), patch)).To(Succeed())
	}
}

// ReportAt reports an epoch and the address of the Pod, in one patch (P122).
func (a Agents) ReportAt(address string, epoch int32, pod *corev1.Pod) {
	GinkgoHelper()
	patch := client.RawPatch(types.MergePatchType,
		fmt.Appendf(nil, `{"metadata":{"annotations":{%q:"%d",%q:%q}}}`, jobset.EpochKey, epoch, jobset.AddressKey, address))
	Expect(a.world.Client.Patch(a.world.Context, pod.DeepCopy(), patch)).To(Succeed())
}

// Tell how a worker of a Pod ended, beside an epoch if it is not 0 (P66).
func (a Agents) Tell(epoch int32, pod *corev1.Pod, exit protocol.WorkerExit) {
	GinkgoHelper()
	value, err := exit.Encode()
	Expect(err).NotTo(HaveOccurred())
	annotations := map[string]string{jobset.WorkerExitKey: value}
	if epoch != 0 {
		annotations[jobset.EpochKey] = strconv.Itoa(int(epoch))
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	Expect(err).NotTo(HaveOccurred())
	Expect(a.world.Client.Patch(a.world.Context, pod.DeepCopy(), client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

// ReportInLease reports an epoch from these Pods, each in its Lease (P151).
func (a Agents) ReportInLease(epoch int32, pods ...*corev1.Pod) {
	GinkgoHelper()
	for _, pod := range pods {
		a.writeLease(LeaseOf(pod, epoch))
	}
}

// TellInLease tells how a worker ended, beside an epoch, in the Lease of a Pod.
func (a Agents) TellInLease(epoch int32, pod *corev1.Pod, exit protocol.WorkerExit) {
	GinkgoHelper()
	value, err := exit.Encode()
	Expect(err).NotTo(HaveOccurred())
	lease := LeaseOf(pod, epoch)
	lease.Annotations[jobset.WorkerExitKey] = value
	a.writeLease(lease)
}

func (a Agents) writeLease(lease *coordinationv1.Lease) {
	GinkgoHelper()
	err := a.world.Client.Create(a.world.Context, lease.DeepCopy())
	if apierrors.IsAlreadyExists(err) {
		err = a.world.Client.Patch(a.world.Context, lease, client.MergeFrom(&coordinationv1.Lease{}))
	}
	Expect(err).NotTo(HaveOccurred())
}

// LeaseOf is the Lease in which the agent of a Pod reports an epoch.
func LeaseOf(pod *corev1.Pod, epoch int32) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: facts.LeaseName(pod.Name), Namespace: pod.Namespace,
		Labels:          map[string]string{jobset.JobSetUIDKey: pod.Labels[jobset.JobSetUIDKey]},
		Annotations:     map[string]string{jobset.EpochKey: strconv.Itoa(int(epoch))},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}},
	}}
}

// RunningGroup creates a JobSet and brings its workers to epoch 1. When it
// returns, the status has caught up with the Jobs.
func (w *World) RunningGroup(js *jobset.JobSet) (*jobset.JobSet, []*corev1.Pod) {
	GinkgoHelper()
	js, pods := w.HeldGroup(js)
	w.Agents.Report(1, pods...)
	w.Reaches(js, 0, 1)
	w.Status(js, func(g Gomega, status jobset.JobSetStatus) {
		for _, rjob := range js.Spec.ReplicatedJobs {
			g.Expect(countsIn(status)).To(ContainElement(jobset.ReplicatedJobStatus{Name: rjob.Name, Active: rjob.Replicas}))
		}
	})
	return js, pods
}

// HeldGroup creates a JobSet whose workers exist, and no agent has reported.
func (w *World) HeldGroup(js *jobset.JobSet) (*jobset.JobSet, []*corev1.Pod) {
	GinkgoHelper()
	js, jobs := w.CreateWithJobs(js)
	w.JobController.Starts(jobs...)
	return js, w.JobController.MakesPods(jobs...)
}

// GroupRestarts fails one worker at epoch S and brings the group back at S+1.
func (w *World) GroupRestarts(js *jobset.JobSet, synced int32, pods []*corev1.Pod) {
	GinkgoHelper()
	w.Agents.Report(synced+1, pods[0])
	w.Reaches(js, synced, synced)
	w.Agents.Report(synced+1, pods[1:]...)
	w.Reaches(js, synced, synced+1)
}
