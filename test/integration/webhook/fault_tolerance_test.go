/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

const toleranceField = "spec.faultTolerance"

// allFields sets every field of spec.faultTolerance to a value.
func allFields(value int32) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		v := &value
		js.Spec.FaultTolerance = &jobset.FaultTolerance{
			AdmissionGracePeriodSeconds: v, WarmupGracePeriodSeconds: v, FailureGracePeriodSeconds: v, RetryPauseSeconds: v, RetryLimit: v,
			DeletionOnFailureGracePeriodSeconds: v, ForcefulDeletionGracePeriodSeconds: v, SuccessTTLSeconds: v,
		}
	}
}

// tolerates is a JobSet that tolerates faults.
func tolerates(change func(*jobset.JobSet)) *jobset.JobSet {
	js := AB()
	js.Spec.FaultTolerance = &jobset.FaultTolerance{}
	if change != nil {
		change(js)
	}
	return js
}

var _ = Describe("A JobSet with faultTolerance", func() {
	withPolicy := func(js *jobset.JobSet) { js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 2} }
	limited := func(js *jobset.JobSet) {
		withPolicy(js)
		js.Spec.FaultTolerance.RetryLimit = ptr.To[int32](5)
	}
	const twoLimits = "must not be set together with failurePolicy, whose maxRestarts is the same limit and is 2: remove retryLimit, " +
		"and set spec.failurePolicy.maxRestarts to the number of restarts allowed"

	It("P80-P88: is stored as it was written, and nothing is filled in", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(tolerates(nil))
		Expect(js.Spec.FaultTolerance).To(HaveValue(Equal(jobset.FaultTolerance{})))
		Expect(u.Warnings).To(BeEmpty())
	})

	DescribeTable("P80-P88: may change every field, get it and lose it at any time",
		func(ctx SpecContext, status jobset.JobSetStatus, suspend bool) {
			u := newUser(ctx)
			js := tolerates(nil)
			js.Spec.Suspend = &suspend
			js = u.admits(js)
			js.Status = status
			Expect(u.Client.Status().Update(ctx, js)).To(Succeed())
			for _, change := range []func(*jobset.JobSet){
				allFields(7), allFields(8),
				func(js *jobset.JobSet) { js.Spec.FaultTolerance = nil },
				allFields(9),
			} {
				want := js.DeepCopy()
				change(want)
				Expect(u.changes(js, change)).To(Succeed())
				Expect(u.Client.Get(ctx, client.ObjectKeyFromObject(js), js)).To(Succeed())
				Expect(js.Spec.FaultTolerance).To(Equal(want.Spec.FaultTolerance))
			}
			Expect(u.Warnings).To(BeEmpty())
		},
		Entry("while it runs", jobset.JobSetStatus{}, false),
		Entry("while it is suspended", jobset.JobSetStatus{}, true),
		Entry("in the pause after a reset", jobset.JobSetStatus{Restarts: 1, FaultTolerance: &jobset.FaultToleranceStatus{
			MaxRestarts: 3, Reset: &jobset.ResetStatus{StartTime: metav1.Now(), JobsGoneTime: ptr.To(metav1.Now())},
		}}, false),
		Entry("once it has failed", jobset.JobSetStatus{TerminalState: string(jobset.JobSetFailed), Conditions: []metav1.Condition{
			{Type: string(jobset.JobSetFailed), Status: metav1.ConditionTrue, Reason: "Told", LastTransitionTime: metav1.Now()},
		}}, false),
	)

	It("P83: is told of a time that is cut down, when it is created and when it changes", func(ctx SpecContext) {
		const asked = 24*60*60 + 1
		const says = " is more than the manager's configuration faultTolerance.gracePeriodMaximum allows, and counts as 24h0m0s"
		u := newUser(ctx)
		js := u.admits(tolerates(func(js *jobset.JobSet) { js.Spec.FaultTolerance.RetryPauseSeconds = ptr.To[int32](asked) }))
		Expect(u.Warnings).To(ConsistOf(toleranceField + ".retryPauseSeconds: 24h0m1s" + says))

		u.Warnings = nil
		Expect(u.changes(js, func(js *jobset.JobSet) { js.Labels = map[string]string{"edited": "otherwise"} })).To(Succeed())
		Expect(u.Warnings).To(BeEmpty(), "what was told already")
		Expect(u.changes(js, allFields(asked))).To(Succeed())
		var want []any
		for _, field := range []string{"admissionGracePeriodSeconds", "warmupGracePeriodSeconds", "failureGracePeriodSeconds", "retryPauseSeconds",
			"deletionOnFailureGracePeriodSeconds", "forcefulDeletionGracePeriodSeconds"} {
			want = append(want, toleranceField+"."+field+": 24h0m1s"+says)
		}
		Expect(u.Warnings).To(ConsistOf(want...), "successTTLSeconds may be up to its default of 7 days, and retryLimit is no time")
	})

	It("P82: may not have two limits, when it is created and when it changes", func(ctx SpecContext) {
		u := newUser(ctx)
		ofWebhook(u.refuses(tolerates(limited)), forbidden(toleranceField+".retryLimit", twoLimits))
		js := u.admits(tolerates(withPolicy))
		ofWebhook(answer(u.changes(js, limited)), forbidden(toleranceField+".retryLimit", twoLimits))
	})

	It("P82: is told if the limit of its failure policy allows no reset", func(ctx SpecContext) {
		u := newUser(ctx)
		u.admits(tolerates(func(js *jobset.JobSet) { js.Spec.FailurePolicy = &jobset.FailurePolicy{} }))
		Expect(u.Warnings).To(ConsistOf(HavePrefix("spec.failurePolicy.maxRestarts: is 0")))
	})

	It("P93a: gets Pods, though it avoids a node whose name is too long for a label", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(tolerates(func(js *jobset.JobSet) {
			js.Spec.FaultTolerance.AvoidNodes = &jobset.AvoidNodes{Failures: 1}
		}))
		long, now := strings.Repeat("n", 64)+".example.com", metav1.Now()
		js.Status.FaultTolerance = &jobset.FaultToleranceStatus{NodeFailures: []jobset.NodeFailures{{Node: long, Times: []metav1.Time{now}, AvoidedSince: &now}}}
		Expect(u.Client.Status().Update(ctx, js)).To(Succeed())
		away := corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpNotIn, Values: []string{long}}
		Eventually(func(g Gomega) { // the webhook reads from a cache
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: u.Space, GenerateName: "p-", Labels: map[string]string{
				jobset.JobSetNameKey: js.Name, jobset.JobSetUIDKey: string(js.UID),
			}}}
			pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "image"}}
			g.Expect(u.Client.Create(ctx, pod)).To(Succeed())
			g.Expect(pod.Spec.Affinity).NotTo(BeNil())
			g.Expect(pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms).To(
				ConsistOf(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{away}}))
		}).WithContext(ctx).Should(Succeed())
	})

	It("P93: has defaults for nodes to avoid, and may not count more than the status keeps", func(ctx SpecContext) {
		avoids := func(asked jobset.AvoidNodes) func(*jobset.JobSet) {
			return func(js *jobset.JobSet) { js.Spec.FaultTolerance.AvoidNodes = &asked }
		}
		js := newUser(ctx).admits(tolerates(avoids(jobset.AvoidNodes{})))
		Expect(js.Spec.FaultTolerance.AvoidNodes).To(HaveValue(Equal(jobset.AvoidNodes{Failures: 3, WithinSeconds: 86400})))
		ofSchema(newUser(ctx).refuses(tolerates(avoids(jobset.AvoidNodes{Failures: 11}))), toleranceField+".avoidNodes.failures", "should be less than or equal to 10")
		ofSchema(newUser(ctx).refuses(tolerates(avoids(jobset.AvoidNodes{WithinSeconds: -1}))), toleranceField+".avoidNodes.withinSeconds", "should be greater than or equal to 1")
	})

	DescribeTable("P80 P85: may not have", func(ctx SpecContext, value int32, field, text string) {
		ofSchema(newUser(ctx).refuses(tolerates(allFields(value))), toleranceField+"."+field, text)
	},
		Entry("a time of less than nothing", int32(-1), "retryPauseSeconds", "should be greater than or equal to 0"),
		Entry("no time to stop in before it is deleted by force", int32(0), "forcefulDeletionGracePeriodSeconds", "should be greater than or equal to 1"),
		Entry("no time to start in", int32(0), "warmupGracePeriodSeconds", "should be greater than or equal to 1"),
	)
})
