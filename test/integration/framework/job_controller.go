/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// JobController is played by hand: it makes Pods and writes what becomes of
// Jobs, within what the API server takes from a Job controller. It is the
// garbage collector too.
type JobController struct {
	world *World
	node  string // of the Pods that it makes; node-i for index i if empty
}

// On makes Pods as if the scheduler bound them to this node.
func (c JobController) On(node string) JobController {
	c.node = node
	return c
}

// writes the status of a Job.
func (c JobController) writes(job *batchv1.Job, change func(*batchv1.JobStatus)) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh := Now(c.world, job)
		if fresh.Status.StartTime == nil && !ptr.Deref(fresh.Spec.Suspend, false) {
			fresh.Status.StartTime = ptr.To(metav1.Now())
		}
		change(&fresh.Status)
		return c.world.Client.Status().Update(c.world.Context, fresh)
	})).To(Succeed())
}

// Starts: all Pods of these Jobs exist, none is ready.
func (c JobController) Starts(jobs ...*batchv1.Job) {
	GinkgoHelper()
	for _, job := range jobs {
		c.writes(job, func(s *batchv1.JobStatus) {
			s.Active, s.Ready = workersOf(job), ptr.To[int32](0)
			set(s, batchv1.JobSuspended, corev1.ConditionFalse, "", "")
		})
	}
}

// Begins: these Jobs have started, and no Pod of theirs could be created.
func (c JobController) Begins(jobs ...*batchv1.Job) {
	GinkgoHelper()
	for _, job := range jobs {
		c.writes(job, func(*batchv1.JobStatus) {})
	}
}

// CountsStopping: so many Pods of a Job still stop.
func (c JobController) CountsStopping(job *batchv1.Job, pods int32) {
	GinkgoHelper()
	c.writes(job, func(s *batchv1.JobStatus) { s.Terminating = &pods })
}

// CountsActive: so many Pods of a Job have not ended, and none of them stops or is ready.
func (c JobController) CountsActive(job *batchv1.Job, pods int32) {
	GinkgoHelper()
	c.writes(job, func(s *batchv1.JobStatus) { s.Active, s.Ready = pods, ptr.To[int32](0) })
}

// Readies: all Pods of these Jobs are ready.
func (c JobController) Readies(jobs ...*batchv1.Job) {
	GinkgoHelper()
	for _, job := range jobs {
		c.writes(job, func(s *batchv1.JobStatus) { s.Active, s.Ready = workersOf(job), ptr.To(workersOf(job)) })
	}
}

// Completes: all Pods of these Jobs have succeeded.
func (c JobController) Completes(jobs ...*batchv1.Job) {
	GinkgoHelper()
	for _, job := range jobs {
		c.writes(job, func(s *batchv1.JobStatus) {
			s.Active, s.Ready, s.Succeeded = 0, ptr.To[int32](0), workersOf(job)
			s.CompletedIndexes = indexesBelow(workersOf(job))
			s.CompletionTime = ptr.To(metav1.Now())
			set(s, batchv1.JobSuccessCriteriaMet, corev1.ConditionTrue, "CompletionsReached", "")
			set(s, batchv1.JobComplete, corev1.ConditionTrue, "CompletionsReached", "")
		})
	}
}

// Fails: the Job has failed, for a reason.
func (c JobController) Fails(job *batchv1.Job, reason, message string) {
	GinkgoHelper()
	c.FailsAt(job, metav1.Now(), reason, message)
}

// FailsAt: the Job has failed at a certain time.
func (c JobController) FailsAt(job *batchv1.Job, at metav1.Time, reason, message string) {
	GinkgoHelper()
	c.writes(job, func(s *batchv1.JobStatus) {
		s.Active, s.Ready, s.Failed = 0, ptr.To[int32](0), s.Failed+1
		set(s, batchv1.JobFailureTarget, corev1.ConditionTrue, reason, message)
		set(s, batchv1.JobFailed, corev1.ConditionTrue, reason, message)
		s.Conditions[len(s.Conditions)-1].LastTransitionTime = at
	})
}

// WillFail: the Job is about to fail, and its Pods are being stopped.
func (c JobController) WillFail(job *batchv1.Job, reason string) {
	GinkgoHelper()
	c.writes(job, func(s *batchv1.JobStatus) { set(s, batchv1.JobFailureTarget, corev1.ConditionTrue, reason, "") })
}

// CountsIndexes: these indexes of the Job are done.
func (c JobController) CountsIndexes(job *batchv1.Job, indexes string) {
	GinkgoHelper()
	c.writes(job, func(s *batchv1.JobStatus) {
		s.CompletedIndexes = indexes
		s.Succeeded = int32(len(slices.DeleteFunc(c.world.Pods(job), func(p *corev1.Pod) bool { return p.Status.Phase != corev1.PodSucceeded })))
	})
}

// Suspends: the Pods of these Jobs, which are to be suspended, are gone, but for those that had ended.
func (c JobController) Suspends(jobs ...*batchv1.Job) {
	GinkgoHelper()
	for _, job := range jobs {
		Expect(Now(c.world, job).Spec.Suspend).To(HaveValue(BeTrue()), "Job %s is not to be suspended", job.Name)
		c.world.Kubelet.Removes(slices.DeleteFunc(c.world.Pods(job), ended)...)
		c.writes(job, func(s *batchv1.JobStatus) {
			s.Active, s.Ready = 0, ptr.To[int32](0)
			set(s, batchv1.JobSuspended, corev1.ConditionTrue, "JobSuspended", "Job suspended")
		})
	}
}

// Collects lets Jobs go that are being deleted, after their Pods.
func (c JobController) Collects(jobs ...*batchv1.Job) {
	GinkgoHelper()
	for _, job := range jobs {
		Eventually(func() []string { return Now(c.world, job).Finalizers }).
			Should(ContainElement(metav1.FinalizerDeleteDependents), "Job %s is not deleted in the foreground", job.Name)
		c.world.Kubelet.Removes(c.world.Pods(job)...)
		stripFinalizer(c.world, job, metav1.FinalizerDeleteDependents)
	}
}

// CollectsAll lets all Jobs of a JobSet go that are being deleted, once there are this many.
func (c JobController) CollectsAll(js *jobset.JobSet, count int) {
	GinkgoHelper()
	c.Collects(c.world.Deleting(js, count)...)
}

// Deleting waits until this many Jobs of a JobSet are being deleted.
func (w *World) Deleting(js *jobset.JobSet, count int) []*batchv1.Job {
	GinkgoHelper()
	var deleting []*batchv1.Job
	Eventually(func() int {
		deleting = slices.DeleteFunc(w.AllJobs(js), func(j *batchv1.Job) bool { return j.DeletionTimestamp == nil })
		return len(deleting)
	}).Should(Equal(count), "Jobs of %s that are being deleted", js.Name)
	return deleting
}

// MakesPods makes the Pods of Jobs that lack them, and the kubelet runs them.
func (c JobController) MakesPods(jobs ...*batchv1.Job) []*corev1.Pod {
	GinkgoHelper()
	var made []*corev1.Pod
	for _, job := range jobs {
		for index := range workersOf(job) {
			made = append(made, c.MakesPod(job, int(index)))
		}
	}
	return made
}

// MakesPod makes the Pod of one index of a Job, and the kubelet runs it.
func (c JobController) MakesPod(job *batchv1.Job, index int) *corev1.Pod {
	GinkgoHelper()
	job = Now(c.world, job)
	template := job.Spec.Template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace, pod.Name = job.Namespace, fmt.Sprintf("%s-%d-%s", job.Name, index, rand.String(5))
	pod.Labels, pod.Annotations = maps.Clone(pod.Labels), maps.Clone(pod.Annotations)
	pod.Labels[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(index)
	pod.Annotations[batchv1.JobCompletionIndexAnnotation] = strconv.Itoa(index)
	pod.Finalizers = []string{batchv1.JobTrackingFinalizer}
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	pod.Spec.NodeName = cmp.Or(c.node, fmt.Sprintf("node-%d", index))
	pod.Spec.SchedulingGates = nil // whoever set them has taken them away before the Pod is bound
	pod.Spec.Hostname = fmt.Sprintf("%s-%d", job.Name, index)
	Expect(c.world.Client.Create(c.world.Context, pod)).To(Succeed())
	return c.world.Kubelet.Runs(pod)
}

// Accounts for a Pod that has ended: it drops the finalizer that says it has not.
func (c JobController) Accounts(pods ...*corev1.Pod) {
	GinkgoHelper()
	for _, pod := range pods {
		stripFinalizer(c.world, pod, batchv1.JobTrackingFinalizer)
	}
}

// Replaces a Pod that has failed or is gone by a new one.
func (c JobController) Replaces(pod *corev1.Pod) *corev1.Pod {
	GinkgoHelper()
	owner := metav1.GetControllerOf(pod)
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: owner.Name}}
	index, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	Expect(err).NotTo(HaveOccurred())
	return c.MakesPod(job, index)
}

func stripFinalizer[T client.Object](w *World, object T, finalizer string) {
	GinkgoHelper()
	Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		fresh := object.DeepCopyObject().(T)
		if err := w.Client.Get(w.Context, client.ObjectKeyFromObject(object), fresh); err != nil {
			return client.IgnoreNotFound(err)
		}
		if !controllerutil.RemoveFinalizer(fresh, finalizer) {
			return nil
		}
		return client.IgnoreNotFound(w.Client.Update(w.Context, fresh))
	})).To(Succeed())
}

func set(s *batchv1.JobStatus, kind batchv1.JobConditionType, status corev1.ConditionStatus, reason, message string) {
	i := slices.IndexFunc(s.Conditions, func(c batchv1.JobCondition) bool { return c.Type == kind })
	if i < 0 {
		if status == corev1.ConditionFalse {
			return
		}
		s.Conditions = append(s.Conditions, batchv1.JobCondition{Type: kind})
		i = len(s.Conditions) - 1
	}
	c := &s.Conditions[i]
	c.Status, c.Reason, c.Message, c.LastTransitionTime = status, reason, message, metav1.Now()
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func workersOf(job *batchv1.Job) int32 { return ptr.Deref(job.Spec.Parallelism, 1) }

func indexesBelow(n int32) string {
	if n == 1 {
		return "0"
	}
	return fmt.Sprintf("0-%d", n-1)
}
