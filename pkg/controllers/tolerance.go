/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy"
)

// indexPodsByJobSet finds the Pods of a JobSet, those whose Job is gone too.
func indexPodsByJobSet(ctx context.Context, c cache.Cache) (indexed[*corev1.Pod], error) {
	return indexKind(ctx, c, &corev1.Pod{}, constants.PodsIndexByJobSetKey, func(pod *corev1.Pod) []string {
		if uid, ok := pod.Labels[jobset.JobSetUIDKey]; ok {
			return []string{uid}
		}
		return nil
	})
}

// byJob sorts the Pods of a JobSet by the Jobs that control them, and apart those of no Job of the list.
func byJob(pods []*corev1.Pod, jobs []*batchv1.Job) (ofJobs map[types.UID][]*corev1.Pod, strays []*corev1.Pod) {
	ofJobs = make(map[types.UID][]*corev1.Pod, len(jobs))
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
		strays = append(strays, pod)
	}
	return ofJobs, strays
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
	in.Jobs, in.ChildrenRead = slices.DeleteFunc(jobs, func(job *batchv1.Job) bool { return !metav1.IsControlledBy(job, js) }), true
	in.Pods, in.Strays = byJob(pods, in.Jobs)
	return in, nil
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
	return nil
}
