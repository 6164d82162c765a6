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

// mpi is a group in process mode: two nodes, which serve ssh, and then a launcher.
func mpi() *jobset.JobSet {
	js := JobSet("mpi", Replicated("node", 1, 2), Replicated("launcher", 1, 1))
	for i := range js.Spec.ReplicatedJobs {
		PodTemplate(js, i).Spec.Containers[0].Command = []string{"program"}
	}
	js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAll, TargetReplicatedJobs: []string{"launcher"}}
	js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 10, RestartStrategy: jobset.InPlaceRestart}
	return js
}

var _ = Describe("A group whose processes restart, with an order of start", func() {
	const nodes, launcher = "mpi-node-0", "mpi-launcher-0"
	afterNodes := func() *jobset.JobSet {
		js := mpi()
		js.Spec.ReplicatedJobs[1] = after(js.Spec.ReplicatedJobs[1], "node", jobset.DependencyReady)
		return js
	}
	inOrder := func() *jobset.JobSet { return startingIn(jobset.InOrder, mpi()) }

	DescribeTable("P126: creates the launcher when the last node reports, and starts all at one lift, also after a failure",
		func(ctx SpecContext, shape func() *jobset.JobSet) {
			w := newWorld(ctx)
			js := w.Create(shape())
			first := hasOnly(w, js, nodes)
			w.JobController.Readies(first...) // the supervisors: no server answers yet
			pods := w.JobController.MakesPods(first...)
			w.Agents.Report(1, pods[0])
			hasOnly(w, js, nodes)

			w.Agents.Report(1, pods[1])
			all := hasOnly(w, js, launcher, nodes)
			w.StaysAt(js, 0, 0)
			w.JobController.Starts(all[0])
			pods = append(pods, w.JobController.MakesPods(all[0])...)
			w.StaysAt(js, 0, 0)
			w.Agents.Report(1, pods[2])
			w.Reaches(js, 0, 1)

			w.GroupRestarts(js, 1, pods)
			w.HasCounted(js, Counters{InPlace: 1})
			Expect(uids(w.Jobs(js))).To(Equal(uids(all)))

			w.JobController.Completes(all[0])
			w.Finishes(js, jobset.JobSetCompleted, "AllJobsCompleted")
		},
		Entry("dependsOn with Ready", afterNodes),
		Entry("startup policy InOrder", inOrder),
	)

	DescribeTable("P126: resumes the launcher when the last node reports, and starts all at one lift",
		func(ctx SpecContext, shape func() *jobset.JobSet) {
			w := newWorld(ctx)
			js := w.Create(shape())
			first := hasOnly(w, js, nodes)
			pods := w.JobController.MakesPods(first...)
			w.Agents.Report(1, pods...)
			all := hasOnly(w, js, launcher, nodes)
			pods = append(pods, w.JobController.MakesPods(all[0])...)
			w.Agents.Report(1, pods[2])
			w.Reaches(js, 0, 1)

			w.Suspend(js)
			w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")
			w.JobController.Suspends(w.Jobs(js)...)
			w.Kubelet.Removes(pods...)
			w.Resume(js)
			sleeps(w, js, launcher)

			pods = w.JobController.MakesPods(first...)
			w.Agents.Report(2, pods...)
			sleeps(w, js)
			w.StaysAt(js, 1, 1)
			w.Agents.Report(2, w.JobController.MakesPods(all[0])...)
			w.Reaches(js, 1, 2)
			w.HasCounted(js, Counters{})
		},
		Entry("dependsOn with Ready", afterNodes),
		Entry("startup policy InOrder", inOrder),
	)
})
