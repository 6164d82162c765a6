/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
	"sigs.k8s.io/jobset/test/integration/framework"
)

// isEvicted waits until a Pod is marked and deleted.
func (w *world) isEvicted(pods ...*corev1.Pod) {
	GinkgoHelper()
	for _, pod := range pods {
		Eventually(func(g Gomega) {
			now := framework.Now(w.World, pod)
			g.Expect(now.DeletionTimestamp).NotTo(BeNil(), "%s is not deleted", pod.Name)
			g.Expect(disruption(now)).To(HaveValue(And(
				HaveField("Status", corev1.ConditionTrue),
				HaveField("Reason", "ExclusivePlacementViolation"),
				HaveField("Message", "Pod violated JobSet exclusive placement policy"),
				HaveField("LastTransitionTime.IsZero()", BeFalse()),
			)))
		}).Should(Succeed())
	}
}

// stays claims that Pods are neither marked nor deleted, now that the controller
// has looked at all that happened before: it looks at one Job after the other.
func (w *world) stays(pods ...*corev1.Pod) {
	GinkgoHelper()
	canary := newJob(99)
	w.smuggles(w.pod(canary, 0, on(w.node("canary-"+string(canary.uid[:8]), "rack-99"))))
	w.isEvicted(w.smuggles(w.pod(canary, 1)))
	for _, pod := range pods {
		now := framework.Now(w.World, pod)
		Expect(now.DeletionTimestamp).To(BeNil(), "%s is deleted", pod.Name)
		Expect(disruption(now)).To(BeNil(), "%s is marked", pod.Name)
	}
}

// withJobSet makes the JobSet of the Pods, which nobody else looks at.
func (w *world) withJobSet(strategy jobset.JobSetRestartStrategy) *jobset.JobSet {
	GinkgoHelper()
	js := builders.MakeJobSet("js", w.Namespace).Obj()
	js.Spec.ManagedBy = ptr.To("example.com/nobody")
	js.Spec.ReplicatedJobs = nil
	js.Spec.FailurePolicy = &jobset.FailurePolicy{RestartStrategy: strategy, MaxRestarts: 1}
	Expect(w.Client.Create(w.Context, js)).To(Succeed())
	return js
}

// told are the texts of all events.
func (w *world) told() []string {
	GinkgoHelper()
	var list eventsv1.EventList
	Expect(w.Client.List(w.Context, &list, client.InNamespace(w.Namespace))).To(Succeed())
	var texts []string
	for i := range list.Items {
		texts = append(texts, list.Items[i].Note)
	}
	return texts
}

func disruption(pod *corev1.Pod) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == corev1.DisruptionTarget {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

var _ = Describe("The repair of exclusive placement", func() {
	var (
		w    *world
		j    job
		a, b string
	)
	BeforeEach(func() {
		w, j = newWorld(), newJob(0)
		a, b = w.node("a", "rack-1"), w.node("b", "rack-2")
	})

	It("C197: leaves alone a Job in one domain", func() {
		leader := w.starts(w.pod(j, 0, on(a)))
		followers := []*corev1.Pod{w.starts(w.pod(j, 1)), w.starts(w.pod(j, 2))}

		w.stays(append(followers, leader)...)
	})

	It("C197 C198 C344: deletes all followers, good ones too, if one selects another domain, and marks them before", func() {
		good := w.smuggles(w.pod(j, 1, selecting(rack, "rack-1")))
		bad := w.smuggles(w.pod(j, 2, selecting(rack, "rack-2"), on(b)))
		leader := w.starts(w.pod(j, 0, on(a)))

		w.isEvicted(good, bad)
		w.stays(leader)
		Expect(w.starts(w.pod(j, 1)).Spec.NodeSelector).To(HaveKeyWithValue(rack, "rack-1"))
	})

	It("C197: deletes followers that select none", func() {
		w.starts(w.pod(j, 0, on(a)))

		w.isEvicted(w.smuggles(w.pod(j, 1)))
	})

	It("C198: keeps the other conditions of a Pod, and a mark that is there already", func() {
		bad := w.smuggles(w.pod(j, 1))
		mark := `{"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"DisruptionTarget","status":"True","reason":"Preempted"}]}}`
		Expect(w.Client.Status().Patch(w.Context, bad.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, []byte(mark)))).To(Succeed())
		other := w.smuggles(w.pod(j, 2))
		Expect(w.Client.Status().Patch(w.Context, other.DeepCopy(), client.RawPatch(types.StrategicMergePatchType,
			[]byte(`{"status":{"conditions":[{"type":"Ready","status":"True"},{"type":"DisruptionTarget","status":"False"}]}}`)))).To(Succeed())

		w.starts(w.pod(j, 0, on(a)))

		Eventually(func(g Gomega) { g.Expect(framework.Now(w.World, bad).DeletionTimestamp).NotTo(BeNil()) }).Should(Succeed())
		Expect(disruption(framework.Now(w.World, bad)).Reason).To(Equal("Preempted"))
		w.isEvicted(other)
		for _, pod := range []*corev1.Pod{bad, other} {
			Expect(framework.Now(w.World, pod).Status.Conditions).To(ContainElement(HaveField("Type", corev1.PodReady)))
		}
	})

	It("C5: waits until the leader is scheduled", func() {
		bad := w.smuggles(w.pod(j, 1, selecting(rack, "rack-2")))
		leader := w.starts(w.pod(j, 0))
		w.stays(bad, leader)

		w.binds(a, leader)
		w.isEvicted(bad)
	})

	It("C199 C313: notices a follower that comes after all that happened to the leader", func() {
		w.starts(w.pod(j, 0, on(a)))
		good := w.starts(w.pod(j, 1))
		w.stays(good)

		w.isEvicted(w.smuggles(w.pod(j, 2, selecting(rack, "rack-2"))), good)
	})

	It("C16 C194 C195: looks at the Pods of one Job, whatever their labels and those of others say", func() {
		other := newJob(0) // another Job of the same name, so with the same key
		foreign := w.smuggles(w.pod(other, 1, selecting(rack, "rack-2")))
		bad := w.smuggles(w.pod(j, 1, selecting(rack, "rack-2"), withoutLabel(jobset.JobKey)))

		w.starts(w.pod(j, 0, on(a), withoutLabel(jobset.JobKey)))

		w.isEvicted(bad)
		w.stays(foreign)
	})

	It("C194: leaves alone Pods that no Job controls", func() {
		w.starts(w.pod(j, 0, on(a), ownedByNobody))

		w.stays(w.smuggles(w.pod(j, 1, ownedByNobody)))
	})

	It("C196: deletes nobody while the node of the leader has no such label, and looks again", func() {
		bare := w.node("bare", "")
		w.starts(w.pod(j, 0, on(bare)))
		bad := w.smuggles(w.pod(j, 1, selecting(rack, "rack-2")))
		w.stays(bad)

		w.patches(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: bare}}, fmt.Sprintf(`{"metadata":{"labels":{%q:"rack-3"}}}`, rack))
		w.isEvicted(bad)
	})

	It("C196 C197: deletes nobody while the node of the leader is unknown, and looks again", func() {
		w.starts(w.pod(j, 0, on(w.Namespace+"-late")))
		bad := w.smuggles(w.pod(j, 1, selecting(rack, "rack-2")))
		w.stays(bad)

		w.node("late", "rack-3")
		w.isEvicted(bad)
	})

	It("C311: leaves alone Pods on nodes reserved beforehand", func() {
		reserved := annotated(jobset.NodeSelectorStrategyKey, "true")
		leader := w.starts(w.pod(j, 0, on(a), reserved))

		w.stays(leader, w.starts(w.pod(j, 1, on(b), reserved)))
	})

	It("leaves alone Pods that are done or on their way out, and goes by no leader that is", func() {
		done := w.smuggles(w.pod(j, 1, on(b), selecting(rack, "rack-2")))
		w.ends(done, corev1.PodSucceeded)
		leaving := w.smuggles(w.pod(j, 2, on(b), selecting(rack, "rack-2")))
		w.deletes(leaving)
		leader := w.starts(w.pod(j, 0, on(a)))
		w.stays(done, leader)
		Expect(disruption(framework.Now(w.World, leaving))).To(BeNil())

		w.ends(leader, corev1.PodFailed)
		w.stays(w.smuggles(w.pod(j, 3, selecting(rack, "rack-2"))))
	})

	It("waits until there is one leader where there are two", func() {
		first := w.starts(w.pod(j, 0, on(a)))
		second := w.starts(w.pod(j, 0, on(b)))
		follower := w.smuggles(w.pod(j, 1, selecting(rack, "rack-3")))
		w.stays(first, second, follower)

		w.removes(first)
		w.isEvicted(follower)
	})

	It("O83 O492: tells the user", func() {
		js := w.withJobSet(jobset.Recreate)
		bad := []*corev1.Pod{w.smuggles(w.pod(j, 1)), w.smuggles(w.pod(j, 2))}

		leader := w.starts(w.pod(j, 0, on(a)))

		w.isEvicted(bad...)
		var event eventsv1.Event
		Eventually(func(g Gomega) {
			var list eventsv1.EventList
			g.Expect(w.Client.List(w.Context, &list, client.InNamespace(w.Namespace))).To(Succeed())
			g.Expect(list.Items).To(HaveLen(1))
			event = list.Items[0]
		}).Should(Succeed())
		Expect(event.Regarding.UID).To(Equal(js.UID))
		Expect(event.Type).To(Equal("Warning"))
		Expect(event.Reason).To(Equal("ExclusivePlacementViolation"))
		Expect(event.ReportingController).To(Equal("pod"))
		Expect(event.Note).To(Equal(fmt.Sprintf("deleted 2 follower Pods of Job js-w-0, to be created again in the domain (%s) of their leader Pod %s on node %s",
			rack, leader.Name, a)))
	})
})

var _ = Describe("A leader that is replaced while its followers live, as in-place restart does it", func() {
	var (
		w         *world
		j         job
		a, b      string
		old       *corev1.Pod
		followers []*corev1.Pod
	)
	BeforeEach(func() {
		w, j = newWorld(), newJob(0)
		a, b = w.node("a", "rack-1"), w.node("b", "rack-2")
		old = w.starts(w.pod(j, 0))
		w.binds(a, old)
		followers = []*corev1.Pod{w.starts(w.pod(j, 1)), w.starts(w.pod(j, 2))}
		w.binds(a, followers...)
		w.ends(old, corev1.PodFailed)
	})

	It("W105 W106: is bound to the followers' domain by the same affinity, and they carry the key it asks for", func() {
		leader := w.starts(w.pod(j, 0))

		Expect(leader.Spec.Affinity).To(Equal(old.Spec.Affinity))
		for _, follower := range followers {
			Expect(framework.Now(w.World, follower).Labels).To(HaveKeyWithValue(jobset.JobKey,
				leader.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions[0].Values[0]))
		}
	})

	It("W120 W123: lets no new follower in before it is scheduled", func() {
		w.removes(old)
		w.isRefused(w.pod(j, 3), "vpod.kb.io", "follower pod node selector not set: "+noLeader(0))

		leader := w.starts(w.pod(j, 0))
		w.isRefused(w.pod(j, 3), "vpod.kb.io",
			"follower pod node selector not set: leader pod not yet scheduled, not creating follower pod"+transient)
		w.stays(append(followers, leader)...)

		w.binds(a, leader)
		Expect(w.starts(w.pod(j, 3)).Spec.NodeSelector).To(Equal(map[string]string{rack: "rack-1"}))
	})

	It("C197: in the same domain disturbs nobody", func() {
		leader := w.starts(w.pod(j, 0))
		w.binds(a, leader)

		w.stays(append(followers, leader)...)
	})

	It("C372: that finds no node beside its followers for one assembly period is rid of them, if they restart in place", func() {
		w.withJobSet(jobset.InPlaceRestart)
		leader := w.starts(w.pod(j, 0))

		w.isEvicted(followers...)
		Expect(framework.Now(w.World, followers[0]).DeletionTimestamp.Time).To(BeTemporally(">=", leader.CreationTimestamp.Add(patience)))
		Eventually(w.told).Should(ConsistOf(fmt.Sprintf("deleted 2 follower Pods of Job js-w-0, since their leader Pod %s could not be scheduled in their domain (%s) for 2s; "+
			"all Pods of the Job are placed again", leader.Name, rack)))
		for _, follower := range followers {
			w.removes(follower)
		}
		w.binds(b, leader)
		Expect(w.starts(w.pod(j, 1)).Spec.NodeSelector).To(Equal(map[string]string{rack: "rack-2"}))
	})

	It("C372: that finds no node is waited for while another strategy lets its followers run", func() {
		w.withJobSet(jobset.Recreate)
		leader := w.starts(w.pod(j, 0))
		later, k := newWorld(), newJob(0)
		later.withJobSet(jobset.InPlaceRestart)
		later.starts(later.pod(k, 0))
		later.isEvicted(later.smuggles(later.pod(k, 1, selecting(rack, "rack-1"))))

		w.stays(append(followers, leader)...)
	})

	It("C198: in another domain makes the followers come after it", func() {
		leader := w.starts(w.pod(j, 0))
		w.binds(b, leader)

		w.isEvicted(followers...)
		w.stays(leader)
		for _, follower := range followers {
			w.removes(follower)
		}
		Expect(w.starts(w.pod(j, 1)).Spec.NodeSelector).To(Equal(map[string]string{rack: "rack-2"}))
	})
})
