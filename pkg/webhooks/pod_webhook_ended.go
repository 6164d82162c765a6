/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/placement"
)

// jobOf returns the Job of a Pod, nil if the cache does not hold it.
func (w *podWebhook) jobOf(ctx context.Context, namespace string, pod *corev1.Pod) (*batchv1.Job, error) {
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil || owner.Kind != "Job" || owner.APIVersion != batchv1.SchemeGroupVersion.String() {
		return nil, nil
	}
	job := &batchv1.Job{}
	if err := w.reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: owner.Name}, job, client.UnsafeDisableDeepCopy); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("reading the Job of a follower pod: %w", err)
	}
	if job.UID != owner.UID {
		return nil, nil
	}
	return job, nil
}

// mostPeers is how many Pods of its Job a follower is compared with: they are in one domain, so one that has a node says where.
const mostPeers = 100

// after returns where a follower goes whose leader has ended (W115a).
func (w *podWebhook) after(ctx context.Context, namespace string, pod *corev1.Pod, leader *facts.Member, topology string) (placement.Spot, error) {
	var pods []*facts.Member
	if key, ok := placement.PodJobKey(facts.Of(pod)); ok {
		found, err := w.pods.ByJob(namespace, key)
		if err != nil {
			return placement.Spot{}, fmt.Errorf("looking for the other pods of the Job of a follower pod: %w", err)
		}
		pods = found[:min(len(found), mostPeers)]
	}
	return placement.After(leader, placement.Peers(pod, pods), topology, func(name string) *placement.Domain {
		node := &corev1.Node{}
		if name == "" || w.reader.Get(ctx, client.ObjectKey{Name: name}, node, client.UnsafeDisableDeepCopy) != nil {
			return nil // a node that is gone says nothing, and the next answer is as good
		}
		domain, err := placement.DomainOf(node, topology)
		if err != nil {
			return nil
		}
		return &domain
	}), nil
}
