/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package incidents

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/test/worker/order"
)

// tenLines is all that is written. Nothing prepares its namespace.
const tenLines = `
spec:
  failurePolicy: {restartStrategy: InPlaceRestart, maxRestarts: 10}
  replicatedJobs:
  - name: workers
    replicas: 2
    template: {spec: {template: {spec: {containers: [{name: worker, image: jobset/worker:dev, command: [/worker]}]}}}}
`

// unprepared makes a namespace and two nodes, and there a JobSet of what is written.
func unprepared(ctx SpecContext, written string) *incident {
	GinkgoHelper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "one-line-"}}
	Expect(api.Create(ctx, namespace)).To(Succeed())
	i := &incident{ctx: ctx, namespace: namespace.Name, jobSet: &jobset.JobSet{}}
	for _, node := range []string{"-a", "-b"} {
		startNode(i.namespace+node, i.namespace, containers)
	}
	Expect(yaml.UnmarshalStrict([]byte(written), i.jobSet)).To(Succeed())
	i.jobSet.Namespace, i.jobSet.Name = i.namespace, "train"
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(api.Delete(ctx, i.jobSet))).To(Succeed())
		Expect(client.IgnoreNotFound(api.Delete(ctx, namespace))).To(Succeed())
	})
	return i
}

// fails makes the worker of a Pod exit, which a supervisor hands the order down to.
func (i *incident) fails(pod *corev1.Pod) {
	GinkgoHelper()
	i.listens(pod, 0) // one container lives through all epochs
	signal(pod, order.Exit(1))
}

func uids(pods []*corev1.Pod) []types.UID {
	var all []types.UID
	for _, pod := range pods {
		all = append(all, pod.UID)
	}
	return all
}

var _ = Describe("A manifest of ten lines", func() {
	It("P50 P55 P56 P60: restarts its workers in the same Pods when one fails, and leaves nothing behind", func(ctx SpecContext) {
		i := unprepared(ctx, tenLines)
		Eventually(func() error { return api.Create(ctx, i.jobSet) }).WithContext(ctx).Should(Succeed())
		before := i.runsAt(1)

		i.fails(before[0])

		Expect(uids(i.runsAt(2))).To(Equal(uids(before)))
		Expect(i.now().Status.InPlaceRestarts).To(BeEquivalentTo(1))

		Expect(api.Delete(ctx, i.jobSet)).To(Succeed())
		Eventually(func(g Gomega) {
			for _, list := range []client.ObjectList{&corev1.PodList{}, &rbacv1.RoleList{}, &rbacv1.RoleBindingList{}, &corev1.ServiceList{}} {
				g.Expect(api.List(ctx, list, client.InNamespace(i.namespace))).To(Succeed())
				g.Expect(list).To(HaveField("Items", BeEmpty()))
			}
		}).WithContext(ctx).Should(Succeed())
	})

	It("P54 P55: and a few more, an account without a token and equal requests and limits, does the same", func(ctx SpecContext) {
		const pod = "serviceAccountName: trainer, automountServiceAccountToken: false, containers: [{resources: {limits: {cpu: 1, memory: 64Mi}}, "
		i := unprepared(ctx, strings.Replace(tenLines, "containers: [{", pod, 1))
		Expect(api.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: i.namespace, Name: "trainer"}})).To(Succeed())
		Eventually(func() error { return api.Create(ctx, i.jobSet) }).WithContext(ctx).Should(Succeed())
		before := i.runsAt(1)
		Expect(before[0].Status.QOSClass).To(Equal(corev1.PodQOSGuaranteed))
		Expect(before[0].Spec.Containers[0].VolumeMounts).NotTo(ContainElement(HaveField("MountPath", workerpod.TokenPath)))

		i.fails(before[1])

		Expect(uids(i.runsAt(2))).To(Equal(uids(before)))
	})
})
