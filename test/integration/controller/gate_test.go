/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("The feature gate InPlaceRestart", func() {
	const disabled = jobset.JobSetInPlaceRestartDisabled

	It("P20: switched off, frees the agents by one condition and moves no epoch", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))

		w.StartManager(WithGates(GateOff))

		w.Has(train, disabled, metav1.ConditionTrue, "FeatureGateDisabled")
		w.Agents.Report(2, pods...)
		w.Kubelet.Removes(pods[0])
		w.StaysUntouched(train)
		w.Reaches(train, 0, 1)
		w.HasCounted(train, Counters{})
		Expect(w.Manager.Made(AJobSetStatus())).To(HaveLen(1), "the condition is written once")
		w.Records(train, 0, "FeatureGateDisabled")
	})

	It("P20: coming back, says so before anything else and then watches again", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, pods := w.RunningGroup(Training(2, 10))
		w.StartManager(WithGates(GateOff))
		w.Has(train, disabled, metav1.ConditionTrue, "")
		w.Agents.Report(2, pods[0])

		w.StartManager()

		w.Has(train, disabled, metav1.ConditionFalse, "FeatureGateEnabled")
		w.Reaches(train, 2, 2)
		writes := w.Manager.Made(AJobSetStatus())
		first := writes[0].Object.(*jobset.JobSet).Status
		Expect([]*int32{first.DeprecatedEpoch, first.SyncedEpoch}).To(HaveEach(HaveValue(BeEquivalentTo(2))), "P34b: the write that says so spends an epoch")
		w.HasCounted(train, Counters{})
		Expect(first.Conditions).To(ContainElement(And(HaveField("Type", string(disabled)), HaveField("Status", metav1.ConditionFalse))))
	})

	It("P20: off, restarts the whole JobSet when a Job fails, as Recreate does", func(ctx SpecContext) {
		w := newWorld(ctx)
		train, _ := w.RunningGroup(Training(2, 10))
		w.StartManager(WithGates(GateOff))

		w.JobController.Fails(w.Job(train, "workers", 0), "BackoffLimitExceeded", "")

		w.Counts(train, Counters{Restarts: 1, CountTowardsMax: 1})
		w.JobController.CollectsAll(train, 1)
		w.HasJobs(train, 1)
		w.Reaches(train, 0, 1)
	})
})
