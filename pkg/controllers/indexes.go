/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/placement"
)

// owned reads the cached objects that one object controls, by its UID. It
// hands out what the cache holds: read it, never change it. A cached List would
// copy every object on every pass.
type owned[T client.Object] struct {
	index string
	store toolscache.Indexer
}

// indexOwned adds an index by controller UID to the informer of T, unless another
// controller of this manager has added it already.
func indexOwned[T client.Object](ctx context.Context, c cache.Cache, kind T, index string, keyOf func(T) []string) (owned[T], error) {
	informer, err := c.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
	if err != nil {
		return owned[T]{}, fmt.Errorf("getting the informer of %T: %w", kind, err)
	}
	indexed, ok := informer.(interface{ GetIndexer() toolscache.Indexer })
	if !ok {
		return owned[T]{}, fmt.Errorf("the informer of %T is a %T, which has no indexer", kind, informer)
	}
	store := indexed.GetIndexer()
	if _, exists := store.GetIndexers()[index]; exists {
		return owned[T]{index: index, store: store}, nil
	}
	err = informer.AddIndexers(toolscache.Indexers{index: func(obj any) ([]string, error) {
		return keyOf(obj.(T)), nil
	}})
	if err != nil {
		return owned[T]{}, fmt.Errorf("adding index %s to the informer of %T: %w", index, kind, err)
	}
	return owned[T]{index: index, store: store}, nil
}

// of returns the cached objects that the object with this UID controls.
func (c owned[T]) of(uid types.UID) ([]T, error) {
	if c.store == nil {
		return nil, nil // nobody watches this kind
	}
	objs, err := c.store.ByIndex(c.index, string(uid))
	if err != nil {
		return nil, fmt.Errorf("reading index %s: %w", c.index, err)
	}
	typed := make([]T, len(objs))
	for i, obj := range objs {
		typed[i] = obj.(T)
	}
	return typed, nil
}

func indexJobs(ctx context.Context, c cache.Cache) (owned[*batchv1.Job], error) {
	return indexOwned(ctx, c, &batchv1.Job{}, constants.JobsIndexByJobSetKey, func(job *batchv1.Job) []string {
		return controllerUID(job, jobset.GroupVersion.String(), jobset.Kind)
	})
}

func indexPods(ctx context.Context, c cache.Cache) (owned[*corev1.Pod], error) {
	return indexOwned(ctx, c, &corev1.Pod{}, constants.PodsIndexByJobKey, func(pod *corev1.Pod) []string {
		return controllerUID(pod, batchv1.SchemeGroupVersion.String(), "Job")
	})
}

// indexPodNames adds the index by which admission finds leaders.
func indexPodNames(ctx context.Context, indexer client.FieldIndexer) error {
	err := indexer.IndexField(ctx, &corev1.Pod{}, placement.PodNameIndex, func(obj client.Object) []string {
		if key, ok := placement.PodNameKey(obj.(*corev1.Pod)); ok {
			return []string{key}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("adding index %s to the informer of Pods: %w", placement.PodNameIndex, err)
	}
	return nil
}

// controllerUID is the UID of the controller of an object, if that is of the given kind.
func controllerUID(obj metav1.Object, apiVersion, kind string) []string {
	owner := metav1.GetControllerOfNoCopy(obj)
	if owner == nil || owner.APIVersion != apiVersion || owner.Kind != kind {
		return nil
	}
	return []string{string(owner.UID)}
}
