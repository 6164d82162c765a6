/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

const workerContainer = "worker"

// view is what the API shows of the JobSet and its Pods.
type view struct {
	client client.Client
	name   string
	jobSet jobset.JobSet
	pods   []corev1.Pod // by name
}

// look reads both as they are now.
func (v *view) look(ctx context.Context) error {
	if err := v.client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: v.name}, &v.jobSet); err != nil {
		return fmt.Errorf("reading the JobSet of the demo: %w", err)
	}
	var pods corev1.PodList
	if err := v.client.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels{jobset.JobSetNameKey: v.name}); err != nil {
		return fmt.Errorf("listing the Pods of the demo: %w", err)
	}
	v.pods = pods.Items
	slices.SortFunc(v.pods, func(a, b corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// await looks until the view is as wanted and returns when that was.
func (v *view) await(ctx context.Context, what string, wanted func() bool) (time.Time, error) {
	err := wait.PollUntilContextTimeout(ctx, 2*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := v.look(ctx)
		return err == nil && wanted(), err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("waiting until %s: %w", what, err)
	}
	return time.Now(), nil
}

// epochs reads D and S.
func (v *view) epochs() (deprecated, synced int32) {
	return ptr.Deref(v.jobSet.Status.DeprecatedEpoch, 0), ptr.Deref(v.jobSet.Status.SyncedEpoch, 0)
}

func (v *view) allReport(workers int, epoch int) bool {
	return v.count(func(pod *corev1.Pod) bool { return pod.Annotations[jobset.EpochKey] == strconv.Itoa(epoch) }) == workers
}

// allRun reports whether all workers run and were restarted so many times.
func (v *view) allRun(workers int, restarts int32) bool {
	return v.count(func(pod *corev1.Pod) bool {
		status := workerStatus(pod)
		return status != nil && status.State.Running != nil && status.RestartCount == restarts
	}) == workers
}

func (v *view) count(matches func(*corev1.Pod) bool) int {
	n := 0
	for i := range v.pods {
		if matches(&v.pods[i]) {
			n++
		}
	}
	return n
}

func workerStatus(pod *corev1.Pod) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == workerContainer {
			return &pod.Status.ContainerStatuses[i]
		}
	}
	return nil
}
