/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("Admission of a new JobSet", func() {
	It("O361 O347 W32 W6: lets in one without ReplicatedJobs, with a warning", func(ctx SpecContext) {
		u := newUser(ctx)
		u.admits(JobSet("empty"))
		Expect(u.Warnings).To(ConsistOf(ContainSubstring("spec.replicatedJobs: is empty")))
		_, err := u.sends(bare(map[string]any{"replicatedJobs": []any{}}))
		Expect(err).NotTo(HaveOccurred())
	})

	It("O347 W25: lets in zero replicas and keeps the zero", func(ctx SpecContext) {
		spec := bare(nil)
		spec["replicatedJobs"].([]any)[0].(map[string]any)["replicas"] = int64(0)

		js, err := newUser(ctx).sends(spec)

		Expect(err).NotTo(HaveOccurred())
		Expect(js.Spec.ReplicatedJobs[0].Replicas).To(BeZero())
	})

	It("O345 W2 W3 W4 W5 W42 Q19: reports all violations in one answer of the API server", func(ctx SpecContext) {
		js := AB()
		js.Spec.ManagedBy = ptr.To("nobody")
		js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAll, TargetReplicatedJobs: []string{"x", "y"}}
		js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "z"}
		js.Spec.ReplicatedJobs[1].GroupName = "Not-A-Label"

		status := newUser(ctx).refuses(js)

		ofWebhook(status,
			invalid("spec.managedBy", "must be a domain-prefixed path"),
			plain("invalid replicatedJob name 'x' does not appear in .spec.ReplicatedJobs"),
			plain("invalid replicatedJob name 'y' does not appear in .spec.ReplicatedJobs"),
			plain("coordinator replicatedJob z does not exist"),
			invalid("spec.replicatedJobs[1].groupName", "a DNS-1035 label must consist of"))
		Expect(status.Details.Name).To(Equal("js"))
		Expect(status.Message).To(ContainSubstring(`"js" is invalid: [`))
		Expect(status.Message).To(ContainSubstring("<nil>: Internal error: coordinator replicatedJob z does not exist"))
	})

	DescribeTable("refuses",
		func(ctx SpecContext, spoil func(*jobset.JobSet), wanted ...cause) {
			js := AB()
			spoil(js)
			ofWebhook(newUser(ctx).refuses(js), wanted...)
		},
		Entry("O358 W34: dependsOn of the first ReplicatedJob", func(js *jobset.JobSet) {
			js.Spec.ReplicatedJobs[0].DependsOn = []jobset.DependsOn{{Name: "b", Status: jobset.DependencyComplete}}
		}, plain("DependsOn can't be set for the first ReplicatedJob"), plain("replicatedJob: a cannot depend on replicatedJob: b")),
		Entry("W47 Q6: dependsOn of itself", func(js *jobset.JobSet) {
			js.Spec.ReplicatedJobs[1].DependsOn = []jobset.DependsOn{{Name: "b", Status: jobset.DependencyReady}}
		}, plain("replicatedJob: b cannot depend on replicatedJob: b")),
		Entry("W35: a subdomain that is none", func(js *jobset.JobSet) {
			js.Spec.Network = &jobset.Network{Subdomain: "a_b"}
		}, invalid("spec.network.subdomain", "a lowercase RFC 1123 subdomain must consist of"), invalid("spec.network.subdomain", "a DNS-1035 label must consist of")),
		Entry("W37: an empty manager", func(js *jobset.JobSet) { js.Spec.ManagedBy = ptr.To("") }, required("spec.managedBy", "")),
		Entry("W39 W40: a manager with a wrong domain and a wrong path", func(js *jobset.JobSet) { js.Spec.ManagedBy = ptr.To("A/b c") },
			invalid("spec.managedBy", "a lowercase RFC 1123 subdomain must consist of"), invalid("spec.managedBy", "Invalid path")),
		Entry("W44: a group that is no label", func(js *jobset.JobSet) {
			js.Spec.ReplicatedJobs[1].GroupName = strings.Repeat("g", 64)
		}, invalid("spec.replicatedJobs[1].groupName", ".spec.replicatedJob[].groupName is too long, must be less than 63 characters")),
		Entry("Q12: a name without ReplicatedJobs that its Service cannot have", func(js *jobset.JobSet) {
			js.Name, js.Spec.ReplicatedJobs = "1js", nil
		}, invalid("metadata.name", "a DNS-1035 label must consist of")),
		Entry("W52 Q38: a restart of single Jobs of which there are more than can be counted", func(js *jobset.JobSet) {
			js.Spec.ReplicatedJobs[1].Replicas = 1025
			js.Spec.FailurePolicy = &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{
				{Name: "few", Action: jobset.RestartJob, TargetReplicatedJobs: []string{"a"}},
				{Name: "many", Action: jobset.RestartJob, TargetReplicatedJobs: []string{"b"}}}}
		}, plain("a replicated job with replicas > 1024: rule 'many' applies to replicatedJob 'b'")),
		Entry("W59: a coordinator in no ReplicatedJob", func(js *jobset.JobSet) {
			js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "z"}
		}, plain("coordinator replicatedJob z does not exist")),
		Entry("Q21: a pattern that matches nothing since it is none", func(js *jobset.JobSet) {
			js.Spec.FailurePolicy = &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{
				{Name: "r", Action: jobset.FailJobSet, OnJobFailureMessagePatterns: []string{"("}}}}
		}, invalid("spec.failurePolicy.rules[0].onJobFailureMessagePatterns[0]", "must be a regular expression in RE2 syntax")),
		Entry("Q25: exclusive placement by affinity without indexes", func(js *jobset.JobSet) {
			js.Annotations = map[string]string{jobset.ExclusiveKey: "rack"}
			JobTemplate(js, 1).CompletionMode = ptr.To(batchv1.NonIndexedCompletion)
		}, invalid("spec.replicatedJobs[1].template.spec.completionMode", "must be Indexed with exclusive placement")),
		Entry("Q27: exclusive placement by what no node label can be", func(js *jobset.JobSet) {
			js.Annotations = map[string]string{jobset.ExclusiveKey: "the rack"}
			js.Spec.ReplicatedJobs[0].Template.Annotations = map[string]string{jobset.ExclusiveKey: ""}
		}, invalid("metadata.annotations["+jobset.ExclusiveKey+"]", "must be the key of a node label"),
			invalid("spec.replicatedJobs[0].template.metadata.annotations["+jobset.ExclusiveKey+"]", "must be the key of a node label")),
		Entry("Q26: labels that no Pod can have", func(js *jobset.JobSet) {
			PodTemplate(js, 0).Labels = map[string]string{"a": "b c"}
		}, invalid("spec.replicatedJobs[0].template.spec.template.metadata.labels", "a valid label must be")),
		Entry("Q26: parallelism of an Indexed Job without completions", func(js *jobset.JobSet) { JobTemplate(js, 1).Completions = nil },
			required("spec.replicatedJobs[1].template.spec.completions", "set completions: 1")),
		Entry("Q26: podFailurePolicy with the default restartPolicy", func(js *jobset.JobSet) {
			PodTemplate(js, 0).Spec.RestartPolicy = ""
			JobTemplate(js, 0).PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{}}
		}, invalid("spec.replicatedJobs[0].template.spec.template.spec.restartPolicy", "set Never")),
		Entry("W36: a subdomain that is no label", func(js *jobset.JobSet) {
			js.Spec.Network = &jobset.Network{Subdomain: "1.b"}
		}, invalid("spec.network.subdomain", "a DNS-1035 label must consist of")),
		Entry("W36: a subdomain of 64 characters", func(js *jobset.JobSet) {
			js.Spec.Network = &jobset.Network{Subdomain: strings.Repeat("a", 64)}
		}, invalid("spec.network.subdomain", ".spec.network.subdomain is too long")),
		Entry("W38 W41: a manager that is no path and too long", func(js *jobset.JobSet) {
			js.Spec.ManagedBy = ptr.To(strings.Repeat("m", 64))
		}, invalid("spec.managedBy", "must be a domain-prefixed path"), cause{"spec.managedBy", "FieldValueTooLong", "may not be more than 63 bytes"}),
		Entry("W43: more Pods than 32 bits count", func(js *jobset.JobSet) {
			js.Spec.ReplicatedJobs[1].Replicas = 2
			JobTemplate(js, 1).Completions, JobTemplate(js, 1).Parallelism = ptr.To[int32](1<<30), ptr.To[int32](1<<30)
		}, plain("the product of replicas and parallelism must not exceed 2147483647 for replicatedJob 'b'")),
		Entry("W45 W46: a name of 62 characters", func(js *jobset.JobSet) {
			js.Name = strings.Repeat("j", 62)
		}, invalid("spec.replicatedJobs[0].name", "job names generated for this JobSet will exceed 63 characters"),
			invalid("spec.replicatedJobs[0].name", "pod names generated for this JobSet will exceed 63 characters"),
			invalid("spec.replicatedJobs[1].name", "job names generated for this JobSet will exceed 63 characters"),
			invalid("spec.replicatedJobs[1].name", "pod names generated for this JobSet will exceed 63 characters")),
		Entry("W45: a name with a dot", func(js *jobset.JobSet) {
			js.Name = "j.s"
			js.Spec.ReplicatedJobs = js.Spec.ReplicatedJobs[:1]
			JobTemplate(js, 0).CompletionMode = ptr.To(batchv1.NonIndexedCompletion)
		}, invalid("spec.replicatedJobs[0].name", "a DNS-1035 label must consist of")),
		Entry("W54 W55 W56 W57: rules that make no sense", func(js *jobset.JobSet) {
			r := jobset.FailurePolicyRule{Name: "-", Action: jobset.FailJobSet}
			other := r
			other.TargetReplicatedJobs, other.OnJobFailureReasons = []string{"x"}, []string{"Boredom"}
			js.Spec.FailurePolicy = &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{r, other}}
		}, plain("invalid failure policy rule name '-'"), plain("invalid failure policy rule name '-'"),
			plain("invalid replicatedJob name 'x' in failure policy does not appear in .spec.ReplicatedJobs"),
			plain("invalid job failure reason 'Boredom' in failure policy is not a recognized job failure reason"),
			plain("rule names are not unique, rules with indices [0 1] all have the same name '-'")),
		Entry("W53: a rule name of 129 characters", func(js *jobset.JobSet) {
			js.Spec.FailurePolicy = &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{{Name: strings.Repeat("r", 129), Action: jobset.FailJobSet}}}
		}, plain("invalid failure policy rule name of length 129")),
		Entry("W60: a coordinator beyond the last Job", func(js *jobset.JobSet) {
			js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "b", JobIndex: 3}
		}, plain("coordinator job index 3 is invalid for replicatedJob b")),
		Entry("W61: a coordinator without an index", func(js *jobset.JobSet) {
			js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "a"}
			JobTemplate(js, 0).CompletionMode = ptr.To(batchv1.NonIndexedCompletion)
		}, plain("job for coordinator pod must be indexed completion mode")),
		Entry("W62: a coordinator beyond the last Pod", func(js *jobset.JobSet) {
			js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "b", PodIndex: 1}
		}, plain("coordinator pod index 1 is invalid for replicatedJob b job index 0")),
		Entry("O362 W63: a coordinator whose address is no label", func(js *jobset.JobSet) {
			js.Name = strings.Repeat("j", 40)
			js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "a"}
		}, plain("spec will lead to invalid label value")),
		Entry("Q22: a negative maxRestarts", func(js *jobset.JobSet) {
			js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: -1}
		}, invalid("spec.failurePolicy.maxRestarts", "must be >= 0")),
		Entry("Q26: restartPolicy Always", func(js *jobset.JobSet) {
			PodTemplate(js, 0).Spec.RestartPolicy = corev1.RestartPolicyAlways
		}, invalid("spec.replicatedJobs[0].template.spec.template.spec.restartPolicy", "a Job cannot have restartPolicy Always")),
	)

	DescribeTable("lets in",
		func(ctx SpecContext, ask func(*jobset.JobSet)) {
			js := AB()
			ask(js)
			u := newUser(ctx)
			u.admits(js)
			Expect(u.Warnings).To(BeEmpty())
		},
		Entry("startup order InOrder", func(js *jobset.JobSet) {
			js.Spec.StartupPolicy = &jobset.StartupPolicy{StartupPolicyOrder: jobset.InOrder}
		}),
		Entry("O356 W22: dependsOn together with AnyOrder", func(js *jobset.JobSet) {
			js.Spec.StartupPolicy = &jobset.StartupPolicy{StartupPolicyOrder: jobset.AnyOrder}
			js.Spec.ReplicatedJobs[1].DependsOn = []jobset.DependsOn{{Name: "a", Status: jobset.DependencyComplete}}
		}),
		Entry("W51 W136: restarts of single Jobs, their gate being on", func(js *jobset.JobSet) {
			js.Spec.ReplicatedJobs[1].Replicas = 1024
			js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 3, Rules: []jobset.FailurePolicyRule{
				{Name: "a", Action: jobset.RestartJob}, {Name: "b", Action: jobset.RestartJobAndIgnoreMaxRestarts}}}
		}),
		Entry("W58: any maxRestarts from zero, and patterns that compile", func(js *jobset.JobSet) {
			js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 1<<31 - 1, Rules: []jobset.FailurePolicyRule{
				{Name: "a", Action: jobset.FailJobSet, OnJobFailureMessagePatterns: []string{"^exit (1|2)$"}}}}
		}),
		Entry("Q25: exclusive placement by affinity", func(js *jobset.JobSet) {
			js.Annotations = map[string]string{jobset.ExclusiveKey: "topology.kubernetes.io/rack"}
		}),
		Entry("Q25: exclusive placement on nodes labelled beforehand, without indexes", func(js *jobset.JobSet) {
			js.Annotations = map[string]string{jobset.ExclusiveKey: "rack", jobset.NodeSelectorStrategyKey: "true"}
			JobTemplate(js, 1).CompletionMode = ptr.To(batchv1.NonIndexedCompletion)
		}),
	)

	It("W51 W136: says how to switch on restarts of single Jobs, while their gate is off", Serial, func(ctx SpecContext) {
		turnGatesOff()
		js := AB()
		js.Spec.FailurePolicy = &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{{Name: "-", Action: jobset.RestartJob}}}

		status := newUser(ctx).refuses(js)

		ofWebhook(status, plain("failure policy actions are not allowed when RestartJob feature gate is disabled"))
		Expect(status.Message).To(ContainSubstring("--feature-gates=RestartJob=true"))
	})

	It("W99: never asks about a deletion", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(AB())
		Expect(u.Client.Delete(ctx, js)).To(Succeed())
	})

	It("W6: lets an ordinary JobSet in without warnings", func(ctx SpecContext) {
		u := newUser(ctx)
		u.admits(AB())
		Expect(u.Warnings).To(BeEmpty())
	})

	It("W63 W36: lets in names that just fit", func(ctx SpecContext) {
		u := newUser(ctx)
		js := AB()
		js.Spec.Network = &jobset.Network{Subdomain: strings.Repeat("s", 63)}
		js.Name = strings.Repeat("j", 63-len("-a-0-0-abcde"))
		u.admits(js)
	})
})
