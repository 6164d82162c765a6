/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/worker/order"
)

// faultTolerance: what JobSets with spec.faultTolerance do when they do not run as they should.
func faultTolerance() {
	It("P82 P83 P86: are all replaced after a pause when a Job fails, and hold their quota until they are suspended and gone", Contract, func(ctx SpecContext) {
		const pause = 3
		group := Create(ctx, Shape{Strategy: jobset.Recreate, Change: tolerating(jobset.FaultTolerance{RetryPauseSeconds: ptr.To[int32](pause)})})
		group.startsOver()
		gone := group.jobsGone()
		for _, pod := range group.live() {
			Expect(pod.CreationTimestamp.Sub(gone)).To(BeNumerically(">=", pause*time.Second), "from when all Jobs were gone to Pod %s", pod.Name)
		}
		Expect(group.deployedThrough()).To(Equal([]metav1.ConditionStatus{metav1.ConditionTrue}), "ResourcesDeployed, from the first Job on")
		group.Suspend(true)
		group.ReleasesQuota()
	}, SpecTimeout(specTime))

	It("P82 P84: are suspended in the pause after a reset, and start at once when they are resumed, charged once", func(ctx SpecContext) {
		group := Create(ctx, Shape{FailJobOn: []int32{codeY}, Change: tolerating(jobset.FaultTolerance{RetryPauseSeconds: ptr.To[int32](3600)})})
		before := group.RunsAt(1)
		group.Tell(order.Exit(codeY), before.Worker(0))
		group.jobsGone()
		group.Suspend(true)
		group.eventually(group.jobs).Should(HaveLen(1))
		group.ReleasesQuota()
		group.Suspend(false)
		group.RunsAt(2).IsAllNew(before)
		status := group.record.status()
		Expect([]int32{status.Restarts, status.RestartsCountTowardsMax, status.InPlaceRestarts}).To(Equal([]int32{1, 1, 0}), "restarts")
	}, SpecTimeout(specTime))

	It("P80: are left alone if one that fails is replaced in time", func(ctx SpecContext) {
		group := Create(ctx, Shape{Strategy: jobset.Recreate, Change: func(js *jobset.JobSet) {
			tolerating(jobset.FaultTolerance{})(js)
			js.Spec.ReplicatedJobs[0].Template.Spec.BackoffLimit = ptr.To[int32](3)
		}})
		before := group.RunsAttempt(0)
		group.Tell(order.Exit(1), before.Worker(0))
		group.Has(jobset.JobSetUnhealthy, metav1.ConditionTrue, constants.PodsFailedReason)
		group.Has(jobset.JobSetUnhealthy, metav1.ConditionFalse, constants.PodsHealthyReason)
		after := group.RunsAttempt(0)
		Expect(after.Pods[0].UID).NotTo(Equal(before.Pods[0].UID), "UID of the worker Pod that failed")
		Expect(after.Pods[1].UID).To(Equal(before.Pods[1].UID), "UID of the other")
		group.Told(corev1.EventTypeWarning, constants.PodsFailedReason, "1 of 2 Pods are Failed and not replaced; waiting 1m0s for them")
	}, SpecTimeout(specTime))

	It("P80 P84 P87: that no node takes fail when their resets are used up, and are kept for a while", func(ctx SpecContext) {
		group := Create(ctx, Shape{Strategy: jobset.Recreate, Change: func(js *jobset.JobSet) {
			js.Spec.FailurePolicy = nil
			js.Spec.FaultTolerance = &jobset.FaultTolerance{
				AdmissionGracePeriodSeconds: ptr.To[int32](5), WarmupGracePeriodSeconds: ptr.To[int32](1), FailureGracePeriodSeconds: ptr.To[int32](1),
				RetryLimit: ptr.To[int32](0), DeletionOnFailureGracePeriodSeconds: ptr.To[int32](5),
			}
			podOf(js).NodeSelector = map[string]string{"example.com/pool": "none"}
		}})
		group.Has(jobset.JobSetFailed, metav1.ConditionTrue, constants.ReachedMaxRestartsReason)
		group.Told(corev1.EventTypeWarning, constants.PodsNotRunningReason, "0 of 2 Pods are Running 6s after the start of their Jobs; waiting 1s for them")
		group.Told(corev1.EventTypeNormal, constants.PodsKeptReason, "1 Jobs that run are kept for 5s")
		failed := group.conditionOf(jobset.JobSetFailed).LastTransitionTime
		group.ReleasesQuota()
		Expect(group.firstDeletion().Sub(failed.Time)).To(BeNumerically(">=", 5*time.Second), "from the failure to the first Pod that is deleted")
	}, SpecTimeout(specTime))

	It("P81: fail at once when somebody deletes their Job", func(ctx SpecContext) {
		group := Create(ctx, Shape{Strategy: jobset.Recreate, Jobs: 2, Workers: 1, Change: tolerating(jobset.FaultTolerance{})})
		group.RunsAttempt(0)
		group.eventually(func() *jobset.FaultToleranceStatus { return group.record.status().FaultTolerance }).
			Should(HaveField("CompleteAttempt", HaveValue(BeZero())))
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: group.namespace, Name: jobSetName + "-" + replicated + "-0"}}
		Expect(api.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
		group.Fails(constants.ChildJobDeletedReason)
		group.ReleasesQuota()
	}, SpecTimeout(specTime))

	It("P86 P88: that are done lose their Jobs some time later, and the JobSet stays", func(ctx SpecContext) {
		group := Create(ctx, Shape{Strategy: jobset.Recreate, Workers: 1, Change: tolerating(jobset.FaultTolerance{SuccessTTLSeconds: ptr.To[int32](2)})})
		group.Tell(order.Done, group.RunsAttempt(0).Worker(0))
		group.Has(jobset.JobSetCompleted, metav1.ConditionTrue, constants.AllJobsCompletedReason)
		group.ReleasesQuota()
		group.eventually(group.jobs).Should(BeEmpty())
		js, err := group.jobSet()
		Expect(err).NotTo(HaveOccurred())
		Expect(js.DeletionTimestamp).To(BeNil())
		group.Told(corev1.EventTypeNormal, constants.SuccessTTLExpiredReason, "it stays")
	}, SpecTimeout(specTime))
}

// tolerating gives a JobSet faultTolerance.
func tolerating(f jobset.FaultTolerance) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) { js.Spec.FaultTolerance = &f }
}

// ReleasesQuota waits until nothing is deployed any more, and expects that no Pod runs.
func (g *Group) ReleasesQuota() {
	GinkgoHelper()
	g.Has(jobset.JobSetResourcesDeployed, metav1.ConditionFalse, constants.ResourcesReleasedReason)
	var pods corev1.PodList
	Expect(api.List(g.ctx, &pods, client.InNamespace(g.namespace))).To(Succeed())
	for i := range pods.Items {
		Expect(pods.Items[i].Status.Phase).To(BeElementOf(corev1.PodSucceeded, corev1.PodFailed), "phase of Pod %s", pods.Items[i].Name)
	}
}

// jobsGone waits until a reset has deleted all Jobs, and returns when the last was gone.
func (g *Group) jobsGone() (at time.Time) {
	GinkgoHelper()
	g.eventually(func() time.Time {
		g.record.first(func(v view) bool {
			if v.JobSet == nil || v.JobSet.Status.FaultTolerance == nil {
				return false
			}
			reset := v.JobSet.Status.FaultTolerance.Reset
			if reset == nil || reset.JobsGoneTime == nil {
				return false
			}
			at = reset.JobsGoneTime.Time
			return true
		})
		return at
	}).ShouldNot(BeZero(), "jobsGoneTime")
	return at
}

// deployedThrough are the states of ResourcesDeployed so far, in their order.
func (g *Group) deployedThrough() (states []metav1.ConditionStatus) {
	g.record.first(func(v view) bool {
		if v.JobSet == nil {
			return false
		}
		c := apimeta.FindStatusCondition(v.JobSet.Status.Conditions, string(jobset.JobSetResourcesDeployed))
		if c != nil && (len(states) == 0 || states[len(states)-1] != c.Status) {
			states = append(states, c.Status)
		}
		return false
	})
	return states
}

func (g *Group) conditionOf(kind jobset.JobSetConditionType) metav1.Condition {
	GinkgoHelper()
	c := apimeta.FindStatusCondition(g.record.status().Conditions, string(kind))
	Expect(c).NotTo(BeNil(), "condition %s", kind)
	return *c
}

// firstDeletion is when the first Pod was seen to be deleted.
func (g *Group) firstDeletion() time.Time {
	return g.record.first(func(v view) bool { return v.Pod != nil && (v.Gone || v.Pod.DeletionTimestamp != nil) })
}
