/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// oneLine is all that is written to restart in place.
const oneLine = `
failurePolicy:
  restartStrategy: InPlaceRestart
  maxRestarts: 10
replicatedJobs:
- name: workers
  replicas: 2
  template: {spec: {template: {spec: {containers: [{name: worker, image: worker, command: [train]}]}}}}
`

// written returns a manifest with more lines in its failure policy.
func written(inFailurePolicy map[string]any) map[string]any {
	GinkgoHelper()
	spec := map[string]any{}
	Expect(yaml.Unmarshal([]byte(oneLine), &spec)).To(Succeed())
	policy, _ := spec["failurePolicy"].(map[string]any)
	for key, value := range inFailurePolicy {
		policy[key] = value
	}
	return spec
}

// recreating has codes for a new Pod.
func recreating(codes ...any) map[string]any {
	return map[string]any{"inPlaceRestart": map[string]any{"recreatePodOnExitCodes": codes}}
}

var _ = Describe("One line to restart in place", func() {
	It("P50 P51: is admitted without a warning, gets the defaults, and stays what its author wrote", func(ctx SpecContext) {
		u := newUser(ctx)
		js, err := u.sends(written(nil))
		Expect(err).NotTo(HaveOccurred())

		Expect(u.Warnings).To(BeEmpty())
		job := JobTemplate(js, 0)
		Expect(job.BackoffLimit).To(HaveValue(BeEquivalentTo(2147483647)))
		Expect(job.PodReplacementPolicy).To(HaveValue(Equal(batchv1.Failed)))
		Expect(job.CompletionMode).To(HaveValue(Equal(batchv1.IndexedCompletion)))
		Expect(job.Completions).To(HaveValue(BeEquivalentTo(1)))
		Expect(job.Parallelism).To(HaveValue(BeEquivalentTo(1)))
		pod := PodTemplate(js, 0).Spec
		Expect(pod.RestartPolicy).To(Equal(corev1.RestartPolicyNever))
		Expect(pod.InitContainers).To(BeEmpty())
		Expect(pod.Volumes).To(BeEmpty())
		Expect(pod.Containers[0].RestartPolicyRules).To(BeEmpty())
	})

	It("P51: is replaced by the original manifest, which is no change", func(ctx SpecContext) {
		u := newUser(ctx)
		js, err := u.sends(written(map[string]any{"rules": []any{map[string]any{"action": "FailJobSet"}}}))
		Expect(err).NotTo(HaveOccurred())

		Expect(u.replaces(written(map[string]any{"rules": []any{map[string]any{"action": "FailJobSet"}}}))).To(Succeed())

		after := &jobset.JobSet{}
		Expect(u.Client.Get(ctx, client.ObjectKeyFromObject(js), after)).To(Succeed())
		Expect(after.Spec).To(Equal(js.Spec))
		Expect(after.Generation).To(Equal(js.Generation))
	})

	It("P51: contradictions are refused with their paths, also by a replacement", func(ctx SpecContext) {
		u := newUser(ctx)
		js := JobSet("js", Replicated("workers", 1, 2))
		js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 10, RestartStrategy: jobset.InPlaceRestart}
		JobTemplate(js, 0).Parallelism, JobTemplate(js, 0).BackoffLimit = ptr.To[int32](3), ptr.To[int32](6)
		ofWebhook(u.refuses(js), invalid(jobPath+"completions", "must be set and equal"), invalid(jobPath+"backoffLimit", "must be set to 2147483647"))

		_, err := u.sends(written(nil))
		Expect(err).NotTo(HaveOccurred())
		spec := written(map[string]any{"maxRestarts": 11})
		Expect(u.replaces(spec)).To(MatchError(ContainSubstring("spec.failurePolicy: Invalid value: Value is immutable")))
	})

	It("P51: warns if nothing would ever restart", func(ctx SpecContext) {
		u := newUser(ctx)
		_, err := u.sends(written(map[string]any{"maxRestarts": nil}))
		Expect(err).NotTo(HaveOccurred())

		Expect(u.Warnings).To(ConsistOf(ContainSubstring("spec.failurePolicy.maxRestarts: is 0")))
	})

	DescribeTable("P53: refuses codes for a new Pod", func(ctx SpecContext, more map[string]any, says string) {
		_, err := newUser(ctx).sends(written(more))

		Expect(err).To(MatchError(ContainSubstring(says)))
	},
		Entry("0", recreating(0), "spec.failurePolicy.inPlaceRestart.recreatePodOnExitCodes[0]: Invalid value: 0: spec.failurePolicy.inPlaceRestart.recreatePodOnExitCodes[0] in body should be greater than or equal to 1"),
		Entry("256", recreating(42, 256), "spec.failurePolicy.inPlaceRestart.recreatePodOnExitCodes[1] in body should be less than or equal to 255"),
		Entry("one twice", recreating(42, 42), "spec.failurePolicy.inPlaceRestart.recreatePodOnExitCodes[1]: Duplicate value: 42"),
		Entry("too many", recreating(upTo(201)...), "spec.failurePolicy.inPlaceRestart.recreatePodOnExitCodes: Too many: 201: must have at most 200 items"),
		Entry("of another strategy", map[string]any{"restartStrategy": "Recreate", "inPlaceRestart": map[string]any{}}, "inPlaceRestart is read only if restartStrategy is InPlaceRestart"),
	)

	It("P53: takes 200 codes", func(ctx SpecContext) {
		_, err := newUser(ctx).sends(written(recreating(upTo(200)...)))
		Expect(err).NotTo(HaveOccurred())
	})

})

func upTo(count int) []any {
	var codes []any
	for code := 1; code <= count; code++ {
		codes = append(codes, int64(code))
	}
	return codes
}
