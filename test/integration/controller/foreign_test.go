/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	. "sigs.k8s.io/jobset/test/integration/framework"
)

// forge creates a copy of an object in another namespace, with the labels, annotations and controller of the first. A
// finalizer keeps it from the garbage collector, which looks for the owner in the namespace of the copy.
func forge[T client.Object](w *World, namespace string, object T) T {
	GinkgoHelper()
	forged := object.DeepCopyObject().(T)
	forged.SetNamespace(namespace)
	forged.SetUID("")
	forged.SetResourceVersion("")
	forged.SetFinalizers([]string{"example.com/stays"})
	switch copied := client.Object(forged).(type) {
	case *batchv1.Job:
		copied.Spec.Selector = nil
		for _, key := range []string{batchv1.ControllerUidLabel, "controller-uid", batchv1.JobNameLabel, "job-name"} {
			delete(copied.Spec.Template.Labels, key)
			delete(copied.Labels, key)
		}
	case *corev1.Pod:
		copied.Spec.NodeName = ""
	}
	Expect(w.Client.Create(w.Context, forged)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(w.Client.Patch(ctx, forged, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))).To(Succeed())
		Expect(client.IgnoreNotFound(w.Client.Delete(ctx, forged, client.PropagationPolicy(metav1.DeletePropagationBackground), client.GracePeriodSeconds(0)))).To(Succeed())
	})
	return forged
}

var _ = Describe("Somebody who may create Jobs and Pods in another namespace", func() {
	It("C14 C97: fails no JobSet, restarts none, and ends no pass over one", func(ctx SpecContext) {
		w := newWorld(ctx, WhoseCacheHoldsOtherNamespaces())
		other := w.NewNamespace(ctx)
		js, jobs := w.CreateWithJobs(AB())

		w.JobController.Fails(forge(w, other, jobs[0]), exceeded, "")
		unreadable := jobs[1].DeepCopy()
		unreadable.Labels[attemptKey], unreadable.Annotations[attemptKey] = "zero", "zero"
		forge(w, other, unreadable)
		w.JobController.Readies(jobs...) // a pass that sees all of them

		w.HasConditions(js)
		w.StaysUntouched(js)
		w.HasCounted(js, Counters{})
		w.JobController.Completes(jobs...)
		w.HasConditions(js, isCompleted)
	})

	It("C15: neither breaks a group nor lifts it", func(ctx SpecContext) {
		w := newWorld(ctx, WhoseCacheHoldsOtherNamespaces())
		other := w.NewNamespace(ctx)
		train, pods := w.RunningGroup(Training(2, 10))

		ahead := forge(w, other, pods[0])
		w.Agents.Report(2, ahead)
		beside := pods[1].DeepCopy()
		beside.Name = "beside"
		w.Kubelet.SeesFail(forge(w, other, beside), 1)

		w.StaysAt(train, 0, 1)
		w.HasCounted(train, Counters{})
		w.Agents.Report(2, pods[0]) // its worker failed
		w.Reaches(train, 1, 1)
		w.Agents.Report(2, pods[1])
		w.Reaches(train, 1, 2)
		w.HasCounted(train, Counters{InPlace: 1})
	})
})
