/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// claims are this many volume claim templates.
func claims(count int, template map[string]any) []any {
	list := make([]any, count)
	for i := range list {
		list[i] = template
	}
	return list
}

func nameless() map[string]any {
	spec := bare(nil)
	delete(spec["replicatedJobs"].([]any)[0].(map[string]any), "name")
	return spec
}

var _ = Describe("The schema", func() {
	secondJob := func(fields map[string]any) map[string]any {
		spec := bare(nil)
		jobs := spec["replicatedJobs"].([]any)
		second := map[string]any{"name": "b"}
		for key, value := range jobs[0].(map[string]any) {
			if key != "name" {
				second[key] = value
			}
		}
		for key, value := range fields {
			second[key] = value
		}
		spec["replicatedJobs"] = append(jobs, second)
		return spec
	}
	dependsOn := func(items ...any) map[string]any { return secondJob(map[string]any{"dependsOn": items}) }
	on := func(name, status string) map[string]any { return map[string]any{"name": name, "status": status} }

	DescribeTable("refuses, before any webhook is asked,",
		func(ctx SpecContext, spec map[string]any, path, text string) {
			_, err := newUser(ctx).sends(spec)
			ofSchema(answer(err), path, text)
		},
		Entry("C153 O357 S1 W22: InOrder together with dependsOn", func() map[string]any {
			spec := dependsOn(on("a", "Ready"))
			spec["startupPolicy"] = map[string]any{"startupPolicyOrder": "InOrder"}
			return spec
		}(), "spec", "StartupPolicy and DependsOn APIs are mutually exclusive"),
		Entry("O359 W23: a dependency on another status", dependsOn(on("a", "Failed")), "dependsOn[0].status", `supported values: "Ready", "Complete"`),
		Entry("S6 W24: six dependencies", dependsOn(on("a", "Ready"), on("c", "Ready"), on("d", "Ready"), on("e", "Ready"), on("f", "Ready"), on("g", "Ready")),
			"spec.replicatedJobs[1].dependsOn", "must have at most 5 items"),
		Entry("S11 W24: the same dependency twice", dependsOn(on("a", "Ready"), on("a", "Complete")), "dependsOn[1]", "Duplicate value"),
		Entry("O346 S5 W25: negative replicas", secondJob(map[string]any{"replicas": int64(-1)}), "spec.replicatedJobs[1].replicas", "greater than or equal to 0"),
		Entry("S11 W26: a name twice", secondJob(map[string]any{"name": "a"}), "spec.replicatedJobs[1]", "Duplicate value"),
		Entry("W27: an unknown operator", bare(map[string]any{"successPolicy": map[string]any{"operator": "Most"}}), "spec.successPolicy.operator", `supported values: "All", "Any"`),
		Entry("W27: an unknown order", bare(map[string]any{"startupPolicy": map[string]any{"startupPolicyOrder": "Backwards"}}), "startupPolicyOrder", "Unsupported value"),
		Entry("W27: an unknown restart strategy", bare(map[string]any{"failurePolicy": map[string]any{"restartStrategy": "Pray"}}), "spec.failurePolicy.restartStrategy", `"InPlaceRestart"`),
		Entry("W27: an unknown action", bare(map[string]any{"failurePolicy": map[string]any{"rules": []any{map[string]any{"action": "Ignore"}}}}),
			"spec.failurePolicy.rules[0].action", "Unsupported value"),
		Entry("W27: an unknown retention", bare(map[string]any{"volumeClaimPolicies": []any{map[string]any{"retentionPolicy": map[string]any{"whenDeleted": "Archive"}}}}),
			"spec.volumeClaimPolicies[0].retentionPolicy.whenDeleted", `supported values: "Delete", "Retain"`),
		Entry("S4 W28: a negative time to live", bare(map[string]any{"ttlSecondsAfterFinished": int64(-1)}), "spec.ttlSecondsAfterFinished", "greater than or equal to 0"),
		Entry("O366 S7 W29: 51 policies", bare(map[string]any{"volumeClaimPolicies": claims(51, map[string]any{})}), "spec.volumeClaimPolicies", "must have at most 50 items"),
		Entry("O367 S7 W29: 51 templates", bare(map[string]any{"volumeClaimPolicies": []any{map[string]any{"templates": claims(51, map[string]any{})}}}),
			"spec.volumeClaimPolicies[0].templates", "must have at most 50 items"),
		Entry("O365 S3 W30: a claim with a namespace", bare(map[string]any{"volumeClaimPolicies": []any{
			map[string]any{"templates": claims(1, map[string]any{"metadata": map[string]any{"namespace": "elsewhere"}})}}}),
			"spec.volumeClaimPolicies[0]", "namespace cannot be set for VolumeClaimPolicies templates"),
	)

	// On creation the defaults come first, and they write out what is missing as empty.
	DescribeTable("W31: wants, of what an update writes,",
		func(ctx SpecContext, patch, path string) {
			u := newUser(ctx)
			js := AB()
			js.Spec.FailurePolicy = &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{{Name: "r", Action: jobset.FailJobSet}}}
			js = u.admits(js)

			err := u.Client.Patch(ctx, js, client.RawPatch(types.JSONPatchType, []byte(patch)))

			ofSchema(answer(err), path, "Required value")
		},
		Entry("the name of a ReplicatedJob", `[{"op":"remove","path":"/spec/replicatedJobs/0/name"}]`, "spec.replicatedJobs[0].name"),
		Entry("the template of a ReplicatedJob", `[{"op":"remove","path":"/spec/replicatedJobs/0/template"}]`, "spec.replicatedJobs[0].template"),
		Entry("the action of a rule", `[{"op":"remove","path":"/spec/failurePolicy/rules/0/action"}]`, "spec.failurePolicy.rules[0].action"),
		Entry("the operator of the success policy", `[{"op":"remove","path":"/spec/successPolicy/operator"}]`, "spec.successPolicy.operator"),
		Entry("the ReplicatedJob of a coordinator", `[{"op":"add","path":"/spec/coordinator","value":{}}]`, "spec.coordinator.replicatedJob"),
	)

	DescribeTable("W31: refuses on creation as well",
		func(ctx SpecContext, spec map[string]any, text string) {
			_, err := newUser(ctx).sends(spec)
			Expect(answer(err).Message).To(ContainSubstring(text))
		},
		Entry("a ReplicatedJob without a name", nameless(), "spec.replicatedJobs[0].name: Required value"),
		Entry("a ReplicatedJob without a template", bare(map[string]any{"replicatedJobs": []any{map[string]any{"name": "a"}}}), "spec.replicatedJobs[0].template.spec.template.spec.containers"),
		Entry("a rule without an action", bare(map[string]any{"failurePolicy": map[string]any{"rules": []any{map[string]any{"name": "r"}}}}), "spec.failurePolicy.rules[0].action"),
		Entry("a coordinator without a ReplicatedJob", bare(map[string]any{"coordinator": map[string]any{}}), "coordinator replicatedJob  does not exist"),
	)

	It("W1: is asked after the defaults are in, and speaks alone", func(ctx SpecContext) {
		_, err := newUser(ctx).sends(bare(map[string]any{
			"failurePolicy":           map[string]any{"rules": []any{map[string]any{"action": "FailJobSet"}}}, // whose name is required
			"ttlSecondsAfterFinished": int64(-1),
			"managedBy":               "nobody", // which the webhook would refuse
		}))
		status := answer(err)
		ofSchema(status, "spec.ttlSecondsAfterFinished", "greater than or equal to 0")
		Expect(status.Message).NotTo(Or(ContainSubstring("rules"), ContainSubstring("managedBy")))
	})

	DescribeTable("lets pass",
		func(ctx SpecContext, spec map[string]any) {
			_, err := newUser(ctx).sends(spec)
			Expect(err).NotTo(HaveOccurred())
		},
		Entry("S1 Q15: InOrder and no ReplicatedJobs at all", map[string]any{"startupPolicy": map[string]any{"startupPolicyOrder": "InOrder"}}),
		Entry("S1 Q7 W34: InOrder and a dependsOn that is empty, in the first ReplicatedJob too", func() map[string]any {
			spec := dependsOn()
			spec["replicatedJobs"].([]any)[0].(map[string]any)["dependsOn"] = []any{}
			spec["startupPolicy"] = map[string]any{"startupPolicyOrder": "InOrder"}
			return spec
		}()),
		Entry("O356 W22: AnyOrder and dependsOn", func() map[string]any {
			spec := dependsOn(on("a", "Ready"))
			spec["startupPolicy"] = map[string]any{"startupPolicyOrder": "AnyOrder"}
			return spec
		}()),
		Entry("S6 W24: five dependencies", func() map[string]any {
			spec := bare(nil)
			var jobs, all []any
			for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
				job := map[string]any{"name": name, "template": spec["replicatedJobs"].([]any)[0].(map[string]any)["template"], "dependsOn": all}
				jobs, all = append(jobs, job), append(all, on(name, "Complete"))
			}
			spec["replicatedJobs"] = jobs
			return spec
		}()),
		Entry("S4 W28: a time to live of zero", bare(map[string]any{"ttlSecondsAfterFinished": int64(0)})),
		Entry("S3 Q15: a policy without templates", bare(map[string]any{"volumeClaimPolicies": []any{map[string]any{}}})),
		Entry("S7 W29: 50 policies", bare(map[string]any{"volumeClaimPolicies": claims(50, map[string]any{})})),
	)

	It("S3 Q15: leaves a template without metadata, and one with an empty namespace, to the webhook", func(ctx SpecContext) {
		_, err := newUser(ctx).sends(claiming([]any{map[string]any{"templates": []any{
			map[string]any{"spec": map[string]any{}},
			map[string]any{"metadata": map[string]any{"name": "data", "namespace": ""}},
		}}}))
		ofWebhook(answer(err), invalid("spec.volumeClaimPolicies[0].templates[0].metadata.name", "a lowercase RFC 1123 subdomain must consist of"),
			invalid("spec.replicatedJobs", "replicatedJob containers don't have a matching volumeMount: , wanted by spec.volumeClaimPolicies[0].templates[0]"))
	})

	It("S2: holds nothing immutable itself: that is the webhook's, which knows what values mean", func(ctx SpecContext) {
		definition := &unstructured.Unstructured{}
		definition.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
		Expect(newUser(ctx).Client.Get(ctx, client.ObjectKey{Name: "jobsets.jobset.x-k8s.io"}, definition)).To(Succeed())
		written, err := definition.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Contains(string(written), "Value is immutable")).To(BeFalse())
	})

	DescribeTable("S8 S9 S10 S11: keeps nonsense out of the status:",
		func(ctx SpecContext, spoil func(*jobset.JobSetStatus), path string) {
			u := newUser(ctx)
			js := u.admits(AB())
			spoil(&js.Status)

			status := answer(u.Client.Status().Update(ctx, js))

			ofSchema(status, path, "")
		},
		Entry("a negative synced epoch", func(s *jobset.JobSetStatus) { s.SyncedEpoch = ptr.To[int32](-1) }, "status.syncedEpoch"),
		Entry("a negative deprecated epoch", func(s *jobset.JobSetStatus) { s.DeprecatedEpoch = ptr.To[int32](-1) }, "status.deprecatedEpoch"),
		Entry("a condition without a reason", func(s *jobset.JobSetStatus) {
			s.Conditions = []metav1.Condition{{Type: "Failed", Status: metav1.ConditionTrue, LastTransitionTime: metav1.Now()}}
		}, "status.conditions[0].reason"),
		Entry("a condition twice", func(s *jobset.JobSetStatus) {
			one := metav1.Condition{Type: "Failed", Status: metav1.ConditionTrue, Reason: "R", LastTransitionTime: metav1.Now()}
			s.Conditions = []metav1.Condition{one, one}
		}, "status.conditions[1]"),
		Entry("a condition that is neither true nor false nor unknown", func(s *jobset.JobSetStatus) {
			s.Conditions = []metav1.Condition{{Type: "Failed", Status: "Maybe", Reason: "R", LastTransitionTime: metav1.Now()}}
		}, "status.conditions[0].status"),
		Entry("restarts of 1025 Jobs", func(s *jobset.JobSetStatus) {
			s.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "a", JobRestarts: make([]int32, 1025)}}
		}, "status.replicatedJobsStatus[0].jobRestarts"),
		Entry("counted restarts of 1025 Jobs", func(s *jobset.JobSetStatus) {
			s.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "a", JobRestartsCountTowardsMax: make([]int32, 1025)}}
		}, "status.replicatedJobsStatus[0].jobRestartsCountTowardsMax"),
		Entry("a ReplicatedJob twice", func(s *jobset.JobSetStatus) {
			s.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "a"}, {Name: "a"}}
		}, "status.replicatedJobsStatus[1]"),
	)

	It("W82: lets the status of a JobSet be written past the webhooks", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(AB())
		js.Status.SyncedEpoch = ptr.To[int32](1)

		Expect(u.Client.Status().Update(ctx, js)).To(Succeed())
		Expect(js.Status.SyncedEpoch).To(HaveValue(BeEquivalentTo(1)))
	})
})
