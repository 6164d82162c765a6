/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
)

// podsPerPage is how many Pods are read past the cache in one request.
const podsPerPage = 100

// confirm reads the Pods of the workers that one Job seems to have lost, and then the Job,
// past the cache, and returns the input with them in place. So a stale cache cannot make up a
// loss. The Job is read second: the Job controller updates the Job before it marks
// the Pod as counted.
func (r *JobSetReconciler) confirm(ctx context.Context, in policy.Input, loss *policy.Loss) (policy.Input, error) {
	job := loss.Job
	pods, err := r.readLost(ctx, loss)
	if err != nil {
		return in, fmt.Errorf("confirming the loss of a worker: listing the Pods of Job %s: %w", klog.KObj(job), err)
	}
	fresh := &batchv1.Job{}
	err = r.live.Get(ctx, client.ObjectKeyFromObject(job), fresh)
	if client.IgnoreNotFound(err) != nil {
		return in, fmt.Errorf("confirming the loss of a worker: reading Job %s: %w", klog.KObj(job), err)
	}
	gone := err != nil || fresh.UID != job.UID
	confirmed := in
	confirmed.Jobs = nil
	for _, other := range in.Jobs {
		if other.UID != job.UID {
			confirmed.Jobs = append(confirmed.Jobs, other)
		}
	}
	if gone {
		return confirmed, nil
	}
	confirmed.Jobs = append(confirmed.Jobs, fresh)
	confirmed.Pods = maps.Clone(in.Pods)
	confirmed.Pods[job.UID] = loss.Refresh(in.Pods[job.UID], r.reporting.JoinAll(pods, ptr.Deref(in.JobSet.Status.SyncedEpoch, 0)))
	confirmed.Confirmed = loss
	return confirmed, nil
}

// readLost reads the Pods of the lost indexes past the cache, page by page. The Job controller
// has labelled Pods with their index since Kubernetes 1.28, long before Pods could restart in place.
func (r *JobSetReconciler) readLost(ctx context.Context, loss *policy.Loss) ([]*facts.Member, error) {
	indexes := make([]string, 0, len(loss.Indexes))
	for _, index := range loss.Indexes {
		indexes = append(indexes, strconv.FormatInt(index, 10))
	}
	lost, err := labels.NewRequirement(batchv1.JobCompletionIndexAnnotation, selection.In, indexes) // the label has the annotation's name
	if err != nil {
		return nil, err
	}
	ofJob := labels.SelectorFromSet(labels.Set{batchv1.ControllerUidLabel: string(loss.Job.UID)})
	of := []client.ListOption{client.InNamespace(loss.Job.Namespace), client.MatchingLabelsSelector{Selector: ofJob.Add(*lost)}}
	pods, err := allPages(ctx, r.live, func(list *corev1.PodList) []corev1.Pod { return list.Items }, of)
	return slices.DeleteFunc(membersOf(pods), func(pod *facts.Member) bool { return !metav1.IsControlledBy(pod, loss.Job) }), err
}
