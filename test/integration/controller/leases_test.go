/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// runsInLeases has a group that reports in Leases, at epoch 1.
func runsInLeases(ctx SpecContext, js *jobset.JobSet) (*World, *jobset.JobSet, []*corev1.Pod) {
	GinkgoHelper()
	w := newWorld(ctx, WithLeases())
	w.Manager.ReadsLeases()
	js, pods := w.HeldGroup(js)
	w.Agents.ReportInLease(1, pods...)
	w.Reaches(js, 0, 1)
	w.Settles(js)
	return w, js, pods
}

var _ = Describe("A group that reports in Leases", func() {
	It("P150 P152: has agents that do, and restarts in place without a patch of a Pod", func(ctx SpecContext) {
		w, train, pods := runsInLeases(ctx, oneLine(3, 10))
		Expect(w.HasJobs(train, 1)[0].Spec.Template.Spec.InitContainers[0].Env).To(ContainElement(
			corev1.EnvVar{Name: workerpod.ReportsEnv, Value: protocol.ReportsLease}))

		w.Agents.TellInLease(2, pods[1], exitWith(42, 1))
		w.Reaches(train, 1, 1)
		Expect(w.TellsUser(train, corev1.EventTypeWarning, "InPlaceRestartStarted", "exited with code 42").Note).To(ContainSubstring(pods[1].Name))
		w.Agents.ReportInLease(2, pods[0], pods[2])
		w.Reaches(train, 1, 2)

		w.HasCounted(train, Counters{InPlace: 1})
		for _, pod := range pods {
			Expect(Now(w, pod).Annotations).NotTo(HaveKey(jobset.EpochKey))
		}
	})

	It("P152: restarts later, and only that, if a Lease is deleted on the way", func(ctx SpecContext) {
		w, train, pods := runsInLeases(ctx, oneLine(2, 10))
		w.Agents.ReportInLease(2, pods[0])
		w.Reaches(train, 1, 1)
		Expect(w.Client.Delete(ctx, LeaseOf(pods[0], 2))).To(Succeed())
		w.Settles(train)

		w.Agents.ReportInLease(2, pods[1])
		w.StaysAt(train, 1, 1)
		w.Agents.ReportInLease(2, pods[0])
		w.Reaches(train, 1, 2)

		Expect(w.Client.Delete(ctx, LeaseOf(pods[1], 2))).To(Succeed())
		w.StaysAt(train, 1, 2)
		w.HasCounted(train, Counters{InPlace: 1})
	})

	It("P150 P152: may mix, and an old report in one place hides no report in the other", func(ctx SpecContext) {
		w, train, pods := runsInLeases(ctx, oneLine(3, 10))
		w.Agents.Report(1, pods...) // as repeated for a manager that reads no Leases (P154)
		w.StaysAt(train, 0, 1)
		w.Agents.Report(2, pods[0]) // whose Lease was refused
		w.Reaches(train, 1, 1)
		w.Agents.ReportInLease(2, pods[1])
		w.Agents.ReportText("9", pods[2]) // of a status that was lost
		w.StaysAt(train, 1, 1)
		w.Agents.ReportInLease(2, pods[2])
		w.Reaches(train, 1, 2)
		w.Agents.ReportInLease(1, pods[0]) // late, from before
		w.StaysAt(train, 1, 2)
		w.HasCounted(train, Counters{InPlace: 1})
	})

	It("P151 P152: counts no Lease but that of a Pod of its own, which owns it alone", func(ctx SpecContext) {
		w, train, pods := runsInLeases(ctx, oneLine(2, 10))
		w.Agents.ReportInLease(2, pods[0])
		w.Reaches(train, 1, 1)
		another := LeaseOf(pods[1], 2)
		another.OwnerReferences[0].UID = "another"
		Expect(w.Client.Delete(ctx, LeaseOf(pods[1], 1))).To(Succeed())
		Expect(w.Client.Create(ctx, another)).To(Succeed())
		w.StaysAt(train, 1, 1)
		Expect(w.Client.Delete(ctx, another)).To(Succeed())

		shared := LeaseOf(pods[1], 2)
		shared.OwnerReferences = append(shared.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: pods[0].Name, UID: pods[0].UID})
		Expect(w.Client.Create(ctx, shared)).To(Succeed())
		w.StaysAt(train, 1, 1)
		Expect(w.Client.Delete(ctx, shared)).To(Succeed())

		named := LeaseOf(pods[1], 2)
		named.Name = "another"
		Expect(w.Client.Create(ctx, named)).To(Succeed())
		plain := LeaseOf(pods[1], 2)
		plain.Labels = nil
		Expect(w.Client.Create(ctx, plain)).To(Succeed())
		w.StaysAt(train, 1, 1)

		w.Agents.ReportInLease(2, pods[1])
		w.Reaches(train, 1, 2)
	})

	It("P153b: is not restarted, charged or lifted by what anybody may write to Leases while no policy guards them, and works by reports on Pods", func(ctx SpecContext) {
		w, train, pods := runsInLeases(ctx, oneLine(2, 10))
		w.Manager.Unguards(true)
		w.Agents.TellInLease(2, pods[1], exitWith(42, 1)) // by somebody else
		w.StaysAt(train, 0, 1)
		w.HasCounted(train, Counters{})

		w.Agents.Report(2, pods[0])
		w.Reaches(train, 1, 1)
		w.StaysAt(train, 1, 1) // the other has not reported
		w.Agents.Report(2, pods[1])
		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{InPlace: 1})

		w.Manager.Unguards(false)
		w.Agents.ReportInLease(3, pods[0])
		w.Reaches(train, 2, 2)
		w.Agents.ReportInLease(3, pods[1])
		w.Reaches(train, 2, 3)
	})

	It("P151 P45: takes a success from the Pod, and does not restart for what fails at the same time", func(ctx SpecContext) {
		js := oneLine(2, 10)
		js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, *js.Spec.ReplicatedJobs[0].DeepCopy())
		js.Spec.ReplicatedJobs[0].Name = "driver"
		one := int32(1)
		js.Spec.ReplicatedJobs[0].Template.Spec.Parallelism = &one
		js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAny, TargetReplicatedJobs: []string{"driver"}}
		w, train, pods := runsInLeases(ctx, js)
		driver, worker := pods[0], pods[1]
		Expect(driver.Labels).To(HaveKeyWithValue(jobset.ReplicatedJobNameKey, "driver"))

		w.Agents.Tell(1, driver, protocol.WorkerExit{Container: "worker", Epoch: 1, Done: true, Exit: protocol.Exit{Time: time.Now()}})
		w.Settles(train)
		w.Agents.TellInLease(2, worker, exitWith(1, 1)) // its peer is gone
		w.StaysAt(train, 0, 1)
		w.HasCounted(train, Counters{})
	})
})
