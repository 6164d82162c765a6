/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/worker/order"
)

// exclusivePlacement: every Job has a domain of its own, which here is a node.
// The specs need the cluster alone, since no Pod of another JobSet may be in that domain.
func exclusivePlacement() {
	// 24 s: two restarts, and the grace of an evicted Pod.
	It("C197 C264: restart in place, and around a follower that is evicted, which comes back into their domain", func(ctx SpecContext) {
		group := Create(ctx, Shape{Workers: 3, Change: func(js *jobset.JobSet) {
			inOneDomain(js)
			onDisruption(js, batchv1.PodFailurePolicyActionIgnore)
		}})
		before := group.RunsAt(1)
		domain := before.domain()
		group.Tell(order.Exit(1), before.Worker(2))
		again := group.RunsAt(2)
		again.IsInPlaceOf(before)
		group.Charged(1)

		group.evict(again.Pods[1])
		after := group.RunsAt(3)
		after.Replaces(again, 1)
		Expect(after.domain()).To(Equal(domain))
		group.Charged(2)
		group.LeavesNothing() // its Pods keep those of the next story away from their domain
	}, SpecTimeout(specTime))

	// 20 s: the Job controller waits ten seconds before it replaces a Pod.
	It("C197 C264: restart in place around a leader that is deleted, which comes back to its followers", func(ctx SpecContext) {
		group := Create(ctx, Shape{Change: inOneDomain})
		before := group.RunsAt(1)
		Expect(api.Delete(ctx, before.Pods[0].DeepCopy())).To(Succeed())
		after := group.RunsAt(2)
		after.Replaces(before, 0)
		Expect(after.domain()).To(Equal(before.domain()))
		group.Charged(1)
		group.LeavesNothing()
	}, SpecTimeout(specTime))

	// 20 s: the Job controller waits ten seconds before it replaces a Pod.
	It("C197 C264: wait for a leader that is deleted while no Pod finds room in their domain, and never take one elsewhere", func(ctx SpecContext) {
		group := Create(ctx, Shape{Change: inOneDomain})
		before := group.RunsAt(1)
		uncordon := group.cordon(before.domain())
		Expect(api.Delete(ctx, before.Pods[0].DeepCopy())).To(Succeed())
		group.eventually(func(expect Gomega) {
			live := group.live()
			expect.Expect(live).To(HaveLen(len(before.Pods)))
			leader := live[0]
			expect.Expect(leader.UID).NotTo(Equal(before.Pods[0].UID))
			expect.Expect(leader.Status.Conditions).To(ContainElement(And(HaveField("Type", corev1.PodScheduled), HaveField("Reason", corev1.PodReasonUnschedulable))))
		}).Should(Succeed())

		uncordon(ctx)
		after := group.RunsAt(2)
		after.Replaces(before, 0)
		Expect(after.domain()).To(Equal(before.domain()))
		group.Charged(1)
		group.LeavesNothing()
	}, SpecTimeout(specTime))

	// 15 s: the Job controller waits ten seconds before it replaces a Pod.
	It("W115a: complete although the leader is done when a follower fails, which is tried again in their domain", func(ctx SpecContext) {
		group := Create(ctx, Shape{Strategy: jobset.Recreate, Change: func(js *jobset.JobSet) {
			inOneDomain(js)
			js.Spec.ReplicatedJobs[0].Template.Spec.BackoffLimit = ptr.To[int32](3)
		}})
		before := group.RunsAttempt(0)
		group.Tell(order.Exit(0), before.Worker(0))
		group.eventually(group.live).Should(HaveLen(1))
		group.Tell(order.Exit(1), before.Worker(1))

		var again Container
		group.eventually(func(expect Gomega) {
			live := group.live()
			expect.Expect(live).To(ConsistOf(HaveField("Annotations", HaveKeyWithValue(batchv1.JobCompletionIndexAnnotation, "1"))))
			expect.Expect(live[0].UID).NotTo(Equal(before.Pods[1].UID))
			again = Container{Pod: live[0], Name: before.Worker(1).Name}
			expect.Expect(cluster.Log(ctx, again)).To(listens)
		}).Should(Succeed())
		Expect(again.Pod.Spec.NodeName).To(Equal(before.domain()))
		group.Tell(order.Exit(0), again)
		group.Has(jobset.JobSetCompleted, metav1.ConditionTrue, constants.AllJobsCompletedReason)
		group.LeavesNothing()
	}, SpecTimeout(specTime))

	// 26 s: the drained Pods have their grace, and the Job is placed twice.
	It("C198 C264: come together in another domain when their own is drained, for one restart in all", func(ctx SpecContext) {
		group := Create(ctx, Shape{Change: inOneDomain})
		before := group.RunsAt(1)
		group.cordon(before.domain())
		for _, pod := range before.Pods { // the leader first
			group.evict(pod)
		}
		after := group.RunsAt(2)
		after.IsAllNew(before)
		Expect(after.domain()).NotTo(Equal(before.domain()))
		group.Charged(1)
		group.LeavesNothing()
	}, SpecTimeout(specTime))
}

func inOneDomain(js *jobset.JobSet) {
	js.Annotations = map[string]string{jobset.ExclusiveKey: corev1.LabelHostname}
	podOf(js).TopologySpreadConstraints = nil
}

// onDisruption says what an eviction or a preemption of a Pod means for its Job.
func onDisruption(js *jobset.JobSet, action batchv1.PodFailurePolicyAction) {
	js.Spec.ReplicatedJobs[0].Template.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
		Action:          action,
		OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue}},
	}}}
}

func podOf(js *jobset.JobSet) *corev1.PodSpec {
	return &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
}

// domain is the node of all Pods, which must be one.
func (r *Round) domain() string {
	GinkgoHelper()
	for _, pod := range r.Pods {
		Expect(pod.Spec.NodeName).To(Equal(r.Pods[0].Spec.NodeName), "node of Pod %s", pod.Name)
	}
	return r.Pods[0].Spec.NodeName
}

func (s *fixture) evict(pod *corev1.Pod) {
	GinkgoHelper()
	Expect(api.SubResource("eviction").Create(s.ctx, pod.DeepCopy(), &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
	})).To(Succeed())
}

// cordon keeps new Pods off a node until uncordon, or the end of the spec.
func (s *fixture) cordon(name string) (uncordon func(context.Context)) {
	GinkgoHelper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	set := func(ctx context.Context, on bool) error {
		return api.Patch(ctx, node, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"unschedulable":%t}}`, on)))
	}
	uncordon = func(ctx context.Context) {
		GinkgoHelper()
		Expect(set(ctx, false)).To(Succeed())
	}
	DeferCleanup(uncordon)
	Expect(set(s.ctx, true)).To(Succeed())
	s.getsNoPods(name, &corev1.Affinity{})
	return uncordon
}

// getsNoPods waits until the scheduler puts no Pod with an affinity on a node any more. It hears of nodes and of Pods
// apart, so it may meet a Pod before it knows what was said of the node.
func (s *fixture) getsNoPods(node string, affinity *corev1.Affinity) {
	GinkgoHelper()
	s.eventually(func(expect Gomega) {
		probe := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, GenerateName: "probe-"},
			Spec: corev1.PodSpec{
				NodeSelector: map[string]string{corev1.LabelHostname: node}, Affinity: affinity,
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: workerName, Image: WorkerImage}},
			},
		}
		expect.Expect(api.Create(s.ctx, probe)).To(Succeed())
		defer func() {
			expect.Expect(client.IgnoreNotFound(api.Delete(s.ctx, probe, client.GracePeriodSeconds(0)))).To(Succeed())
		}()
		placed := func() (corev1.ConditionStatus, error) {
			err := api.Get(s.ctx, client.ObjectKeyFromObject(probe), probe)
			for _, c := range probe.Status.Conditions {
				if c.Type == corev1.PodScheduled {
					return c.Status, err
				}
			}
			return "", err
		}
		expect.Eventually(placed).WithContext(s.ctx).WithTimeout(patience).WithPolling(tick).ShouldNot(BeEmpty(), "the scheduler looks at Pod %s", probe.Name)
		expect.Expect(placed()).To(Equal(corev1.ConditionFalse), "whether a Pod was placed on node %s", node)
	}).Should(Succeed())
}
