/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package shared

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

// MaxNote is the longest note that the events API accepts, in bytes.
const MaxNote = 1024

// ManagedHere reports whether this controller acts on the JobSet.
func ManagedHere(js *jobset.JobSet) bool {
	return js.Spec.ManagedBy == nil || *js.Spec.ManagedBy == jobset.JobSetControllerName
}

// JobSetOf returns the JobSet of a Pod, nil if it is not in the cache.
func JobSetOf(ctx context.Context, reader client.Reader, pod *facts.Member) *jobset.JobSet {
	name, ok := pod.Labels[jobset.JobSetNameKey]
	if !ok {
		return nil
	}
	js := &jobset.JobSet{}
	key := types.NamespacedName{Namespace: pod.Namespace, Name: name}
	if err := reader.Get(ctx, key, js, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	if uid, ok := pod.Labels[jobset.JobSetUIDKey]; ok && uid != string(js.UID) {
		return nil // of an earlier JobSet of that name
	}
	return js
}

// NodeOf returns the Node of a name, nil if it is not in the cache.
func NodeOf(ctx context.Context, reader client.Reader, name string) (*corev1.Node, error) {
	node := &corev1.Node{}
	switch err := reader.Get(ctx, types.NamespacedName{Name: name}, node, client.UnsafeDisableDeepCopy); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading Node %s: %w", name, err)
	}
	return node, nil
}

// ByJobSetLabel is the key of the JobSet that the labels of a Pod name.
func ByJobSetLabel(pod *facts.Member) []string {
	if uid, ok := pod.Labels[jobset.JobSetUIDKey]; ok {
		return []string{InNamespace(pod.Namespace, types.UID(uid))}
	}
	return nil
}

// Note cuts the message of an event to what the events API accepts.
func Note(message string) string {
	if len(message) <= MaxNote {
		return message
	}
	return strings.ToValidUTF8(message[:MaxNote-len("...")], "") + "..." // a rune may be cut
}
