/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// In one container, since it takes a while until the API server asks other webhooks.
var _ = Describe("While all gates are off", Ordered, ContinueOnFailure, func() {
	var (
		// owner has what was admitted before.
		owner                        *user
		tolerant, ordinary, training *jobset.JobSet
		limited                      *jobset.JobSet
	)

	BeforeAll(func(ctx SpecContext) {
		owner = newUser(ctx)
		tolerant, ordinary = tolerates(nil), AB()
		tolerant.Name, ordinary.Name = "tolerant", "ordinary"
		limited = AB()
		limited.Name = "limited"
		lasts(5)(limited)
		suspends(limited)
		limited = owner.admits(limited)
		tolerant, ordinary, training = owner.admits(tolerant), owner.admits(ordinary), owner.admits(Training(2, 10))
		cluster.ServeWebhooks(GateOff)
		DeferCleanup(func() { cluster.ServeWebhooks(AllGatesOn) })
	})

	It("P80: a JobSet with faultTolerance is refused, and one that is stored may be edited, and lose it", func(ctx SpecContext) {
		owner.context = ctx
		const says = "cannot be set when FaultTolerance feature gate is disabled: start the manager with --feature-gates=FaultTolerance=true"
		ofWebhook(owner.refuses(tolerates(nil)), forbidden(toleranceField, says))
		ofWebhook(answer(owner.changes(ordinary, allFields(1))), forbidden(toleranceField, says))
		Expect(owner.changes(tolerant, func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) })).To(Succeed())
		Expect(owner.changes(tolerant, allFields(5))).To(Succeed())
		Expect(owner.Client.Get(ctx, client.ObjectKeyFromObject(tolerant), tolerant)).To(Succeed())
		Expect(tolerant.Spec.FaultTolerance.RetryPauseSeconds).To(HaveValue(BeEquivalentTo(5)), "it is kept")
		Expect(owner.changes(tolerant, func(js *jobset.JobSet) { js.Spec.FaultTolerance = nil })).To(Succeed())
		ofWebhook(answer(owner.changes(tolerant, allFields(1))), forbidden(toleranceField, says))
	})

	It("W143 W144: a deadline does not come, one that is stored may change, and resources do not", func(ctx SpecContext) {
		owner.context = ctx
		js := AB()
		lasts(5)(js)
		const says = "cannot be set when JobSetActiveDeadlineSeconds feature gate is disabled: start the manager with --feature-gates=JobSetActiveDeadlineSeconds=true"
		ofWebhook(owner.refuses(js), forbidden(deadlineField, says))
		Expect(owner.changes(limited, lasts(7))).To(Succeed())
		ofWebhook(answer(owner.changes(limited, needsCPU("1"))), invalid("spec.replicatedJobs", "--feature-gates=MutablePodResourcesForSuspendedJobSets=true"))
		Expect(owner.changes(limited, func(js *jobset.JobSet) { js.Spec.ActiveDeadlineSeconds = nil })).To(Succeed())
		ofWebhook(answer(owner.changes(limited, lasts(7))), forbidden(deadlineField, says))
	})

	It("W51 W136: admission says how to switch on restarts of single Jobs", func(ctx SpecContext) {
		js := AB()
		js.Spec.FailurePolicy = &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{{Name: "-", Action: jobset.RestartJob}}}

		status := newUser(ctx).refuses(js)

		ofWebhook(status, plain("failure policy actions are not allowed when RestartJob feature gate is disabled"))
		Expect(status.Message).To(ContainSubstring("--feature-gates=RestartJob=true"))
	})

	It("P40 W33 W135 W139: a JobSet that restarts in place is refused, by the webhook and not the schema, with how to switch it on", func(ctx SpecContext) {
		u := newUser(ctx)

		status := u.refuses(Training(2, 10))

		ofWebhook(status, invalid("spec.failurePolicy.restartStrategy",
			"InPlaceRestart cannot be set when InPlaceRestart feature gate is disabled"))
		Expect(status.Message).To(ContainSubstring("--feature-gates=InPlaceRestart=true"))
		u.admits(AB())
	})

	It("P40 W139: one that restarts in place and was admitted before can still be changed otherwise", func(ctx SpecContext) {
		owner.context = ctx
		Expect(owner.changes(training, func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) })).To(Succeed())
		Expect(owner.changes(training, func(js *jobset.JobSet) {
			js.Annotations = map[string]string{jobset.DisableInPlaceRestartKey: ""}
		})).To(Succeed())
	})

	It("P100: an elastic JobSet has no bounds", func(ctx SpecContext) {
		u := newUser(ctx)
		js := two()
		js.Spec.ReplicatedJobs[1].Elastic = &jobset.ElasticBounds{MinInstances: 2, MaxInstances: 4}
		ofWebhook(u.refuses(js), forbidden("spec.replicatedJobs[1].elastic", "--feature-gates=ElasticJobSet=true"))
	})

	It("O372 W79 W137: an elastic JobSet does not change at all", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(two())
		const job = "spec.replicatedJobs[1].template.spec"
		ofWebhook(answer(u.changes(js, resize(1, 4))),
			invalid("spec.replicatedJobs", "field is immutable, changed: "+job+".parallelism, "+job+".completions"))
	})
})
