/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
)

// podsAndStrays returns the cached Pods that the labels call those of a JobSet, see withStrays.
func (r *JobSetReconciler) podsAndStrays(ctx context.Context, js *jobset.JobSet, jobs []*batchv1.Job) (
	ofJobs map[types.UID][]*facts.Member, strays []*facts.Member, err error,
) {
	pods, err := r.podsOfJobSet.ControlledBy(js.Namespace, js.UID)
	if err != nil {
		return nil, nil, err
	}
	return r.withStrays(ctx, js, pods, jobs)
}

// withStrays sorts the Pods that the labels call those of a JobSet: by its Jobs, and apart those whose Job is gone (P86).
// Anybody in the namespace can write the labels, so a stray is no Pod of another controller.
func (r *JobSetReconciler) withStrays(ctx context.Context, js *jobset.JobSet, pods []*facts.Member, jobs []*batchv1.Job) (
	ofJobs map[types.UID][]*facts.Member, strays []*facts.Member, err error,
) {
	ofJobs = make(map[types.UID][]*facts.Member, len(jobs))
	for _, job := range jobs {
		ofJobs[job.UID] = nil
	}
	for _, pod := range pods {
		if owner := metav1.GetControllerOfNoCopy(pod); owner != nil {
			if _, known := ofJobs[owner.UID]; known {
				ofJobs[owner.UID] = append(ofJobs[owner.UID], pod)
				continue
			}
		}
		isStray, err := r.isStray(ctx, js, pod)
		if err != nil {
			return nil, nil, err
		}
		if isStray {
			strays = append(strays, pod)
		}
	}
	return ofJobs, strays, nil
}

func membersOf(pods []*corev1.Pod) []*facts.Member {
	members := make([]*facts.Member, len(pods))
	for i, pod := range pods {
		members[i] = facts.Of(pod)
	}
	return members
}

// isStray reports whether a Pod with the labels of a JobSet may be one that it left behind. If the cache does not show
// its Job, the Job is gone, or was created a moment ago; the garbage collector deletes what names a Job that never was.
// A Pod without a controller runs on, too: `kubectl delete job --cascade=orphan` makes one.
func (r *JobSetReconciler) isStray(ctx context.Context, js *jobset.JobSet, pod *facts.Member) (bool, error) {
	owner := metav1.GetControllerOfNoCopy(pod)
	switch {
	case pod.Namespace != js.Namespace:
		return false, nil
	case owner == nil:
		return true, nil
	case owner.Kind != "Job" || owner.APIVersion != batchv1.SchemeGroupVersion.String():
		return false, nil
	}
	job := &batchv1.Job{}
	key := types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}
	if err := r.client.Get(ctx, key, job, client.UnsafeDisableDeepCopy); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading Job %s, which controls Pod %s: %w", key, pod.Name, err)
	} else if err != nil || job.UID != owner.UID {
		return true, nil
	}
	return metav1.IsControlledBy(job, js), nil
}

// readChildren reads all Jobs and Pods of a JobSet past the cache, page by page, and returns the input with
// them in place. The Pods are read second: a Job that is suspended or has ended by then starts none.
func (r *JobSetReconciler) readChildren(ctx context.Context, in policy.Input) (policy.Input, error) {
	js := in.JobSet
	of := []client.ListOption{client.InNamespace(js.Namespace), client.MatchingLabels{jobset.JobSetUIDKey: string(js.UID)}}
	jobs, err := allPages(ctx, r.live, func(list *batchv1.JobList) []batchv1.Job { return list.Items }, of)
	if err != nil {
		return in, fmt.Errorf("reading the Jobs of JobSet %s past the cache: %w", klog.KObj(js), err)
	}
	pods, err := allPages(ctx, r.live, func(list *corev1.PodList) []corev1.Pod { return list.Items }, of)
	if err != nil {
		return in, fmt.Errorf("reading the Pods of JobSet %s past the cache: %w", klog.KObj(js), err)
	}
	unlisted, err := r.readUnlisted(ctx, js, in.Jobs, jobs)
	if err != nil {
		return in, err
	}
	in.Jobs = slices.DeleteFunc(append(jobs, unlisted...), func(job *batchv1.Job) bool { return !metav1.IsControlledBy(job, js) })
	in.ChildrenRead = true
	in.Pods, in.Strays, err = r.withStrays(ctx, js, membersOf(pods), in.Jobs)
	r.joinReports(&in)
	return in, err
}

// readUnlisted reads those of the cached Jobs that the API server did not list and that still exist: the cache finds them by
// their owner, but somebody may have removed the label that they are listed by. Foreign Jobs are left out, of which there may
// be thousands.
func (r *JobSetReconciler) readUnlisted(ctx context.Context, js *jobset.JobSet, cached, listed []*batchv1.Job) ([]*batchv1.Job, error) {
	known := make(map[types.UID]bool, len(listed))
	for _, job := range listed {
		known[job.UID] = true
	}
	if !slices.ContainsFunc(cached, func(job *batchv1.Job) bool { return !known[job.UID] }) {
		return nil, nil
	}
	observed, err := policy.Observe(js, cached, r.gates)
	if err != nil {
		return nil, err
	}
	for _, job := range observed.Foreign {
		known[job.UID] = true
	}
	var found []*batchv1.Job
	for _, job := range cached {
		if known[job.UID] {
			continue
		}
		fresh := &batchv1.Job{}
		if err := r.live.Get(ctx, client.ObjectKeyFromObject(job), fresh); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("reading Job %s of JobSet %s past the cache: %w", klog.KObj(job), klog.KObj(js), err)
		} else if err == nil && fresh.UID == job.UID {
			found = append(found, fresh)
		}
	}
	return found, nil
}

// allPages lists page by page, so that no answer of the API server gets too large.
func allPages[L, T any, PL interface {
	*L
	client.ObjectList
}](ctx context.Context, reader client.Reader, items func(PL) []T, options []client.ListOption) ([]*T, error) {
	page := (&client.ListOptions{Limit: podsPerPage}).ApplyOptions(options)
	var all []*T
	for {
		list := PL(new(L)) // another for each page: one that is filled again would change what is kept of the last
		if err := reader.List(ctx, list, page); err != nil {
			return nil, err
		}
		of := items(list)
		for i := range of {
			all = append(all, &of[i])
		}
		if page.Continue = list.GetContinue(); page.Continue == "" {
			return all, nil
		}
	}
}

// forceJob lets a Job go that is being deleted in the foreground and has no Pods left: a deletion in the
// background takes back the finalizer that makes it wait for the garbage collector.
func (r *JobSetReconciler) forceJob(ctx context.Context, job *batchv1.Job) error {
	err := r.client.Delete(ctx, &batchv1.Job{ObjectMeta: named(job)}, client.PropagationPolicy(metav1.DeletePropagationBackground),
		client.GracePeriodSeconds(0), client.Preconditions{UID: &job.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting Job %s by force: %w", klog.KObj(job), err)
	}
	shared.Wrote(ctx, "Deleted a Job by force", constants.ForcefulDeletionReason, "job", klog.KObj(job))
	return nil
}
