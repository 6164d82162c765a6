/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// resize gives each Job of a ReplicatedJob this many Pods.
func resize(i int, pods int32) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) { JobTemplate(js, i).Parallelism, JobTemplate(js, i).Completions = &pods, &pods }
}

// two is a JobSet with two Pods in each Job of its second ReplicatedJob.
func two() *jobset.JobSet {
	js := AB()
	resize(1, 2)(js)
	return js
}

var _ = Describe("An elastic JobSet", func() {
	const job = "spec.replicatedJobs[1].template.spec"

	It("O368 W90 W91 W137: changes the number of Pods of its Indexed Jobs, up and down", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(two())
		Expect(u.changes(js, resize(1, 4))).To(Succeed())
		Expect(u.changes(js, resize(1, 1))).To(Succeed())
	})

	It("P100: starts with its least size, keeps the one that it has, and stays within its bounds", func(ctx SpecContext) {
		u := newUser(ctx)
		js := AB()
		js.Spec.ReplicatedJobs[1].Replicas = 1
		js.Spec.ReplicatedJobs[1].Elastic = &jobset.ElasticBounds{MinInstances: 2, MaxInstances: 4}
		unsized := func(js *jobset.JobSet) { JobTemplate(js, 1).Parallelism, JobTemplate(js, 1).Completions = nil, nil }
		unsized(js)
		js = u.admits(js)
		Expect(JobTemplate(js, 1).Parallelism).To(HaveValue(BeEquivalentTo(2)))
		Expect(JobTemplate(js, 1).Completions).To(HaveValue(BeEquivalentTo(2)))

		Expect(u.changes(js, resize(1, 4))).To(Succeed())
		Expect(u.Client.Get(ctx, client.ObjectKeyFromObject(js), js)).To(Succeed())
		unsized(js)
		Expect(u.Client.Update(ctx, js)).To(Succeed())
		Expect(JobTemplate(js, 1).Parallelism).To(HaveValue(BeEquivalentTo(4)))
		Expect(JobTemplate(js, 1).Completions).To(HaveValue(BeEquivalentTo(4)))

		ofWebhook(answer(u.changes(js, resize(1, 5))),
			invalid(job+".completions", "must be from minInstances to maxInstances of spec.replicatedJobs[1].elastic, which are 2 and 4"))
	})

	It("P107: is not patched as planned if it has changed since, or is another one", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(two())
		planned := func() error { // as the planner does
			return u.Client.Patch(ctx, js.DeepCopy(), client.RawPatch(types.JSONPatchType, fmt.Appendf(nil, `[
				{"op": "replace", "path": "/metadata/resourceVersion", "value": %q},
				{"op": "replace", "path": "/spec/replicatedJobs/1/template/spec/parallelism", "value": 3},
				{"op": "replace", "path": "/spec/replicatedJobs/1/template/spec/completions", "value": 3}]`, js.ResourceVersion)))
		}
		Expect(planned()).To(Succeed())
		Expect(planned()).To(MatchError(apierrors.IsConflict, "IsConflict"))
		Expect(u.Client.Delete(ctx, js)).To(Succeed())
		u.admits(two())
		Expect(planned()).To(MatchError(apierrors.IsConflict, "IsConflict"))
	})

	DescribeTable("W92: does not change any more once it is",
		func(ctx SpecContext, condition jobset.JobSetConditionType) {
			u := newUser(ctx)
			js := u.admits(two())
			js.Status.Conditions = []metav1.Condition{{Type: string(condition), Status: metav1.ConditionTrue, Reason: "Told", LastTransitionTime: metav1.Now()}}
			Expect(u.Client.Status().Update(ctx, js)).To(Succeed())

			ofWebhook(answer(u.changes(js, resize(1, 4))),
				forbidden(job, "Cannot mutate parallelism or completions when JobSet is in a terminal state (Completed or Failed)"))
		},
		Entry("completed", jobset.JobSetCompleted),
		Entry("failed", jobset.JobSetFailed),
	)
})
