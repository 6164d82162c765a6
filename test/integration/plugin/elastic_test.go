/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plugin

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
	"sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("kubectl jobset elastic", func() {
	// npu is an accelerator that no other spec has.
	const npu = "example.com/npu"

	It("P109: shows jobs by score, and what is free, to those who may read it", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		for _, job := range []struct {
			name          string
			size, current int32
			waits         string
		}{{"full", 6, 6, ""}, {"hungry", 2, 2, ""}, {"stuck", 5, 4, "it waits for nodes"}} {
			js := framework.JobSet(job.name, framework.Replicated("trainer", 1, job.size))
			js.Spec.ReplicatedJobs[0].Elastic = &jobset.ElasticBounds{MinInstances: 2, MaxInstances: 6}
			framework.PodTemplate(js, 0).Spec.Containers[0].Resources.Limits = corev1.ResourceList{npu: resource.MustParse("1")}
			js = w.Create(js)
			js.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "trainer", Elastic: &jobset.ElasticSize{Current: job.current, Desired: job.size}}}
			if job.waits != "" {
				js.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetElasticWaiting, true, constants.LostPodsReason,
					"ReplicatedJob trainer: "+job.waits, time.Now())}
			}
			Expect(w.Client.Status().Update(ctx, js)).To(Succeed())
		}
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "with-npus"}}
		Expect(w.Client.Create(ctx, node)).To(Succeed())
		DeferCleanup(func(ctx SpecContext) { Expect(w.Client.Delete(ctx, node)).To(Succeed()) })
		node.Status.Allocatable = corev1.ResourceList{npu: resource.MustParse("8")}
		node.Status.Capacity = node.Status.Allocatable
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		Expect(w.Client.Status().Update(ctx, node)).To(Succeed())

		all := kubectl(ctx, "jobset", "elastic", "-A", "--accelerators", npu)
		Expect(all).To(And(HaveField("Code", 0), HaveField("Out", And(
			MatchRegexp(`example.com/npu +8 +0 +0 +8\n`),
			MatchRegexp(`(?s)hungry +trainer +0\.00 +2 +2 +2-6 +1 example.com/npu +Keeps.*stuck +trainer +0\.50 +4 +5 +2-6 +1 example.com/npu +Waits +\d+s +ReplicatedJob trainer: it waits for nodes\n.*full +trainer +1\.00 +6 +6 `)))))

		role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "lists-jobsets"},
			Rules: []rbacv1.PolicyRule{{APIGroups: []string{jobset.GroupVersion.Group}, Resources: []string{"jobsets"}, Verbs: []string{"list"}}}}
		grant(w, role, "lister")
		Eventually(func() answer { return kubectl(ctx, "jobset", "elastic", "-n", w.Namespace, "--as", "lister") }).Should(And(
			HaveField("Code", 0), HaveField("Out", And(MatchRegexp(`hungry +trainer +0\.00`), ContainSubstring("Note: nodes could not be read"),
				ContainSubstring("Note: Pods of all namespaces could not be read")))))
		Expect(kubectl(ctx, "__complete", "jobset", "elast").Out).To(HavePrefix("elastic\t"))
	})
})
