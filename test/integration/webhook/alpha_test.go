/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhook

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

const deadlineField = "spec.activeDeadlineSeconds"

// lasts makes a JobSet active for so long at most.
func lasts(seconds int64) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) { js.Spec.ActiveDeadlineSeconds = &seconds }
}

// needsCPU gives the first container of a JobSet a request.
func needsCPU(cpu string) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		PodTemplate(js, 0).Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
}

func suspends(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }

var _ = Describe("Fields of the next release", func() {
	It("W143: activeDeadlineSeconds is at least 1, and changes at any time", func(ctx SpecContext) {
		u := newUser(ctx)
		js := AB()
		lasts(0)(js)
		ofSchema(u.refuses(js), deadlineField, "should be greater than or equal to 1")
		lasts(1)(js)
		js = u.admits(js)
		Expect(u.changes(js, lasts(1<<40))).To(Succeed())
		Expect(u.changes(js, func(js *jobset.JobSet) { js.Spec.ActiveDeadlineSeconds = nil })).To(Succeed())
		Expect(u.changes(js, lasts(5))).To(Succeed())
	})

	It("W144: requests and limits change while the JobSet is suspended, and claims and images do not", func(ctx SpecContext) {
		u := newUser(ctx)
		js := u.admits(AB())
		ofWebhook(answer(u.changes(js, needsCPU("1"))), invalid("spec.replicatedJobs", "containers[0].resources.requests[cpu]; this may change while the JobSet is suspended"))
		Expect(u.changes(js, suspends)).To(Succeed())
		Expect(u.changes(js, needsCPU("1"))).To(Succeed())
		Expect(u.changes(js, func(js *jobset.JobSet) { PodTemplate(js, 0).Spec.Containers[0].Resources.Requests = nil })).To(Succeed())
		Expect(u.Client.Get(ctx, client.ObjectKeyFromObject(js), js)).To(Succeed())
		Expect(PodTemplate(js, 0).Spec.Containers[0].Resources.Requests).To(BeEmpty(), "W20b: they are not taken for left out")
		ofWebhook(answer(u.changes(js, func(js *jobset.JobSet) {
			needsCPU("2")(js)
			PodTemplate(js, 0).Spec.Containers[0].Image = "other"
		})), invalid("spec.replicatedJobs", "changed: spec.replicatedJobs[0].template.spec.template.spec.containers[0].image"))
		Expect(u.changes(js, func(js *jobset.JobSet) { needsCPU("3")(js); js.Spec.Suspend = nil })).To(Succeed())
	})
})
