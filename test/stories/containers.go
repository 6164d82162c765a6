/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"context"
	"fmt"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/worker/order"
)

const specTime = 6 * time.Minute

// Contract labels the stories that carry the contract: each mode, each strategy, what is killed, evicted, suspended, lost
// and upgraded. CI tells these on real nodes, and the rest every night. All but those that need real nodes are told on
// simulated ones each time.
var Contract = Label("contract")

// Tell registers all stories. Those that restart the manager, mark nodes or need one to themselves are decorated with alone: pass
// Serial where processes share a cluster.
func Tell(alone ...any) bool {
	Describe("JobSets and the controllers of Kubernetes", otherControllers)
	return Describe("workers that restart in place", func() {
		Describe("with two fields in their manifest", adoption)
		Describe("when a container ends", containersEnd)
		Describe("when a supervisor starts them", processMode)
		Describe("when a supervisor starts them and more than a process ends", processPods)
		Describe("when a Pod goes away", podsGo)
		Describe("when the Pods of a Job go away one after the other", onePodAfterTheOther)
		Describe("when the failure policy has its say", failurePolicy)
		Describe("when they are done", workersSucceed)
		Describe("when they are suspended", suspension)
		Describe("with an access policy", access)
		Describe("when in-place restart is switched off", bypasses)
		Describe("with a feature gate", alone, gate)
		Describe("with exclusive placement", alone, exclusivePlacement)
		Describe("on nodes that are marked as sick", alone, sickNodes)
		Describe("on nodes on which they keep failing", badNodes)
		Describe("with fault tolerance", faultTolerance)
		Describe("compared with other strategies", otherStrategies)
		Describe("on a node", sequences)
	})
}

// restartTenTimes makes one worker after the other fail, and expects all of them back in the same Pods.
func restartTenTimes(ctx SpecContext, shape Shape) {
	GinkgoHelper()
	group := Create(ctx, shape)
	before := group.RunsAt(1)
	for epoch := int32(2); epoch <= 11; epoch++ {
		victim := before.Worker(int(epoch) % 2)
		told := group.Tell(order.Exit(1), victim)
		after := group.RunsAt(epoch)
		after.IsInPlaceOf(before)
		group.Charged(epoch - 1)
		group.report(group.Phases(told, after))
		if epoch == 2 {
			group.Told(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason,
				fmt.Sprintf("container worker of worker pod %s exited with code 1 on node %s", victim.Pod.Name, victim.Pod.Spec.NodeName))
		}
		before = after
	}
}

func containersEnd() {
	// 32 s: ten restarts, each as slow as a kubelet restarts containers.
	It("start again in the same Pods when one exits with a failure, ten times", Label("two-workers"), Contract, func(ctx SpecContext) {
		restartTenTimes(ctx, Shape{})
	}, SpecTimeout(specTime))

	It("C296: start again in the same Pods when the kernel kills a worker", func(ctx SpecContext) {
		group := Create(ctx, Shape{})
		before := group.RunsAt(1)
		group.Tell(syscall.SIGKILL, before.Worker(0))
		group.RunsAt(2).IsInPlaceOf(before)
		group.Charged(1)
		group.Told(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, "exited with code 137")
	}, SpecTimeout(specTime))

	It("C278: start again in the same Pods when the kernel kills an agent", Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{})
		before := group.RunsAt(1)
		group.Tell(syscall.SIGKILL, before.Agent(1))
		group.RunsAt(2).IsInPlaceOf(before)
		group.Charged(1)
	}, SpecTimeout(specTime))

	It("C277 C278: start again in the same Pods when an agent runs out of memory", func(ctx SpecContext) {
		if !cluster.LimitsMemory() {
			Skip("this cluster does not limit memory")
		}
		group := Create(ctx, Shape{AgentObeys: true})
		before := group.RunsAt(1)
		group.Tell(order.Eat, before.Agent(0))
		group.RunsAt(2).IsInPlaceOf(before)
		group.Charged(1)
		group.Told(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, "exited with code 137")
	}, SpecTimeout(specTime))

	It("restart once when all fail at the same moment", func(ctx SpecContext) {
		group := Create(ctx, Shape{})
		before := group.RunsAt(1)
		group.Tell(order.Exit(2), before.Workers()...)
		group.RunsAt(2).IsInPlaceOf(before)
		group.Charged(1)
	}, SpecTimeout(specTime))

	// The member that fails has reported already. Whether it dies before or after
	// the lift is not in our hands: after it, this is a failure of its own.
	It("C265: come together when one fails again while the group assembles", func(ctx SpecContext) {
		group := Create(ctx, Shape{SlowToStop: true})
		before := group.RunsAt(1)
		group.Tell(order.Exit(1), before.Worker(0))
		group.Reports(before.Pods[0], 2)
		again := group.RunsAgain(before.Agent(0))
		group.Tell(syscall.SIGKILL, again)
		group.RunsAgain(again) // or the group seems to rest while nobody knows that one is gone
		after := group.comesToRest(2, 3)
		after.IsInPlaceOf(before)
		group.Charged(after.Epoch - 1)
	}, SpecTimeout(specTime))

	DescribeTable("C277: restart in place when an agent exits", func(ctx SpecContext, code int) {
		group := Create(ctx, Shape{AgentObeys: true})
		before := group.RunsAt(1)
		group.Tell(order.Exit(code), before.Agent(0))
		group.RunsAt(2).IsInPlaceOf(before)
		group.Charged(1)
	},
		Entry("with 0", SpecTimeout(specTime), 0),
		Entry("with 88, the code that asks for it", SpecTimeout(specTime), 88),
	)

	It("C294 C302: wait behind an agent that exits with 64, which restarts alone and backs off", func(ctx SpecContext) {
		group := Create(ctx, Shape{OwnAgent: true, Change: func(js *jobset.JobSet) {
			agent := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.InitContainers[0]
			agent.Env = append(agent.Env, corev1.EnvVar{Name: "BARRIER_ADDRESS", Value: "nowhere"})
		}})
		group.eventually(func(expect Gomega) {
			expect.Expect(group.live()).To(HaveLen(2))
			for _, pod := range group.live() {
				agent := containerStatus(pod, agentName)
				expect.Expect(agent).NotTo(BeNil())
				expect.Expect(agent.RestartCount).To(BeNumerically(">=", 1))
				expect.Expect(state(agent)).To(Equal("CrashLoopBackOff"))
				expect.Expect(agent.LastTerminationState.Terminated).To(HaveField("ExitCode", BeEquivalentTo(64)))
				expect.Expect(cluster.Log(ctx, Container{Pod: pod, Name: agentName})).To(ContainSubstring("BARRIER_ADDRESS"))
				expect.Expect(containerStatus(pod, workerName).RestartCount).To(BeZero())
				expect.Expect(state(containerStatus(pod, workerName))).To(Equal("PodInitializing"))
			}
		}).Should(Succeed())
		group.Charged(0)
	}, SpecTimeout(specTime))

	It("C286: are left alone by another container that fails again and again", func(ctx SpecContext) {
		group := Create(ctx, Shape{Change: addShipper})
		before := group.RunsAt(1)
		shipper := Container{Pod: before.Pods[0], Name: "shipper"}
		for range 2 {
			group.Tell(order.Exit(3), shipper)
			shipper = group.RunsAgain(shipper)
			group.eventually(logOf(ctx, shipper)).Should(listens)
		}
		group.Tell(order.Exit(3), shipper)
		// It runs again after a while, so who looks late looks back.
		group.eventually(func() time.Time {
			return group.record.first(func(v view) bool {
				if v.Pod == nil || v.Pod.UID != shipper.Pod.UID {
					return false
				}
				status := containerStatus(v.Pod, shipper.Name)
				return status != nil && status.RestartCount == 2 && state(status) == "CrashLoopBackOff"
			})
		}).ShouldNot(BeZero(), "the wait after the third exit")
		group.RunsAt(1).IsUntouched(before)
		group.Charged(0)
	}, SpecTimeout(specTime))
}

// addShipper adds a sidecar that has nothing to do with the group.
func addShipper(js *jobset.JobSet) {
	always := corev1.ContainerRestartPolicyAlways
	pod := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
	pod.InitContainers = append([]corev1.Container{{
		Name: "shipper", Image: WorkerImage, Args: []string{"ready", "9000"}, RestartPolicy: &always,
	}}, pod.InitContainers...)
}

// RunsAgain waits until a container runs in another process than the one it is seen in.
func (g *Group) RunsAgain(c Container) Container {
	GinkgoHelper()
	var now Container
	g.eventually(func(expect Gomega) {
		now = g.Now(c)
		status := containerStatus(now.Pod, c.Name)
		expect.Expect(status.State.Running).NotTo(BeNil(), "container %s of Pod %s runs", c.Name, c.Pod.Name)
		expect.Expect(status.ContainerID).NotTo(Equal(containerStatus(c.Pod, c.Name).ContainerID), "container %s of Pod %s is a new one", c.Name, c.Pod.Name)
	}).Should(Succeed())
	return now
}

// listens matches the log of a test container whose process has asked for the signals by which tests tell it to end.
// Without a readiness probe a container is ready as soon as its process exists, and loses what it is sent before.
var listens = ContainSubstring(`"msg":"start"`)

func logOf(ctx context.Context, c Container) func() (string, error) {
	return func() (string, error) { return cluster.Log(ctx, c) }
}

// comesToRest waits until the group runs at one of these epochs and nothing more is under way.
func (g *Group) comesToRest(epochs ...int32) *Round {
	GinkgoHelper()
	var at int32
	g.eventually(func(expect Gomega) {
		at = 0
		seen := g.record.epochsSeen()
		last := seen[len(seen)-1]
		expect.Expect(last[0]).To(BeNumerically("<", last[1]), "the group is lifted")
		expect.Expect(epochs).To(ContainElement(last[1]), "syncedEpoch")
		for _, pod := range g.live() {
			expect.Expect(pod.Annotations).To(HaveKeyWithValue(jobset.EpochKey, fmt.Sprint(last[1])))
			expect.Expect(state(containerStatus(pod, workerName))).To(Equal("ready"))
		}
		at = last[1]
	}).Should(Succeed())
	return g.RunsAt(at)
}

func podsGo() {
	It("C264: restart in place around a Pod that is deleted, which alone is replaced", func(ctx SpecContext) {
		group := Create(ctx, Shape{})
		before := group.RunsAt(1)
		Expect(api.Delete(ctx, before.Pods[1].DeepCopy())).To(Succeed())
		group.RunsAt(2).Replaces(before, 1)
		group.Charged(1)
	}, SpecTimeout(specTime))

	It("C264: restart in place around a Pod that is evicted, which alone is replaced", Contract, func(ctx SpecContext) {
		group := Create(ctx, Shape{})
		before := group.RunsAt(1)
		group.evict(before.Pods[0])
		group.RunsAt(2).Replaces(before, 0)
		group.Charged(1)
	}, SpecTimeout(specTime))
}
