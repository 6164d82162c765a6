/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes"
)

// statusWriter writes the statuses of one Pod in the order they were reported, beside the worker, so that an API server
// that is slow or away never holds up a container. While writing works every status becomes visible, the short-lived
// ones too; after a failure only the latest counts.
type statusWriter struct {
	client kubernetes.Interface
	key    types.NamespacedName
	uid    types.UID
	base   corev1.PodStatus // what the API server has, as far as we own it

	mu     sync.Mutex
	queue  []corev1.PodStatus
	remove bool
	wake   chan struct{}
}

func newStatusWriter(client kubernetes.Interface, pod *corev1.Pod) *statusWriter {
	return &statusWriter{
		client: client, uid: pod.UID,
		key:  types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name},
		base: ownedStatus(&pod.Status), wake: make(chan struct{}, 1),
	}
}

// enqueue reports a status.
func (s *statusWriter) enqueue(status corev1.PodStatus) {
	s.mu.Lock()
	s.queue = append(s.queue, *status.DeepCopy())
	s.mu.Unlock()
	poke(s.wake)
}

// removeAfter deletes the Pod from the API once everything reported is written.
func (s *statusWriter) removeAfter() {
	s.mu.Lock()
	s.remove = true
	s.mu.Unlock()
	poke(s.wake)
}

// run writes until ctx is done or the Pod is gone.
func (s *statusWriter) run(ctx context.Context) {
	delay := minWriteDelay
	for {
		status, remove := s.head()
		var err error
		switch {
		case status != nil:
			err = s.write(ctx, status)
		case remove:
			err = s.delete(ctx)
		default:
			select {
			case <-ctx.Done():
				return
			case <-s.wake:
			}
			continue
		}
		switch {
		case err == nil && status == nil:
			return // deleted
		case err == nil:
			s.drop(1)
			delay = minWriteDelay
		case ctx.Err() != nil, apierrors.IsNotFound(err):
			return // the Pod is gone, or the node stops
		default:
			if !pause(ctx, delay) {
				return
			}
			delay = min(2*delay, maxWriteDelay)
			s.keepLatest()
		}
	}
}

const (
	minWriteDelay = 50 * time.Millisecond
	maxWriteDelay = 5 * time.Second
	writeTimeout  = 10 * time.Second
)

func (s *statusWriter) head() (*corev1.PodStatus, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return nil, s.remove
	}
	return &s.queue[0], s.remove
}

func (s *statusWriter) drop(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = s.queue[n:]
}

func (s *statusWriter) keepLatest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 1 {
		s.queue = s.queue[len(s.queue)-1:]
	}
}

func (s *statusWriter) write(ctx context.Context, status *corev1.PodStatus) error {
	patch, err := statusPatch(s.uid, &s.base, status)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	_, err = s.client.CoreV1().Pods(s.key.Namespace).Patch(ctx, s.key.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{}, "status")
	if err != nil {
		return fmt.Errorf("patching status of Pod %s: %w", s.key, err)
	}
	s.base = *status
	return nil
}

func (s *statusWriter) delete(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	now := int64(0)
	err := s.client.CoreV1().Pods(s.key.Namespace).Delete(ctx, s.key.Name, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: metav1.NewUIDPreconditions(string(s.uid)),
	})
	if err != nil && !apierrors.IsConflict(err) { // a conflict is another Pod of that name: ours is gone
		return fmt.Errorf("deleting Pod %s: %w", s.key, err)
	}
	return nil
}

// statusPatch is the difference between two statuses. The UID in it makes the API server refuse it for another Pod of
// the same name.
func statusPatch(uid types.UID, before, after *corev1.PodStatus) ([]byte, error) {
	old, err := json.Marshal(corev1.Pod{Status: *before})
	if err != nil {
		return nil, fmt.Errorf("encoding status: %w", err)
	}
	changed, err := json.Marshal(corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}, Status: *after})
	if err != nil {
		return nil, fmt.Errorf("encoding status: %w", err)
	}
	patch, err := strategicpatch.CreateTwoWayMergePatch(old, changed, corev1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("computing status patch: %w", err)
	}
	return patch, nil
}

// poke wakes whoever waits on a channel of capacity one; wakes that are not yet consumed collapse.
func poke(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}
