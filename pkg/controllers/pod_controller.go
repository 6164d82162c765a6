/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/placement"
)

// PodReconciler repairs exclusive placement. Admission gives every follower the
// domain its leader has at that time. Where a leader was replaced in another
// domain afterwards, or admission saw an old one, the followers have to go, and
// the Job controller creates them again where their leader is.
//
// It looks at one Job at a time.
type PodReconciler struct {
	client client.Client
	events events.EventRecorder
	clock  clock.PassiveClock
	pods   owned[*corev1.Pod]
}

// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;update;patch;delete
// +kubebuilder:rbac:groups="",resources=pods/status,verbs=update;patch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch

// SetupPodReconciler adds the Pod controller to a manager, and what the webhooks
// of Pods read: the caches of Pods and Nodes, and the index of leaders.
func SetupPodReconciler(ctx context.Context, mgr ctrl.Manager) error {
	r := &PodReconciler{client: mgr.GetClient(), events: mgr.GetEventRecorder("pod"), clock: clock.RealClock{}}
	var err error
	if r.pods, err = indexPods(ctx, mgr.GetCache()); err != nil {
		return fmt.Errorf("setting up the Pod controller: %w", err)
	}
	if err := indexPodNames(ctx, mgr.GetFieldIndexer()); err != nil {
		return fmt.Errorf("setting up the Pod controller: %w", err)
	}
	// Nodes wake nobody; they are only looked up.
	if _, err := mgr.GetCache().GetInformer(ctx, &corev1.Node{}, cache.BlockUntilSynced(false)); err != nil {
		return fmt.Errorf("setting up the Pod controller: getting the informer of Nodes: %w", err)
	}
	err = builder.TypedControllerManagedBy[podsOfJob](mgr).
		Named("pod").
		Watches(&corev1.Pod{}, placementEvents{}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("setting up the Pod controller: %w", err)
	}
	return nil
}

// Reconcile deletes the followers of a Job if one of them is not bound for its leader's domain.
func (r *PodReconciler) Reconcile(ctx context.Context, job podsOfJob) (ctrl.Result, error) {
	pods, err := r.pods.of(job.UID)
	if err != nil {
		return ctrl.Result{}, err
	}
	leader := placement.ScheduledLeader(pods)
	if leader == nil {
		return ctrl.Result{}, nil
	}
	node, err := r.nodeOf(ctx, leader)
	if err != nil {
		return ctrl.Result{}, err
	}
	followers, err := placement.Repair(leader, pods, node)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("checking where the Pods of Job %s are, led by %s on node %q: %w",
			job, leader.Name, leader.Spec.NodeName, err)
	}
	if len(followers) == 0 {
		return ctrl.Result{}, nil
	}
	if err := each(followers, func(pod *corev1.Pod) error { return r.evict(ctx, pod) }); err != nil {
		return ctrl.Result{}, err
	}
	r.tell(ctx, job, leader, len(followers))
	return ctrl.Result{}, nil
}

// nodeOf reads the node of a Pod. It is nil if there is none, or none yet.
func (r *PodReconciler) nodeOf(ctx context.Context, pod *corev1.Pod) (*corev1.Node, error) {
	node := &corev1.Node{}
	err := r.client.Get(ctx, types.NamespacedName{Name: pod.Spec.NodeName}, node, client.UnsafeDisableDeepCopy)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("reading Node %s: %w", pod.Spec.NodeName, err)
	}
	if err != nil {
		node = nil
	}
	return node, nil
}

// evict marks a Pod and deletes it. The mark comes first: a Pod that is deleted
// without it looks like one that failed.
func (r *PodReconciler) evict(ctx context.Context, pod *corev1.Pod) error {
	target := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	if !placement.IsMarked(pod) {
		patch, err := disruptionPatch(metav1.NewTime(r.clock.Now()))
		if err != nil {
			return err
		}
		if err := r.client.Status().Patch(ctx, target, patch); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("marking Pod %s, which is in another domain than its leader: %w", klog.KObj(pod), err)
		}
	}
	err := r.client.Delete(ctx, target,
		client.PropagationPolicy(metav1.DeletePropagationBackground),
		client.Preconditions{UID: &pod.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting Pod %s, which is in another domain than its leader: %w", klog.KObj(pod), err)
	}
	return nil
}

// disruptionPatch adds one condition and leaves the others, which the cache does not hold, alone.
func disruptionPatch(now metav1.Time) (client.Patch, error) {
	condition := corev1.PodCondition{
		Type:               corev1.DisruptionTarget,
		Status:             corev1.ConditionTrue,
		LastTransitionTime: now,
		Reason:             placement.ViolationReason,
		Message:            placement.ViolationMessage,
	}
	raw, err := json.Marshal(map[string]any{"status": map[string]any{"conditions": []corev1.PodCondition{condition}}})
	if err != nil {
		return nil, fmt.Errorf("encoding a Pod condition: %w", err)
	}
	return client.RawPatch(types.StrategicMergePatchType, raw), nil
}

// tell records an event about the JobSet, if that is known.
func (r *PodReconciler) tell(ctx context.Context, job podsOfJob, leader *corev1.Pod, deleted int) {
	js := &jobset.JobSet{}
	key := types.NamespacedName{Namespace: leader.Namespace, Name: leader.Labels[jobset.JobSetNameKey]}
	if err := r.client.Get(ctx, key, js, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	topology, _ := placement.Topology(leader)
	r.events.Eventf(js, leader, corev1.EventTypeWarning, placement.ViolationReason, constants.EventAction,
		"deleted %d follower Pods of Job %s, to be created again in the domain (%s) of their leader Pod %s on node %s",
		deleted, job.Name, topology, leader.Name, leader.Spec.NodeName)
}
