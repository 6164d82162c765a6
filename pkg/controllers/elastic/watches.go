/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
)

// Setup adds the planner of elastic JobSets to a manager.
func Setup(ctx context.Context, mgr ctrl.Manager, board *Board, config Autoscaling) error {
	bound, err := cache.New(mgr.GetConfig(), boundCacheOptions(mgr))
	if err != nil {
		return fmt.Errorf("setting up the autoscaler: making a cache of nodes and their Pods: %w", err)
	}
	a := &autoscaler{
		client: mgr.GetClient(), board: board, bound: bound, cache: bound, events: mgr.GetEventRecorder("jobset-autoscaler"), clock: clock.RealClock{}, config: config,
		wake: make(chan struct{}, 1),
	}
	jobSets, err := mgr.GetCache().GetInformer(ctx, &jobset.JobSet{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("setting up the autoscaler: getting the informer of JobSets: %w", err)
	}
	if _, err := jobSets.AddEventHandler(a.wakes(a.jobSetMatters)); err != nil {
		return fmt.Errorf("setting up the autoscaler: watching JobSets: %w", err)
	}
	if err := a.watchPods(ctx, mgr.GetCache()); err != nil {
		return fmt.Errorf("setting up the autoscaler: %w", err)
	}
	if err := mgr.Add(a); err != nil {
		return fmt.Errorf("setting up the autoscaler: %w", err)
	}
	return nil
}

// watchPods finds the Pods of Jobs, and starts a round when those appear to which room is given.
func (a *autoscaler) watchPods(ctx context.Context, c cache.Cache) (err error) {
	if a.pods, err = shared.IndexPods(ctx, c); err != nil {
		return err
	}
	informer, err := c.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("getting the informer of Pods: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: a.podAppears, UpdateFunc: func(_, is any) { a.podAppears(is) },
	})
	return err
}

// wakes returns a handler that starts a round after changes that matter.
func (a *autoscaler) wakes(matters func(was, is any) bool) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { a.requestRound() },
		DeleteFunc: func(any) { a.requestRound() },
		UpdateFunc: func(was, is any) {
			if matters(was, is) {
				a.requestRound()
			}
		},
	}
}

// requestRound starts a round as soon as possible.
func (a *autoscaler) requestRound() {
	select {
	case a.wake <- struct{}{}:
	default: // it is awake
	}
}

// jobSetMatters: what the plan depends on has changed, or the status of a JobSet whose sizes wait for that.
func (a *autoscaler) jobSetMatters(was, is any) bool {
	before, ok := was.(*jobset.JobSet)
	after, ok2 := is.(*jobset.JobSet)
	return ok && ok2 && (before.Generation != after.Generation || before.Status.TerminalState != after.Status.TerminalState ||
		(before.Status.SyncedEpoch == nil) != (after.Status.SyncedEpoch == nil) || a.owes(client.ObjectKeyFromObject(after)))
}

// owes reports whether sizes of a JobSet change once its status says why.
func (a *autoscaler) owes(jobSet types.NamespacedName) bool {
	owed := a.owed.Load()
	return owed != nil && (*owed)[jobSet]
}

// nodeMatters: heartbeats change nothing that is kept.
func nodeMatters(was, is any) bool {
	before, ok := was.(*corev1.Node)
	after, ok2 := is.(*corev1.Node)
	return ok && ok2 && !sameNode(before, after)
}

// podAppears starts a round if a Pod waits for a node, and the last plan gave nothing to its JobSet because there were none, or
// found its group waiting. The label of the Pod may be wrong; then the round is one too many.
func (a *autoscaler) podAppears(obj any) {
	pod, awaited := obj.(*facts.Member), a.awaited.Load()
	if awaited == nil || !awaitsNode(pod) {
		return
	}
	for _, key := range shared.ByJobSetLabel(pod) {
		if (*awaited)[key] {
			a.requestRound()
		}
	}
}
