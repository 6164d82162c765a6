/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/worker/order"
)

// processPods: what becomes of containers and Pods in process mode, where a supervisor has to tell the end of a
// worker from the end of an epoch, and of its Pod.
func processPods() {
	It("P67 P69: are not taken for finished when they answer SIGTERM with 0, neither when they are stopped nor when their Pod is deleted", func(ctx SpecContext) {
		group := Create(ctx, Shape{Process: true, Change: func(js *jobset.JobSet) { endsWell(js) }})
		before := group.RunsAt(1)
		group.Tell(order.Exit(1), before.Worker(0))
		after := group.RunsAt(2)
		after.IsInPlaceOf(before)
		group.Charged(1)
		// The supervisor and its worker write to two streams.
		group.eventually(logOf(ctx, after.Worker(1))).Should(ContainSubstring("the worker of epoch 1 ended with exit code 0, after a stop request"))

		group.deleted(after, 1)
		group.RunsAt(3).Replaces(after, 1)
		group.Charged(2)
		group.noneSucceeded()
	}, SpecTimeout(specTime))

	It("P69: do not complete their index when their Pod is deleted while it holds them", func(ctx SpecContext) {
		group := Create(ctx, Shape{Process: true})
		before := group.RunsAt(1)
		group.Tell(syscall.SIGSTOP, before.Agent(1)) // so that the group does not come together before the Pod is deleted
		group.Tell(order.Exit(1), before.Worker(0))
		group.Reports(before.Pods[0], 2) // and waits for the other one
		group.deleted(before, 0)
		group.Tell(syscall.SIGCONT, before.Agent(1))
		group.RunsAt(2).Replaces(before, 0)
		group.Charged(1)
		group.noneSucceeded()
	}, SpecTimeout(specTime))

	It("P67 P70: get a new Pod when one of its containers is done and another has to run again", func(ctx SpecContext) {
		group := Create(ctx, Shape{Process: true, Change: addHelper})
		before := group.RunsAt(1)
		helper := Container{Pod: before.Pods[0], Name: helperName}
		group.eventually(logOf(ctx, helper)).Should(listens)
		group.Tell(order.Done, helper)
		group.eventually(func() string { return state(containerStatus(group.Now(helper).Pod, helperName)) }).Should(Equal("exit-0"))
		group.RunsAt(1).IsUntouched(before)
		group.Charged(0)

		group.Tell(order.Exit(1), before.Worker(1))
		group.RunsAt(2).Replaces(before, 0)
		group.Charged(1)
		group.Told(corev1.EventTypeWarning, constants.WorkerReplacedReason, "container "+helperName+" is done")
	}, SpecTimeout(specTime))

	DescribeTable("P57 P70: need no restart rules of containers, which a kubelet older than 1.35 does not know, to restart in place; when a container is lost",
		func(ctx SpecContext, policy corev1.RestartPolicy, replaced bool) {
			group := Create(ctx, Shape{
				Process: true, NamespaceLabels: withoutRestartRules(ctx),
				Change: func(js *jobset.JobSet) { podOf(js).RestartPolicy = policy },
			})
			before := group.RunsAt(1)
			for _, pod := range before.Pods {
				worker := pod.Spec.Containers[0]
				Expect(worker.RestartPolicyRules).To(BeEmpty(), "restart rules of the worker of Pod %s", pod.Name)
				Expect(worker.RestartPolicy).To(BeNil(), "restart policy of the worker of Pod %s", pod.Name)
			}
			group.Tell(order.Exit(1), before.Worker(0))
			again := group.RunsAt(2)
			again.IsInPlaceOf(before)
			group.Charged(1)

			group.Tell(syscall.SIGKILL, again.Worker(1))
			after := group.RunsAt(3)
			group.Charged(2)
			if replaced {
				after.Replaces(again, 1)
				return
			}
			after.IsInPodsOf(again)
			group.RestartedAlone(after.Worker(1), 1)
		},
		Entry("its Pod is replaced", SpecTimeout(specTime), corev1.RestartPolicyNever, true),
		Entry("it restarts alone, with restartPolicy OnFailure", SpecTimeout(specTime), corev1.RestartPolicyOnFailure, false),
	)
}

const helperName = "helper"

// addHelper adds a second worker to each Pod.
func addHelper(js *jobset.JobSet) {
	pod := podOf(js)
	helper := *pod.Containers[0].DeepCopy()
	helper.Name = helperName
	pod.Containers = append(pod.Containers, helper)
}

// endsWell makes workers answer SIGTERM with exit code 0.
func endsWell(js *jobset.JobSet) {
	worker := &podOf(js).Containers[0]
	worker.Env = append(worker.Env, corev1.EnvVar{Name: "WORKER_TERM_CODE", Value: "0"})
}

// deleted deletes a Pod, and expects that it fails, since its supervisor does not end with 0.
func (g *Group) deleted(round *Round, place int) {
	GinkgoHelper()
	pod := round.Pods[place]
	Expect(api.Delete(g.ctx, pod.DeepCopy())).To(Succeed())
	g.eventually(func() corev1.PodPhase { return g.lastSeen(pod).Status.Phase }).Should(Equal(corev1.PodFailed), "phase of Pod %s", pod.Name)
	Expect(state(containerStatus(g.lastSeen(pod), workerName))).To(Equal("exit-143"), "the worker of Pod %s", pod.Name)
}

// RestartedAlone waits until the node has told that a container restarted so often. Its process may be there before.
func (g *Group) RestartedAlone(c Container, restarts int32) {
	GinkgoHelper()
	g.eventually(func() int32 { return containerStatus(g.Now(c).Pod, c.Name).RestartCount }).Should(Equal(restarts), "restarts of container %s of Pod %s", c.Name, c.Pod.Name)
}

// noneSucceeded expects that no completion index of a Job has succeeded.
func (g *Group) noneSucceeded() {
	GinkgoHelper()
	var list batchv1.JobList
	Expect(api.List(g.ctx, &list, client.InNamespace(g.namespace))).To(Succeed())
	Expect(list.Items).NotTo(BeEmpty())
	for i := range list.Items {
		Expect(list.Items[i].Status.CompletedIndexes).To(BeEmpty(), "completed indexes of Job %s", list.Items[i].Name)
		Expect(list.Items[i].Status.Succeeded).To(BeZero(), "Pods of Job %s that have succeeded", list.Items[i].Name)
	}
}
