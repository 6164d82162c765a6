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
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/placement"
)

// indexed reads cached objects by an index, such as those that an object controls, by its namespace and UID. It
// returns the objects of the cache itself, which must not be changed: a List would
// copy every object on every pass.
type indexed[T client.Object] struct {
	index string
	store toolscache.Indexer
}

// indexKind adds an index to the informer of T, unless another
// controller of this manager has added it already.
func indexKind[T client.Object](ctx context.Context, c cache.Cache, kind T, index string, keyOf func(T) []string) (indexed[T], error) {
	informer, err := c.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
	if err != nil {
		return indexed[T]{}, fmt.Errorf("getting the informer of %T: %w", kind, err)
	}
	withIndexer, ok := informer.(interface{ GetIndexer() toolscache.Indexer })
	if !ok {
		return indexed[T]{}, fmt.Errorf("the informer of %T is a %T, which has no indexer", kind, informer)
	}
	store := withIndexer.GetIndexer()
	if _, exists := store.GetIndexers()[index]; exists {
		return indexed[T]{index: index, store: store}, nil
	}
	err = informer.AddIndexers(toolscache.Indexers{index: func(obj any) ([]string, error) {
		return keyOf(obj.(T)), nil
	}})
	if err != nil {
		return indexed[T]{}, fmt.Errorf("adding index %s to the informer of %T: %w", index, kind, err)
	}
	return indexed[T]{index: index, store: store}, nil
}

// controlledBy returns the cached objects in a namespace that the object with this UID controls. The cache holds
// all namespaces, and whoever creates an object writes any UID into its ownerReferences, so what names an owner
// of another namespace must not be found: an owner that has a namespace controls objects of that one only.
func (c indexed[T]) controlledBy(namespace string, uid types.UID) ([]T, error) {
	return c.under(inNamespace(namespace, uid))
}

// inNamespace is the key of what belongs to the object with this UID. No namespace contains a slash.
func inNamespace(namespace string, uid types.UID) string { return namespace + "/" + string(uid) }

// under returns the cached objects that the index has under a key.
func (c indexed[T]) under(key string) ([]T, error) {
	if c.store == nil {
		return nil, nil // this kind is not watched
	}
	objs, err := c.store.ByIndex(c.index, key)
	if err != nil {
		return nil, fmt.Errorf("reading index %s: %w", c.index, err)
	}
	typed := make([]T, len(objs))
	for i, obj := range objs {
		typed[i] = obj.(T)
	}
	return typed, nil
}

func indexJobs(ctx context.Context, c cache.Cache) (indexed[*batchv1.Job], error) {
	return indexKind(ctx, c, &batchv1.Job{}, constants.JobsIndexByJobSetKey, func(job *batchv1.Job) []string {
		return controllerKey(job, jobset.GroupVersion.String(), jobset.Kind)
	})
}

func indexPods(ctx context.Context, c cache.Cache) (indexed[*corev1.Pod], error) {
	return indexKind(ctx, c, &corev1.Pod{}, constants.PodsIndexByJobKey, func(pod *corev1.Pod) []string {
		return controllerKey(pod, batchv1.SchemeGroupVersion.String(), "Job")
	})
}

// indexPodsByNode finds the Pods of a node.
func indexPodsByNode(ctx context.Context, c cache.Cache) (indexed[*corev1.Pod], error) {
	return indexKind(ctx, c, &corev1.Pod{}, constants.PodsIndexByNode, byNode)
}

func byNode(pod *corev1.Pod) []string {
	if pod.Spec.NodeName == "" {
		return nil
	}
	return []string{pod.Spec.NodeName}
}

// markedNodes is the only key of the index of nodes that Pods are moved off.
const markedNodes = "marked"

// indexMarkedNodes finds the nodes that Pods are moved off: few of thousands, so a pass does not look at the others.
func indexMarkedNodes(ctx context.Context, c cache.Cache, rules nodehealth.Rules) (indexed[*corev1.Node], error) {
	return indexKind(ctx, c, &corev1.Node{}, constants.MarkedNodesIndex, marks(rules))
}

func marks(rules nodehealth.Rules) func(*corev1.Node) []string {
	return func(node *corev1.Node) []string {
		if len(rules.Marks(node.Labels)) == 0 {
			return nil
		}
		return []string{markedNodes}
	}
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

// controllerKey returns the namespace and UID of the controller of an object, if the controller is of the given kind.
func controllerKey(obj metav1.Object, apiVersion, kind string) []string {
	owner := metav1.GetControllerOfNoCopy(obj)
	if owner == nil || owner.APIVersion != apiVersion || owner.Kind != kind {
		return nil
	}
	return []string{inNamespace(obj.GetNamespace(), owner.UID)}
}
