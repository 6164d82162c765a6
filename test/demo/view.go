/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

const workerContainer = "worker"

// view is what the API shows of the JobSet and its Pods, as it changes.
type view struct {
	client client.WithWatch

	name    string
	mu      sync.Mutex
	jobSet  jobset.JobSet
	pods    map[string]corev1.Pod
	changed chan struct{} // closed at the next change
}

func newView(config *rest.Config) (*view, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, jobset.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("building a scheme: %w", err)
		}
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("building a client: %w", err)
	}
	return &view{client: c, pods: map[string]corev1.Pod{}, changed: make(chan struct{})}, nil
}

// follow watches until the context ends. An error ends it early.
func (v *view) follow(ctx context.Context, namespace, name string) error {
	pods, err := v.client.Watch(ctx, &corev1.PodList{}, client.InNamespace(namespace), client.MatchingLabels{jobset.JobSetNameKey: name})
	if err != nil {
		return fmt.Errorf("watching the Pods of the demo: %w", err)
	}
	jobSets, err := v.client.Watch(ctx, &jobset.JobSetList{}, client.InNamespace(namespace))
	if err != nil {
		return fmt.Errorf("watching the JobSet of the demo: %w", err)
	}
	v.name = name
	go func() {
		defer pods.Stop()
		defer jobSets.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case event := <-pods.ResultChan():
				v.take(event)
			case event := <-jobSets.ResultChan():
				v.take(event)
			}
		}
	}()
	return nil
}

func (v *view) take(event watch.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch obj := event.Object.(type) {
	case *corev1.Pod:
		if event.Type == watch.Deleted {
			delete(v.pods, obj.Name)
		} else {
			v.pods[obj.Name] = *obj
		}
	case *jobset.JobSet:
		if obj.Name == v.name {
			v.jobSet = *obj
		}
	}
	close(v.changed)
	v.changed = make(chan struct{})
}

// await waits until the view is as wanted and returns when that was.
func (v *view) await(ctx context.Context, what string, within time.Duration, wanted func() bool) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		v.mu.Lock()
		met, changed := wanted(), v.changed
		v.mu.Unlock()
		if met {
			return time.Now(), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("waiting until %s: %w", what, context.Cause(ctx))
		}
	}
}

// epochs reads D and S. Call it under await only, as the functions below.
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
	for name := range v.pods {
		pod := v.pods[name]
		if matches(&pod) {
			n++
		}
	}
	return n
}

// snapshot returns the Pods, by name.
func (v *view) snapshot() []corev1.Pod {
	v.mu.Lock()
	defer v.mu.Unlock()
	pods := make([]corev1.Pod, 0, len(v.pods))
	for _, name := range slices.Sorted(maps.Keys(v.pods)) {
		pods = append(pods, v.pods[name])
	}
	return pods
}

func workerStatus(pod *corev1.Pod) *corev1.ContainerStatus {
	for i := range pod.Status.ContainerStatuses {
		if pod.Status.ContainerStatuses[i].Name == workerContainer {
			return &pod.Status.ContainerStatuses[i]
		}
	}
	return nil
}
