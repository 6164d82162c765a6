/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package clients

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	ownscheme "sigs.k8s.io/jobset/client-go/clientset/versioned/scheme"
	"sigs.k8s.io/jobset/client-go/informers/externalversions"

	"sigs.k8s.io/jobset/test/integration/framework"
)

var _ = Describe("The typed client", func() {
	It("O439: creates, reads, lists, changes, patches and deletes JobSets", func(ctx SpecContext) {
		client, namespace := newClient(ctx)
		created := create(ctx, client, framework.AB())
		Expect(created.Namespace).To(Equal(namespace))
		Expect(created.UID).NotTo(BeEmpty())
		Expect(get(ctx, client, created.Name)).To(Equal(created))

		list, err := client.List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(list.Items).To(HaveLen(1))
		Expect(list.Items[0].UID).To(Equal(created.UID))

		created.Spec.Suspend = ptr.To(true)
		updated, err := client.Update(ctx, created, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(updated.Spec.Suspend).To(HaveValue(BeTrue()))
		_, err = client.Update(ctx, created, metav1.UpdateOptions{})
		Expect(apierrors.IsConflict(err)).To(BeTrue(), "an update of a stale copy: %v", err)

		patched, err := client.Patch(ctx, created.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"team":"blue"}}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(patched.Labels).To(HaveKeyWithValue("team", "blue"))

		Expect(client.Delete(ctx, created.Name, metav1.DeleteOptions{})).To(Succeed())
		_, err = client.Get(ctx, created.Name, metav1.GetOptions{})
		Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
		Expect(apierrors.ReasonForError(err)).To(Equal(metav1.StatusReasonNotFound))
	})

	It("O439: UpdateStatus writes the status and nothing else, Update everything else", func(ctx SpecContext) {
		client, _ := newClient(ctx)
		js := create(ctx, client, framework.AB())

		js.Spec.Suspend = ptr.To(true)
		js.Status = jobset.JobSetStatus{
			Restarts:             2,
			Conditions:           []metav1.Condition{condition(jobset.JobSetSuspended, "")},
			ReplicatedJobsStatus: []jobset.ReplicatedJobStatus{{Name: "b", Ready: 3, Active: 3}, {Name: "a", Succeeded: 1}},
		}
		written := js.Status.DeepCopy()
		stored, err := client.UpdateStatus(ctx, js, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.Status).To(BeComparableTo(*written))
		Expect(ptr.Deref(stored.Spec.Suspend, false)).To(BeFalse())

		stored.Spec.Suspend = ptr.To(true)
		stored.Status = jobset.JobSetStatus{}
		stored, err = client.Update(ctx, stored, metav1.UpdateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(stored.Status).To(BeComparableTo(*written))
		Expect(stored.Spec.Suspend).To(HaveValue(BeTrue()))
	})

	It("S5: reads replicas 0, and leaves a zero out of what it sends, so that the API server fills in 1", func(ctx SpecContext) {
		client, namespace := newClient(ctx)
		js := framework.AB()
		js.Name, js.Spec.ReplicatedJobs[0].Replicas = "one", 0
		Expect(create(ctx, client, js).Spec.ReplicatedJobs[0].Replicas).To(BeEquivalentTo(1))

		_, err := client.Apply(ctx, everything(namespace), metav1.ApplyOptions{FieldManager: "owner"})
		Expect(err).NotTo(HaveOccurred())
		stored := get(ctx, client, "js")
		Expect(stored.Spec.ReplicatedJobs[1].Replicas).To(BeZero())

		patched, err := client.Patch(ctx, "js", types.MergePatchType, []byte(`{"spec":{"suspend":true}}`), metav1.PatchOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(patched.Spec.ReplicatedJobs[1].Replicas).To(BeZero())
	})

	It("O439: watches JobSets", func(ctx SpecContext) {
		client, _ := newClient(ctx)
		watcher, err := client.Watch(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		defer watcher.Stop()
		next := func() watch.Event {
			GinkgoHelper()
			var event watch.Event
			Eventually(watcher.ResultChan()).Should(Receive(&event))
			return event
		}

		js := create(ctx, client, framework.AB())
		Expect(next()).To(Equal(watch.Event{Type: watch.Added, Object: js}))
		completed := report(ctx, client, js.Name, jobset.JobSetCompleted, "")
		Expect(next()).To(Equal(watch.Event{Type: watch.Modified, Object: completed}))
		Expect(client.Delete(ctx, js.Name, metav1.DeleteOptions{})).To(Succeed())
		Expect(next().Type).To(Equal(watch.Deleted))
	})

	It("O440: knows the API of JobSets and not the configuration of the manager", func() {
		Expect(ownscheme.Scheme.Recognizes(jobset.SchemeGroupVersion.WithKind(jobset.Kind))).To(BeTrue())
		Expect(ownscheme.Scheme.IsGroupRegistered("config.jobset.x-k8s.io")).To(BeFalse())
		Expect(scheme.Scheme.IsGroupRegistered(jobset.SchemeGroupVersion.Group)).To(BeFalse(), "the scheme of Kubernetes is left alone")
	})
})

var _ = Describe("The informer", func() {
	It("O439: calls handlers, and the lister reads what the informer saw", func(ctx SpecContext) {
		client, namespace := newClient(ctx)
		_, elsewhere := newClient(ctx)
		js := create(ctx, client, framework.AB())

		running, stop := context.WithCancel(ctx)
		factory := externalversions.NewSharedInformerFactoryWithOptions(clientset, 0, externalversions.WithNamespace(namespace))
		DeferCleanup(factory.Shutdown)
		DeferCleanup(stop)
		jobSets := factory.Jobset().V1alpha2().JobSets()
		seen := make(chan string, 10)
		_, err := jobSets.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(js any) { seen <- "add " + js.(*jobset.JobSet).Name },
			UpdateFunc: func(_, now any) { seen <- "update to " + now.(*jobset.JobSet).Status.Conditions[0].Type },
			DeleteFunc: func(gone any) { seen <- "delete " + gone.(*jobset.JobSet).Name },
		})
		Expect(err).NotTo(HaveOccurred())
		factory.StartWithContext(running)
		Expect(factory.WaitForCacheSyncWithContext(ctx).AsError()).To(Succeed())

		Expect(jobSets.Lister().List(labels.Everything())).To(ConsistOf(js))
		Expect(jobSets.Lister().JobSets(namespace).Get(js.Name)).To(Equal(js))
		_, err = jobSets.Lister().JobSets(elsewhere).Get(js.Name)
		Expect(apierrors.IsNotFound(err)).To(BeTrue(), "%v", err)
		Eventually(seen).Should(Receive(Equal("add js")))

		failed := report(ctx, client, js.Name, jobset.JobSetFailed, "")
		Eventually(seen).Should(Receive(Equal("update to Failed")))
		Expect(jobSets.Lister().JobSets(namespace).Get(js.Name)).To(Equal(failed))

		Expect(client.Delete(ctx, js.Name, metav1.DeleteOptions{})).To(Succeed())
		Eventually(seen).Should(Receive(Equal("delete js")))
		Expect(jobSets.Lister().List(labels.Everything())).To(BeEmpty())
	})
})
