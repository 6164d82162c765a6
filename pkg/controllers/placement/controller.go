/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package placement is the controller that deletes followers that are not in the domain of their leader.
package placement

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

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
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// PodReconciler repairs exclusive placement, one Job at a time. Admission gives every
// follower the domain that its leader has at that time. If the leader is later replaced
// in another domain, or admission saw an old leader, the followers are deleted and
// the Job controller recreates them in the domain of their leader. If a replaced leader
// finds no node in the domain of its followers, they are deleted so that it can go elsewhere.
type PodReconciler struct {
	client client.Client
	events events.EventRecorder
	clock  clock.PassiveClock
	pods   shared.Indexed[*facts.Member]
	// patience is how long a replaced leader may look for a node in the domain of its followers; 0 means no limit.
	patience time.Duration
}

// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups="",resources=pods/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch

// Setup adds the Pod controller to a manager, and returns what the Pod webhooks look Pods up with. They read the cache of Nodes, too.
func Setup(ctx context.Context, mgr ctrl.Manager, deadlines policy.Deadlines) (placement.Pods, error) {
	found, err := setup(ctx, mgr, deadlines)
	if err != nil {
		return found, fmt.Errorf("setting up the Pod controller: %w", err)
	}
	return found, nil
}

func setup(ctx context.Context, mgr ctrl.Manager, deadlines policy.Deadlines) (found placement.Pods, err error) {
	r := &PodReconciler{
		client: mgr.GetClient(), events: mgr.GetEventRecorder("pod"), clock: clock.RealClock{}, patience: deadlines.Assembly,
	}
	if r.pods, err = shared.IndexPods(ctx, mgr.GetCache()); err != nil {
		return found, err
	}
	if found, err = indexPods(ctx, mgr.GetCache()); err != nil {
		return found, err
	}
	// Events of Nodes enqueue nothing; Nodes are only read.
	if _, err := mgr.GetCache().GetInformer(ctx, &corev1.Node{}, cache.BlockUntilSynced(false)); err != nil {
		return found, fmt.Errorf("getting the informer of Nodes: %w", err)
	}
	return found, builder.TypedControllerManagedBy[podsOfJob](mgr).
		Named("pod").
		WithLogConstructor(shared.PassLogger(mgr.GetLogger(), "pod", "job", func(job *podsOfJob) types.NamespacedName { return job.NamespacedName })).
		Watches(&corev1.Pod{}, placementEvents{}).
		Complete(r)
}

// Reconcile deletes the followers of a Job if one of them is bound for another domain than its leader's.
func (r *PodReconciler) Reconcile(ctx context.Context, job podsOfJob) (ctrl.Result, error) {
	pods, err := r.pods.ControlledBy(job.Namespace, job.UID)
	if err != nil {
		return ctrl.Result{}, err
	}
	leader := placement.ScheduledLeader(pods)
	if leader == nil {
		return r.freeLeader(ctx, job, pods)
	}
	node, err := shared.NodeOf(ctx, r.client, leader.Node)
	if err != nil {
		return ctrl.Result{}, err
	}
	followers, err := placement.Repair(leader, pods, node)
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("checking the placement of the Pods of Job %s, with leader %s on node %q: %w",
			job, leader.Name, leader.Node, err)
	}
	if len(followers) == 0 {
		return ctrl.Result{}, nil
	}
	return ctrl.Result{}, r.evictAll(ctx, shared.JobSetOf(ctx, r.client, leader), leader, followers, "not in the domain of its leader",
		fmt.Sprintf("of Job %s, to be created again in the domain (%s) of their leader Pod %s on node %s", job.Name, leader.Topology, leader.Name, leader.Node))
}

// evictAll evicts followers, and tells their JobSet, unless it is nil.
func (r *PodReconciler) evictAll(ctx context.Context, js *jobset.JobSet, leader *facts.Member, followers []*facts.Member, reason, note string) error {
	if err := shared.All(followers, func(pod *facts.Member) error { return r.evict(ctx, pod, reason) }); err != nil {
		return err
	}
	if js != nil {
		r.events.Eventf(js, leader, corev1.EventTypeWarning, placement.ViolationReason, constants.EventAction, "deleted %d follower Pods %s", len(followers), note)
	}
	return nil
}

// freeLeader deletes the followers that bind a leader to a domain in which it
// finds no node. It does so only in a group that restarts in place: its followers are held
// and wait for the leader, so they lose nothing but their place (P24).
func (r *PodReconciler) freeLeader(ctx context.Context, job podsOfJob, pods []*facts.Member) (ctrl.Result, error) {
	leader, followers := placement.StrandedLeader(pods)
	if leader == nil || r.patience <= 0 {
		return ctrl.Result{}, nil
	}
	js := shared.JobSetOf(ctx, r.client, leader)
	if js == nil || !workerpod.WantsInPlace(js) {
		return ctrl.Result{}, nil
	}
	if left := leader.CreationTimestamp.Add(r.patience).Sub(r.clock.Now()); left > 0 {
		return ctrl.Result{RequeueAfter: left}, nil
	}
	if policy.Bypassed(js) {
		return ctrl.Result{RequeueAfter: r.patience}, nil
	}
	return ctrl.Result{}, r.evictAll(ctx, js, leader, followers, "its leader could not be scheduled in its domain",
		fmt.Sprintf("of Job %s, since their leader Pod %s could not be scheduled in their domain (%s) for %s; all Pods of the Job are placed again",
			job.Name, leader.Name, leader.Topology, r.patience))
}

// evict marks a Pod as disrupted and deletes it. The mark comes first: without it the
// deletion looks like a failure.
func (r *PodReconciler) evict(ctx context.Context, pod *facts.Member, reason string) error {
	target := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}}
	if !pod.Disrupted {
		patch, err := disruptionPatch(metav1.NewTime(r.clock.Now()))
		if err != nil {
			return err
		}
		err = r.client.Status().Patch(ctx, target, patch) //nolint:forbidigo // the status of a Pod
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("marking Pod %s, which is not in the domain of its leader: %w", klog.KObj(pod), err)
		}
	}
	err := r.client.Delete(ctx, target,
		client.PropagationPolicy(metav1.DeletePropagationBackground),
		client.Preconditions{UID: &pod.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting Pod %s, which is not in the domain of its leader: %w", klog.KObj(pod), err)
	}
	shared.Wrote(ctx, "Deleted a Pod", reason, "pod", klog.KObj(pod), "node", pod.Node)
	return nil
}

// disruptionPatch adds one condition and leaves the others alone, which are not in the cache.
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
