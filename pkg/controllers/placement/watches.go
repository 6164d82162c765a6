/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"sigs.k8s.io/jobset/pkg/placement"
)

// repairDelay merges the events of the Pods of a Job: thousands of followers
// appear within a second, and each pass reads all of them.
const repairDelay = 100 * time.Millisecond

// podsOfJob identifies the Pods of one Job. It has the UID because the next Job of the
// same name has other Pods.
type podsOfJob struct {
	types.NamespacedName
	UID types.UID
}

// placementEvents enqueues a Job on events that can put followers in another domain than their
// leader: a leader is scheduled, one of two leaders goes, or a follower appears.
type placementEvents struct{}

var _ handler.TypedEventHandler[client.Object, podsOfJob] = placementEvents{}

type placementQueue = workqueue.TypedRateLimitingInterface[podsOfJob]

func (placementEvents) Create(_ context.Context, evt event.CreateEvent, q placementQueue) {
	if pod, ok := evt.Object.(*corev1.Pod); ok && placement.IsLive(pod) {
		wake(pod, q)
	}
}

func (placementEvents) Update(_ context.Context, evt event.UpdateEvent, q placementQueue) {
	old, isPod := evt.ObjectOld.(*corev1.Pod)
	pod, stillPod := evt.ObjectNew.(*corev1.Pod)
	if isPod && stillPod && moved(old, pod) {
		wake(pod, q)
	}
}

func (placementEvents) Delete(_ context.Context, evt event.DeleteEvent, q placementQueue) {
	if pod, ok := evt.Object.(*corev1.Pod); ok && placement.IsLeader(pod) {
		wake(pod, q)
	}
}

func (placementEvents) Generic(context.Context, event.GenericEvent, placementQueue) {}

// moved reports whether the placement of a Pod changed, or what will determine it.
func moved(old, pod *corev1.Pod) bool {
	if placement.IsLeader(pod) {
		return old.Spec.NodeName != pod.Spec.NodeName || placement.IsLive(old) != placement.IsLive(pod)
	}
	// The selector of a Pod changes only while scheduling gates hold it back.
	topology, _ := placement.Topology(pod)
	return old.Spec.NodeSelector[topology] != pod.Spec.NodeSelector[topology]
}

// wake enqueues the Job that controls a Pod.
func wake(pod *corev1.Pod, q placementQueue) {
	if _, exclusive := placement.Topology(pod); !exclusive {
		return
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil || owner.Kind != "Job" || owner.APIVersion != batchv1.SchemeGroupVersion.String() {
		return
	}
	q.AddAfter(podsOfJob{NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}, UID: owner.UID}, repairDelay)
}

// indexPods adds the indexes by which admission finds leaders, and the other Pods of their Job.
func indexPods(ctx context.Context, indexer client.FieldIndexer) error {
	for index, keyOf := range map[string]func(*corev1.Pod) (string, bool){placement.PodNameIndex: placement.PodNameKey, placement.PodJobIndex: placement.PodJobKey} {
		err := indexer.IndexField(ctx, &corev1.Pod{}, index, func(obj client.Object) []string {
			if key, ok := keyOf(obj.(*corev1.Pod)); ok {
				return []string{key}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("adding index %s to the informer of Pods: %w", index, err)
		}
	}
	return nil
}
