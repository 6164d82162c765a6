/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("The headless Service", func() {
	service := func(w *World, name string) func() error {
		return func() error {
			return w.Client.Get(w.Context, client.ObjectKey{Namespace: w.Namespace, Name: name}, &corev1.Service{})
		}
	}

	It("C93 C96 C368 O309: is recreated when somebody deletes it", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		Eventually(service(w, "js")).Should(Succeed())
		first := Now(w, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "js"}})
		Expect(metav1.IsControlledBy(first, js)).To(BeTrue())
		Expect(first.Spec.ClusterIP).To(Equal(corev1.ClusterIPNone))
		Expect(first.Spec.PublishNotReadyAddresses).To(BeTrue())
		Expect(first.Spec.Selector).To(Equal(map[string]string{jobset.JobSetNameKey: "js"}))

		Expect(w.Client.Delete(ctx, first)).To(Succeed())

		Eventually(func(g Gomega) {
			g.Expect(service(w, "js")()).To(Succeed())
			g.Expect(Now(w, first).UID).NotTo(Equal(first.UID))
		}).Should(Succeed())
	})

	It("C92 C368 O316: of a JobSet with generateName is named as the JobSet came to be", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Name, js.GenerateName = "", "generated-"
		js = w.Create(js)

		Expect(js.Name).To(HavePrefix("generated-"))
		Eventually(service(w, js.Name)).Should(Succeed())
		Expect(w.HasJobs(js, 4)[0].Spec.Template.Spec.Subdomain).To(Equal(js.Name))
	})

	It("C94: of somebody else under that name is left alone", func(ctx SpecContext) {
		w := newWorld(ctx)
		theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "shared"},
			Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"theirs": "yes"}}}
		Expect(w.Client.Create(ctx, theirs)).To(Succeed())
		js := AB()
		js.Spec.Network = &jobset.Network{Subdomain: "shared"}
		js = w.Create(js)

		w.HasJobs(js, 4)

		Expect(Now(w, theirs).Spec.Selector).To(Equal(map[string]string{"theirs": "yes"}))
		Expect(Now(w, theirs).OwnerReferences).To(BeEmpty())
	})

	It("C94a: that gives Pods no host names, since another JobSet made it, is told of once; one that fits is not", func(ctx SpecContext) {
		w := newWorld(ctx)
		sharing := func(name string) *jobset.JobSet {
			js := AB()
			js.Name, js.Spec.Network = name, &jobset.Network{EnableDNSHostnames: ptr.To(true), Subdomain: "ring"}
			return w.Create(js)
		}
		first := sharing("run-one")
		w.HasJobs(first, 4)
		second := sharing("run-two")

		w.HasEvents(second, Warning("HostNamesMissing", "Service ring, which belongs to JobSet run-one, selects jobset.sigs.k8s.io/jobset-name=run-one, "+
			"which Pods of ReplicatedJob a do not have, so these Pods have no host names: use another spec.network.subdomain, or delete this Service"))
		w.JobController.Readies(w.HasJobs(second, 4)...)
		w.Records(second, 1, "HostNamesMissing")
		w.Records(first, 0, "HostNamesMissing")
	})

	It("C96: is made when one of that name, which was somebody else's, is gone", func(ctx SpecContext) {
		w := newWorld(ctx)
		theirs := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "js"},
			Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"theirs": "yes"}}}
		Expect(w.Client.Create(ctx, theirs)).To(Succeed())
		js := w.Create(AB())
		w.HasEvents(js, Warning("HostNamesMissing", "Service js selects theirs=yes, "+
			"which Pods of ReplicatedJob a do not have, so these Pods have no host names: use another spec.network.subdomain, or delete this Service"))
		w.JobController.Readies(w.HasJobs(js, 4)...)
		w.Settles(js)

		Expect(w.Client.Delete(ctx, theirs)).To(Succeed())

		Eventually(func(g Gomega) {
			g.Expect(service(w, "js")()).To(Succeed())
			g.Expect(metav1.IsControlledBy(Now(w, theirs), js)).To(BeTrue())
		}).Should(Succeed())
	})

	It("C91: is not made without DNS host names", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := AB()
		js.Spec.Network = &jobset.Network{EnableDNSHostnames: ptr.To(false)}
		js = w.Create(js)

		Expect(w.HasJobs(js, 4)[0].Spec.Template.Spec.Subdomain).To(BeEmpty())
		var services corev1.ServiceList
		Expect(w.Client.List(ctx, &services, client.InNamespace(w.Namespace))).To(Succeed())
		Expect(services.Items).To(BeEmpty())
	})

	DescribeTable("O281 O282 O283: is one for each JobSet, and stays when that has ended,",
		func(ctx SpecContext, ends func(w *World, js *jobset.JobSet)) {
			w := newWorld(ctx)
			js := w.Create(AB())

			ends(w, js)

			Expect(w.Manager.Made(createService)).To(HaveLen(1))
			Expect(serviceNames(w)).To(Equal([]string{"js"}))
		},
		Entry("completed", func(w *World, js *jobset.JobSet) {
			w.JobController.Completes(w.HasJobs(js, 4)...)
			w.Finishes(js, jobset.JobSetCompleted, "AllJobsCompleted")
		}),
		Entry("failed", func(w *World, js *jobset.JobSet) {
			w.JobController.Fails(w.HasJobs(js, 4)[0], exceeded, "")
			w.Finishes(js, jobset.JobSetFailed, "FailedJobs")
		}),
	)

	It("C96: of a JobSet that has ended does not come back", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(AB())
		w.JobController.Completes(w.HasJobs(js, 4)...)
		w.Finishes(js, jobset.JobSetCompleted, "")
		w.Settles(js) // who does not know yet that it has ended makes the Service again

		Expect(w.Client.Delete(ctx, Now(w, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "js"}}))).To(Succeed())

		w.Settles(js)
		Expect(serviceNames(w)).To(BeEmpty())
	})

	It("C50 C91 C93: is made for a suspended JobSet too, and publishes what its spec says", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := suspended(AB())
		js.Spec.Network = &jobset.Network{Subdomain: "mesh", PublishNotReadyAddresses: ptr.To(false)}
		js = w.Create(js)
		w.HasConditions(js, isSuspended)

		made := Now(w, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "mesh"}})
		Expect(made.Spec.PublishNotReadyAddresses).To(BeFalse())
		Expect(made.Spec.ClusterIP).To(Equal(corev1.ClusterIPNone))
		Expect(made.Spec.Ports).To(BeEmpty())
		Expect(made.Labels).To(BeEmpty())
		Expect(made.OwnerReferences).To(Equal([]metav1.OwnerReference{*metav1.NewControllerRef(js, jobset.GroupVersion.WithKind("JobSet"))}))
	})

	It("C24 C43 C95 C215: that cannot be made is told of, and no Job comes before it", func(ctx SpecContext) {
		w := cluster.NewWorld(ctx)
		writes := &Writes{}
		writes.RefuseOnce(createService)
		w.StartManager(WithWrites(writes))

		js := w.Create(AB())

		w.HasJobs(js, 4)
		w.HasEvents(js, Warning("HeadlessServiceCreationFailed", "this write was refused by the test"))
		first := w.Manager.Made(func(write Write) bool { return createService(write) || AJob("create")(write) })[0]
		Expect(first.String()).To(Equal("create Service"))
	})

	It("C336: of one subdomain is shared, and the one who is left makes its own in the next pass", func(ctx SpecContext) {
		w := newWorld(ctx)
		first, second := AB(), AB()
		first.Spec.Network, second.Spec.Network = &jobset.Network{Subdomain: "mesh"}, &jobset.Network{Subdomain: "mesh"}
		second.Name = "second"
		first = w.Create(first)
		w.HasJobs(first, 4)
		second = w.Create(second)
		w.HasJobs(second, 4)
		shared := Now(w, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "mesh"}})
		Expect(shared.Spec.Selector).To(Equal(map[string]string{jobset.JobSetNameKey: "js"}))

		// Nobody who still knows the first is to make its Service once more.
		w.Manager.Stop()
		Expect(w.Client.Delete(ctx, first)).To(Succeed())
		Expect(w.Client.Delete(ctx, shared)).To(Succeed())
		w.StartManager()

		Eventually(func() []string { return serviceNames(w) }).Should(Equal([]string{"mesh"}))
		Expect(metav1.IsControlledBy(Now(w, shared), second)).To(BeTrue())
	})
})

var createService = Of[*corev1.Service]("create")

func serviceNames(w *World) []string {
	GinkgoHelper()
	var services corev1.ServiceList
	Expect(w.Client.List(w.Context, &services, client.InNamespace(w.Namespace))).To(Succeed())
	var names []string
	for i := range services.Items {
		names = append(names, services.Items[i].Name)
	}
	return names
}
