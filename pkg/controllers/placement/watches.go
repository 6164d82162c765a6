/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"context"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
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
	if pod := evt.Object.(*facts.Member); pod.Live() {
		wake(pod, q)
	}
}

func (placementEvents) Update(_ context.Context, evt event.UpdateEvent, q placementQueue) {
	if pod := evt.ObjectNew.(*facts.Member); moved(evt.ObjectOld.(*facts.Member), pod) {
		wake(pod, q)
	}
}

func (placementEvents) Delete(_ context.Context, evt event.DeleteEvent, q placementQueue) {
	if pod := evt.Object.(*facts.Member); pod.Leads {
		wake(pod, q)
	}
}

func (placementEvents) Generic(context.Context, event.GenericEvent, placementQueue) {}

// moved reports whether the placement of a Pod changed, or what will determine it.
func moved(old, pod *facts.Member) bool {
	if pod.Leads {
		return old.Node != pod.Node || old.Live() != pod.Live()
	}
	// The selector of a Pod changes only while scheduling gates hold it back.
	return ptr.Deref(old.Domain, "") != ptr.Deref(pod.Domain, "")
}

// wake enqueues the Job that controls a Pod.
func wake(pod *facts.Member, q placementQueue) {
	if pod.Topology == "" {
		return
	}
	owner := metav1.GetControllerOfNoCopy(pod)
	if owner == nil || owner.Kind != "Job" || owner.APIVersion != batchv1.SchemeGroupVersion.String() {
		return
	}
	q.AddAfter(podsOfJob{NamespacedName: types.NamespacedName{Namespace: pod.Namespace, Name: owner.Name}, UID: owner.UID}, repairDelay)
}

// indexPods adds the indexes by which admission finds leaders, and the other Pods of their Job.
func indexPods(ctx context.Context, c cache.Cache) (found placement.Pods, err error) {
	byName, err := indexPodsBy(ctx, c, "podName", placement.PodNameKey)
	if err != nil {
		return found, err
	}
	byJob, err := indexPodsBy(ctx, c, "podJob", placement.PodJobKey)
	return placement.Pods{ByName: lookupIn(byName), ByJob: lookupIn(byJob), Complete: byName.Synced}, err
}

func indexPodsBy(ctx context.Context, c cache.Cache, index string, keyOf func(*facts.Member) (string, bool)) (shared.Indexed[*facts.Member], error) {
	return shared.IndexKind(ctx, c, &corev1.Pod{}, index, func(pod *facts.Member) []string {
		if key, ok := keyOf(pod); ok {
			return []string{shared.InNamespace(pod.Namespace, types.UID(key))}
		}
		return nil
	})
}

func lookupIn(pods shared.Indexed[*facts.Member]) placement.Lookup {
	return func(namespace, key string) ([]*facts.Member, error) {
		return pods.Under(shared.InNamespace(namespace, types.UID(key)))
	}
}
