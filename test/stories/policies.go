/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/worker/order"
)

// Exit codes of workers that the Pod template treats apart.
const (
	codeY = 11 // fails the Job
	codeZ = 12 // gets a new Pod
)

func failurePolicy() {
	It("fail the JobSet at once on an exit code that fails the Job, by a rule", func(ctx SpecContext) {
		group := Create(ctx, Shape{FailJobOn: []int32{codeY}, Rules: []jobset.FailurePolicyRule{{
			Name: "broken", Action: jobset.FailJobSet, OnJobFailureReasons: []string{batchv1.JobReasonPodFailurePolicy},
		}}})
		before := group.RunsAt(1)
		group.Tell(order.Exit(codeY), before.Worker(0))
		group.Fails(constants.ActionReason(jobset.FailJobSet))
		group.neverBroke()
	}, SpecTimeout(specTime))

	// The agent answers the SIGTERM that follows with 143, which its rule covers;
	// the Pod has failed by then, and nothing restarts in it.
	It("C267: restart in place around a worker that exits with a code that asks for a new Pod", func(ctx SpecContext) {
		group := Create(ctx, Shape{RecreatePodOn: []int32{codeZ}})
		before := group.RunsAt(1)
		group.Tell(order.Exit(codeZ), before.Worker(0))
		failed := before.Pods[0]
		group.eventually(func() corev1.PodPhase { return group.lastSeen(failed).Status.Phase }).Should(Equal(corev1.PodFailed))
		last := group.lastSeen(failed)
		Expect(containerStatus(last, workerName).State.Terminated).To(HaveField("ExitCode", BeEquivalentTo(codeZ)))
		Expect(containerStatus(last, agentName).State.Terminated).To(HaveField("ExitCode", BeEquivalentTo(143)))
		Expect(containerStatus(last, workerName).RestartCount).To(BeZero())
		group.RunsAt(2).Replaces(before, 0)
		group.Charged(1)
	}, SpecTimeout(specTime))

	It("C267: fail their Job and not the group when they are evicted, if podFailurePolicy says so, and the JobSet by a rule", func(ctx SpecContext) {
		group := Create(ctx, Shape{
			Change: func(js *jobset.JobSet) { onDisruption(js, batchv1.PodFailurePolicyActionFailJob) },
			Rules: []jobset.FailurePolicyRule{{
				Name: "disrupted", Action: jobset.FailJobSet, OnJobFailureReasons: []string{batchv1.JobReasonPodFailurePolicy},
			}},
		})
		before := group.RunsAt(1)
		group.evict(before.Pods[0])
		group.Fails(constants.ActionReason(jobset.FailJobSet))
		group.neverBroke()
	}, SpecTimeout(specTime))

	It("C293: fail the JobSet when maxRestarts is used up", Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{MaxRestarts: 2})
		round := group.RunsAt(1)
		for epoch := int32(2); epoch <= 3; epoch++ {
			group.Tell(order.Exit(1), round.Worker(0))
			round = group.RunsAt(epoch)
			group.Charged(epoch - 1)
		}
		group.Tell(order.Exit(1), round.Worker(1))
		group.Fails(constants.ReachedMaxRestartsReason)
		Expect(group.record.status().InPlaceRestarts).To(BeEquivalentTo(2))
	}, SpecTimeout(specTime))

	It("fail the JobSet on the first failure with maxRestarts 0", func(ctx SpecContext) {
		group := Create(ctx, Shape{NoRestarts: true})
		round := group.RunsAt(1)
		group.Tell(order.Exit(1), round.Worker(0))
		group.Fails(constants.ReachedMaxRestartsReason)
		group.neverBroke()
	}, SpecTimeout(specTime))
}

// lastSeen is a Pod as it was seen last, whether it is still there or not.
func (g *Group) lastSeen(pod *corev1.Pod) *corev1.Pod {
	g.record.mu.Lock()
	defer g.record.mu.Unlock()
	for i := len(g.record.views) - 1; i >= 0; i-- {
		if seen := g.record.views[i].Pod; seen != nil && seen.UID == pod.UID {
			return seen
		}
	}
	return pod
}

// neverBroke expects that no group restart in place was ever begun.
func (g *Group) neverBroke() {
	GinkgoHelper()
	Expect(g.record.status().InPlaceRestarts).To(BeZero(), "inPlaceRestarts")
	for _, epochs := range g.record.epochsSeen() {
		Expect(epochs[0]).To(BeZero(), "deprecatedEpoch")
	}
}

func workersSucceed() {
	It("complete the JobSet, and nothing runs or is left", Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{})
		round := group.RunsAt(1)
		group.Tell(order.Done, round.Workers()...)
		group.Completes()
		group.neverBroke()
		group.LeavesNothing()
	}, SpecTimeout(specTime))

	It("C261: are all replaced, for one restart, if one succeeded before another fails", func(ctx SpecContext) {
		group := Create(ctx, Shape{})
		before := group.RunsAt(1)
		group.Tell(order.Done, before.Worker(0))
		group.eventually(func() corev1.PodPhase { return group.lastSeen(before.Pods[0]).Status.Phase }).Should(Equal(corev1.PodSucceeded))
		group.Tell(order.Exit(1), before.Worker(1))
		group.RunsAttempt(1).IsAllNew(before)
		group.RunsAt(2)
		status := group.record.status()
		Expect(status.RestartsCountTowardsMax+status.InPlaceRestarts).To(BeEquivalentTo(1), "charged in all")
		group.Told(corev1.EventTypeWarning, constants.ActionReason(jobset.RestartJobSet), "succeeded in epoch 1")
	}, SpecTimeout(specTime))
}

func suspension() {
	It("C284: are charged nothing for a suspend and resume in the middle of a group restart", Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{})
		before := group.RunsAt(1)
		group.Tell(syscall.SIGSTOP, before.Agent(1)) // so that the group does not come together before it is suspended
		group.Tell(order.Exit(1), before.Worker(0))
		group.Breaks(1)
		group.Suspend(true)
		group.IsSuspended()
		group.Suspend(false)
		group.RunsAt(2).IsAllNew(before)
		Expect(group.record.status().InPlaceRestarts).To(BeEquivalentTo(1), "inPlaceRestarts: for the failure alone")
		Expect(group.record.status().Restarts).To(BeZero())
	}, SpecTimeout(specTime))

	// 30 s: the containers of four rounds start, in new Pods each.
	It("C283: are charged nothing for three suspends and resumes with maxRestarts 2", func(ctx SpecContext) {
		group := Create(ctx, Shape{MaxRestarts: 2})
		round := group.RunsAt(1)
		for epoch := int32(2); epoch <= 4; epoch++ {
			group.Suspend(true)
			group.IsSuspended()
			group.Suspend(false)
			next := group.RunsAt(epoch)
			next.IsAllNew(round)
			round = next
			group.Charged(0)
		}
		group.Tell(order.Exit(1), round.Worker(0))
		group.RunsAt(5).IsInPlaceOf(round)
		group.Charged(1)
	}, SpecTimeout(specTime))
}

// otherStrategies are the same workers without agents, so that both ways can be compared.
func otherStrategies() {
	It("are replaced, Job by Job, with Recreate", Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{Strategy: jobset.Recreate, Jobs: 2, Workers: 1})
		group.startsOver()
	}, SpecTimeout(specTime))

	It("C122: are replaced when all old Pods are gone with BlockingRecreate, by a rule for a Job that used up its retries", Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{Strategy: jobset.BlockingRecreate, Jobs: 2, Workers: 1, Rules: []jobset.FailurePolicyRule{
			{Name: "deadline", Action: jobset.FailJobSet, OnJobFailureReasons: []string{batchv1.JobReasonDeadlineExceeded}},
			{Name: "retries", Action: jobset.RestartJobSet, OnJobFailureReasons: []string{batchv1.JobReasonBackoffLimitExceeded}},
			{Name: "others", Action: jobset.FailJobSet},
		}, Change: func(js *jobset.JobSet) {
			pod := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
			pod.Containers[0].Env = []corev1.EnvVar{{Name: "WORKER_TERM_DELAY", Value: "2s"}}
			pod.TerminationGracePeriodSeconds = ptr.To[int64](10)
		}})
		group.startsOver()
		old, fresh := group.generations()
		Expect(fresh).To(BeTemporally(">", old), "the first new Pod came after the last old one was gone")
	}, SpecTimeout(specTime))
}

// startsOver is what a failed worker means without restarts in place.
func (g *Group) startsOver() {
	GinkgoHelper()
	before := g.RunsAttempt(0)
	g.Tell(order.Exit(1), before.Worker(0))
	g.RunsAttempt(1).IsAllNew(before)
	g.Has(jobset.JobSetRestarting, "False", constants.JobsReadyReason)
	g.Told(corev1.EventTypeWarning, constants.ActionReason(jobset.RestartJobSet), "first failed job: "+jobSetName+"-"+replicated+"-0")
	status := g.record.status()
	Expect(status.Restarts).To(BeEquivalentTo(1), "restarts")
	Expect(status.RestartsCountTowardsMax).To(BeEquivalentTo(1), "restartsCountTowardsMax")
	g.neverBroke()
	Expect(status.SyncedEpoch).To(BeNil(), "syncedEpoch")
}

// generations tells when the last Pod of the first attempt was gone, and when
// the first of the second one appeared.
func (g *Group) generations() (oldGone, newSeen time.Time) {
	g.record.mu.Lock()
	defer g.record.mu.Unlock()
	for _, v := range g.record.views {
		switch {
		case v.Pod == nil:
		case v.Gone && v.Pod.Labels[constants.RestartsKey] == "0":
			oldGone = v.At
		case v.Pod.Labels[constants.RestartsKey] == "1" && newSeen.IsZero():
			newSeen = v.At
		}
	}
	return oldGone, newSeen
}
