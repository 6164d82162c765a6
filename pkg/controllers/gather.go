/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"fmt"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/policy"
)

// gather reads, from the cache, all that a decision may look at.
func (r *JobSetReconciler) gather(ctx context.Context, js *jobset.JobSet) (policy.Input, error) {
	owned, err := r.jobs.of(js.UID)
	if err != nil {
		return policy.Input{}, err
	}
	r.memory.sawJobs(js, len(owned))
	in := policy.Input{
		JobSet:       js,
		Jobs:         owned,
		Gates:        r.gates,
		Now:          r.clock.Now(),
		Progress:     r.progress,
		FirstFailure: r.memory.failure(js),
		BrokenAt:     r.memory.brokenAt(js),
	}
	if children.NeedsService(js) {
		if in.ServiceExists, err = r.serviceExists(ctx, js); err != nil {
			return policy.Input{}, err
		}
	}
	if in.Claims, err = r.claimsOf(ctx, js); err != nil {
		return policy.Input{}, err
	}
	if r.gates.InPlaceRestart && restartsInPlace(js) {
		if in.Pods, err = r.podsOf(owned); err != nil {
			return policy.Input{}, err
		}
		if in.NotReady, err = r.notReadyUnder(ctx, in.Pods, in.Now); err != nil {
			return policy.Input{}, err
		}
	}
	return in, nil
}

func (r *JobSetReconciler) serviceExists(ctx context.Context, js *jobset.JobSet) (bool, error) {
	key := types.NamespacedName{Namespace: js.Namespace, Name: children.Subdomain(js)}
	err := r.client.Get(ctx, key, &corev1.Service{}, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading Service %s: %w", key, err)
	}
	return true, nil
}

func (r *JobSetReconciler) podsOf(owned []*batchv1.Job) (map[types.UID][]*corev1.Pod, error) {
	pods := make(map[types.UID][]*corev1.Pod, len(owned))
	for _, job := range owned {
		of, err := r.pods.of(job.UID)
		if err != nil {
			return nil, err
		}
		pods[job.UID] = of
	}
	return pods, nil
}

// confirm reads the Pods of one Job and then the Job past the cache, and returns
// the input with them in place, so that a cache that lags, or a new leader's,
// invents no loss. The Job comes second: what the Job controller made of a Pod
// stands in the Job before the Pod shows that it was counted.
func (r *JobSetReconciler) confirm(ctx context.Context, in policy.Input, job *batchv1.Job) (policy.Input, error) {
	var list corev1.PodList
	err := r.live.List(ctx, &list, client.InNamespace(job.Namespace), client.MatchingLabels{batchv1.ControllerUidLabel: string(job.UID)})
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
	var pods []*corev1.Pod
	for i := range list.Items {
		if pod := &list.Items[i]; metav1.IsControlledBy(pod, job) {
			pods = append(pods, pod)
		}
	}
	confirmed.Jobs = append(confirmed.Jobs, fresh)
	confirmed.Pods = maps.Clone(in.Pods)
	confirmed.Pods[job.UID] = pods
	confirmed.Confirmed = map[types.UID]bool{job.UID: true}
	return confirmed, nil
}

func restartsInPlace(js *jobset.JobSet) bool {
	policy := js.Spec.FailurePolicy
	return policy != nil && policy.RestartStrategy == jobset.InPlaceRestart
}
