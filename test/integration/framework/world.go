/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/placement"
)

// World is what one spec sees: its namespace, its manager, and those who act in it.
type World struct {
	*Cluster
	Context   context.Context
	Namespace string
	// Manager is the one that runs, or ran last.
	Manager *Manager

	JobController JobController
	Kubelet       Kubelet
	Agents        Agents

	observer *observer
}

// NewWorld gives a spec a namespace of its own, without a manager. At the end
// it checks what must hold of every JobSet at all times.
func (c *Cluster) NewWorld(ctx context.Context) *World {
	GinkgoHelper()
	w := &World{Cluster: c, Context: ctx, Namespace: c.NewNamespace(ctx)}
	w.JobController, w.Kubelet, w.Agents = JobController{world: w}, Kubelet{w}, Agents{w}
	w.observer = w.observe()
	DeferCleanup(func() {
		if w.Manager != nil {
			w.Manager.Stop()
		}
		w.observer.verdict()
	})
	return w
}

// StartManager starts a manager, the only one of the namespace.
func (w *World) StartManager(options ...ManagerOption) *Manager {
	GinkgoHelper()
	if w.Manager != nil {
		w.Manager.Stop()
	}
	w.Manager = w.Cluster.StartManager(w.Namespace, options...)
	w.Manager.check(w.observer.checkLift)
	return w.Manager
}

// Create creates a JobSet and returns it as admitted.
func (w *World) Create(js *jobset.JobSet) *jobset.JobSet {
	GinkgoHelper()
	js = js.DeepCopy()
	js.Namespace = w.Namespace
	raw := asManifest(js)
	Expect(w.Client.Create(w.Context, raw)).To(Succeed())
	Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(raw.Object, js)).To(Succeed())
	return js
}

// CreateWithJobs creates a JobSet, waits until it has all its Jobs, and returns both.
func (w *World) CreateWithJobs(js *jobset.JobSet) (*jobset.JobSet, []*batchv1.Job) {
	GinkgoHelper()
	js = w.Create(js)
	replicas := 0
	for _, rjob := range js.Spec.ReplicatedJobs {
		replicas += int(rjob.Replicas)
	}
	return js, w.HasJobs(js, replicas)
}

// asManifest is the JobSet as a user writes it down: with replicas: 0, which
// the Go type leaves out, and the API server would take for 1.
func asManifest(js *jobset.JobSet) *unstructured.Unstructured {
	GinkgoHelper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(js)
	Expect(err).NotTo(HaveOccurred())
	raw := &unstructured.Unstructured{Object: object}
	raw.SetGroupVersionKind(jobset.GroupVersion.WithKind(jobset.Kind))
	if len(js.Spec.ReplicatedJobs) == 0 {
		return raw
	}
	rjobs, _, err := unstructured.NestedSlice(object, "spec", "replicatedJobs")
	Expect(err).NotTo(HaveOccurred())
	for i := range rjobs {
		rjobs[i].(map[string]any)["replicas"] = int64(js.Spec.ReplicatedJobs[i].Replicas)
	}
	Expect(unstructured.SetNestedSlice(object, rjobs, "spec", "replicatedJobs")).To(Succeed())
	return raw
}

// Now returns an object as the API server has it.
func Now[T client.Object](w *World, object T) T {
	GinkgoHelper()
	fresh := object.DeepCopyObject().(T)
	Expect(w.Client.Get(w.Context, client.ObjectKeyFromObject(object), fresh)).To(Succeed())
	return fresh
}

// Change changes the spec or metadata of an object, as a user does.
func Change[T client.Object](w *World, object T, change func(T)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh := Now(w, object)
		change(fresh)
		return w.Client.Update(w.Context, fresh)
	})).To(Succeed())
}

// RefusalOf returns why the API server refuses a change. That somebody else wrote meanwhile is no reason.
func RefusalOf[T client.Object](w *World, object T, change func(T)) error {
	GinkgoHelper()
	return retry.OnError(retry.DefaultBackoff, apierrors.IsConflict, func() error {
		fresh := Now(w, object)
		change(fresh)
		return w.Client.Update(w.Context, fresh)
	})
}

// Suspend and Resume set spec.suspend.
func (w *World) Suspend(js *jobset.JobSet) { GinkgoHelper(); w.setSuspend(js, true) }

// Resume lets a suspended JobSet run.
func (w *World) Resume(js *jobset.JobSet) { GinkgoHelper(); w.setSuspend(js, false) }

func (w *World) setSuspend(js *jobset.JobSet, suspend bool) {
	GinkgoHelper()
	Change(w, js, func(js *jobset.JobSet) { js.Spec.Suspend = &suspend })
}

// Jobs lists the Jobs of a JobSet that are not being deleted, by name.
func (w *World) Jobs(js *jobset.JobSet) []*batchv1.Job {
	GinkgoHelper()
	return slices.DeleteFunc(w.AllJobs(js), func(job *batchv1.Job) bool { return job.DeletionTimestamp != nil })
}

// AllJobs lists the Jobs of a JobSet, by name.
func (w *World) AllJobs(js *jobset.JobSet) []*batchv1.Job {
	GinkgoHelper()
	var list batchv1.JobList
	Expect(w.Client.List(w.Context, &list, client.InNamespace(w.Namespace))).To(Succeed())
	var jobs []*batchv1.Job
	for i := range list.Items {
		if job := &list.Items[i]; metav1.IsControlledBy(job, js) {
			jobs = append(jobs, job)
		}
	}
	slices.SortFunc(jobs, func(a, b *batchv1.Job) int { return cmp.Compare(a.Name, b.Name) })
	return jobs
}

// HasJobs waits until the JobSet has this many Jobs and returns them.
func (w *World) HasJobs(js *jobset.JobSet, count int) []*batchv1.Job {
	GinkgoHelper()
	var jobs []*batchv1.Job
	Eventually(func() int {
		jobs = w.Jobs(js)
		return len(jobs)
	}).Should(Equal(count), "Jobs of %s", js.Name)
	return jobs
}

// Job returns one Job of a JobSet.
func (w *World) Job(js *jobset.JobSet, replicatedJob string, index int) *batchv1.Job {
	GinkgoHelper()
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Namespace: w.Namespace, Name: placement.JobName(js.Name, replicatedJob, index),
	}}
	return Now(w, job)
}

// Pods lists the Pods of a Job, by index.
func (w *World) Pods(job *batchv1.Job) []*corev1.Pod {
	GinkgoHelper()
	var list corev1.PodList
	Expect(w.Client.List(w.Context, &list, client.InNamespace(w.Namespace))).To(Succeed())
	var pods []*corev1.Pod
	for i := range list.Items {
		if pod := &list.Items[i]; metav1.IsControlledBy(pod, job) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return pods
}

// Events lists the events about an object with a reason.
func (w *World) Events(about client.Object, reason string) []eventsv1.Event {
	GinkgoHelper()
	var list eventsv1.EventList
	Expect(w.Client.List(w.Context, &list, client.InNamespace(w.Namespace))).To(Succeed())
	return slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool {
		return e.Regarding.UID != about.GetUID() || e.Reason != reason
	})
}

// TellsUser waits for an event about a JobSet, and returns it.
func (w *World) TellsUser(js *jobset.JobSet, eventType, reason, text string) eventsv1.Event {
	GinkgoHelper()
	var found eventsv1.Event
	Eventually(func() error {
		for _, event := range w.Events(js, reason) {
			if event.Type == eventType && strings.Contains(event.Note, text) {
				found = event
				return nil
			}
		}
		return fmt.Errorf("no %s event %s with %q among %d of that reason", eventType, reason, text, len(w.Events(js, reason)))
	}).Should(Succeed())
	return found
}
