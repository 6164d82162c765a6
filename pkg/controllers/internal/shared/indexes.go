/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package shared is what several controllers use: indexes of the cache and what it keeps, limits of writes, and the log.
package shared

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
)

// Indexed reads cached objects by an index, such as those that an object controls, by its namespace and UID. It
// returns the objects of the cache itself, which must not be changed: a List would
// copy every object on every pass.
type Indexed[T client.Object] struct {
	// Index names the index, Store holds it: nil if the kind is not watched.
	Index string
	Store toolscache.Indexer
	// Synced: the store is complete.
	Synced func() bool
}

// IndexKind adds an index to the informer of a kind, unless another controller of this manager has added it already. T is what the
// cache keeps of each object.
func IndexKind[T client.Object](ctx context.Context, c cache.Cache, kind client.Object, index string, keyOf func(T) []string) (Indexed[T], error) {
	informer, err := c.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
	if err != nil {
		return Indexed[T]{}, fmt.Errorf("getting the informer of %T: %w", kind, err)
	}
	withIndexer, ok := informer.(interface{ GetIndexer() toolscache.Indexer })
	if !ok {
		return Indexed[T]{}, fmt.Errorf("the informer of %T is a %T, which has no indexer", kind, informer)
	}
	store := withIndexer.GetIndexer()
	if _, exists := store.GetIndexers()[index]; exists {
		return Indexed[T]{index, store, informer.HasSynced}, nil
	}
	err = informer.AddIndexers(toolscache.Indexers{index: func(obj any) ([]string, error) {
		return keyOf(obj.(T)), nil
	}})
	if err != nil {
		return Indexed[T]{}, fmt.Errorf("adding index %s to the informer of %T: %w", index, kind, err)
	}
	return Indexed[T]{index, store, informer.HasSynced}, nil
}

// ControlledBy returns the cached objects in a namespace that the object with this UID controls. The cache holds
// all namespaces, and whoever creates an object writes any UID into its ownerReferences, so what names an owner
// of another namespace must not be found: an owner that has a namespace controls objects of that one only.
func (c Indexed[T]) ControlledBy(namespace string, uid types.UID) ([]T, error) {
	return c.Under(InNamespace(namespace, uid))
}

// InNamespace is the key of what belongs to the object with this UID. No namespace contains a slash.
func InNamespace(namespace string, uid types.UID) string { return namespace + "/" + string(uid) }

// Under returns the cached objects that the index has under a key.
func (c Indexed[T]) Under(key string) ([]T, error) {
	if c.Store == nil {
		return nil, nil // this kind is not watched
	}
	objs, err := c.Store.ByIndex(c.Index, key)
	if err != nil {
		return nil, fmt.Errorf("reading index %s: %w", c.Index, err)
	}
	typed := make([]T, len(objs))
	for i, obj := range objs {
		typed[i] = obj.(T)
	}
	return typed, nil
}

// Named returns the cached object of a name, nil if there is none.
func (c Indexed[T]) Named(namespace, name string) (found T) {
	if c.Store == nil {
		return found
	}
	if obj, exists, err := c.Store.GetByKey(namespace + "/" + name); err == nil && exists {
		found = obj.(T)
	}
	return found
}

// Keeping makes a cache keep of each object of a kind what of returns. What is no such object stays as it is: an informer shows a
// transform what it has returned, too.
func Keeping[T, Kept client.Object](of func(T) Kept) toolscache.TransformFunc {
	return func(obj any) (any, error) {
		if object, ok := obj.(T); ok {
			return of(object), nil
		}
		return obj, nil
	}
}

// Having selects the objects that have a label.
func Having(label string) labels.Selector {
	exists, err := labels.NewRequirement(label, selection.Exists, nil)
	if err != nil {
		panic(err) // all labels are constants
	}
	return labels.NewSelector().Add(*exists)
}

// IndexPods finds the Pods of a Job.
func IndexPods(ctx context.Context, c cache.Cache) (Indexed[*facts.Member], error) {
	return IndexKind(ctx, c, &corev1.Pod{}, constants.PodsIndexByJobKey, func(pod *facts.Member) []string {
		return ControllerKey(pod, batchv1.SchemeGroupVersion.String(), "Job")
	})
}

// ControllerKey returns the namespace and UID of the controller of an object, if the controller is of the given kind.
func ControllerKey(obj metav1.Object, apiVersion, kind string) []string {
	owner := metav1.GetControllerOfNoCopy(obj)
	if owner == nil || owner.APIVersion != apiVersion || owner.Kind != kind {
		return nil
	}
	return []string{InNamespace(obj.GetNamespace(), owner.UID)}
}
