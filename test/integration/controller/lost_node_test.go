/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// lostAfter is a JobSet whose workers on lost nodes are replaced after 25 s.
func lostAfter(name string) *jobset.JobSet {
	js := Training(3, 10)
	js.Name = name
	js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{LostNode: &jobset.LostNodePolicy{ReplaceAfterSeconds: ptr.To[int32](25)}}
	return js
}

var _ = Describe("A worker whose node is silent", func() {
	It("P173 P174 P176: is replaced by force once all others are back, and no worker of a group that runs there is", func(ctx SpecContext) {
		w := newWorld(ctx)
		for _, node := range []string{"node-1", "node-9"} { // nobody renews their Leases
			lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: corev1.NamespaceNodeLease, Name: node},
				Spec: coordinationv1.LeaseSpec{LeaseDurationSeconds: ptr.To[int32](40)}}
			Expect(w.Client.Create(ctx, lease)).To(Succeed())
			DeferCleanup(func(ctx SpecContext) { Expect(w.Client.Delete(ctx, lease)).To(Succeed()) })
		}
		other, running := w.RunningGroup(lostAfter("other"))
		train, pods := w.RunningGroup(lostAfter("train"))

		w.Agents.Report(2, pods[0])
		w.Reaches(train, 1, 1)
		w.Agents.Report(2, pods[2])

		Eventually(func() corev1.PodStatus { return Now(w, pods[1]).Status }).WithTimeout(2 * time.Minute).Should(
			And(HaveField("Phase", corev1.PodFailed), HaveField("Reason", "NodeLost")))
		w.TellsUser(train, corev1.EventTypeWarning, "WorkerOnLostNode", "node node-1 has been silent for ")
		Expect(Now(w, train).Status.LostNodes).To(ConsistOf(And(HaveField("Node", "node-1"), HaveField("Epoch", BeEquivalentTo(1)))))
		Expect(Now(w, pods[1]).DeletionTimestamp).NotTo(BeNil())

		replacement := w.JobController.On("node-9").Replaces(pods[1]) // on node-1, or a node that is gone, it would be replaced, too
		w.JobController.Accounts(pods[1])
		w.Agents.Report(2, replacement)
		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{InPlace: 1})
		Expect(Now(w, train).Status.RestartHistory[0].Suspect).To(MatchRegexp(`^node node-1 was silent for \d+ s, worker replaced by force$`))

		w.StaysAt(other, 0, 1)
		for _, pod := range running {
			Expect(Now(w, pod)).To(And(HaveField("Status.Phase", corev1.PodRunning), HaveField("DeletionTimestamp", BeNil())))
		}
	})
})
