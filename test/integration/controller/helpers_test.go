/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// What most stories look at.

// names of Jobs.
func names(jobs []*batchv1.Job) []string {
	var all []string
	for _, job := range jobs {
		all = append(all, job.Name)
	}
	return all
}

// uids of Jobs, by name.
func uids(jobs []*batchv1.Job) map[string]types.UID {
	all := map[string]types.UID{}
	for _, job := range jobs {
		all[job.Name] = job.UID
	}
	return all
}

// label reads a label of each Job, by the name of the Job.
func label(jobs []*batchv1.Job, key string) map[string]string {
	all := map[string]string{}
	for _, job := range jobs {
		all[job.Name] = job.Labels[key]
	}
	return all
}

// asleep names the Jobs of a JobSet that are suspended.
func asleep(w *World, js *jobset.JobSet) []string {
	GinkgoHelper()
	var all []string
	for _, job := range w.Jobs(js) {
		if ptr.Deref(job.Spec.Suspend, false) {
			all = append(all, job.Name)
		}
	}
	return all
}

// hasOnly waits until a JobSet has the Jobs of these names, returns them, and claims that no more come.
func hasOnly(w *World, js *jobset.JobSet, wanted ...string) []*batchv1.Job {
	GinkgoHelper()
	Eventually(func() []string { return names(w.Jobs(js)) }).Should(Equal(wanted))
	w.Settles(js)
	Expect(names(w.Jobs(js))).To(Equal(wanted))
	return w.Jobs(js)
}

// sleeps waits until these Jobs of a JobSet are suspended and no others, and claims that it stays so.
func sleeps(w *World, js *jobset.JobSet, wanted ...string) {
	GinkgoHelper()
	Eventually(func() []string { return asleep(w, js) }).Should(Equal(wanted))
	w.Settles(js)
	Expect(asleep(w, js)).To(Equal(wanted))
}

// patched names the Jobs that the manager patched, each once: a cache that lags makes it patch one again, to no effect.
func patched(w *World) []string {
	var all []string
	for _, write := range w.Manager.Made(AJob("patch")) {
		all = append(all, write.Object.GetName())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// The conditions and events of everyday life.
var (
	isSuspended   = True(jobset.JobSetSuspended, "SuspendedJobs", "jobset is suspended")
	isResumed     = False(jobset.JobSetSuspended, "ResumeJobs", "jobset is resumed")
	isCompleted   = True(jobset.JobSetCompleted, "AllJobsCompleted", "jobset completed successfully")
	isRestarted   = False(jobset.JobSetRestarting, "JobsReady", "all jobs are ready")
	eventSuspend  = Normal("SuspendedJobs", "jobset is suspended")
	eventResume   = Normal("ResumeJobs", "jobset is resumed")
	eventComplete = Normal("AllJobsCompleted", "jobset completed successfully")
	eventReady    = Normal("JobsReady", "all jobs are ready")
)

// isRestartedAnd is the end of a restart that did not end with all Jobs ready.
func isRestartedAnd(reason, message string) Condition {
	return False(jobset.JobSetRestarting, reason, message)
}

// since is when a condition of a JobSet became what it is.
func since(w *World, js *jobset.JobSet, kind jobset.JobSetConditionType) metav1.Time {
	GinkgoHelper()
	condition := apimeta.FindStatusCondition(Now(w, js).Status.Conditions, string(kind))
	Expect(condition).NotTo(BeNil(), "condition %s", kind)
	return condition.LastTransitionTime
}
