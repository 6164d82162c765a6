/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/agentaccess"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// Setup adds the JobSet controller and its indexes to a manager.
// Pods are watched only if the gates ask for it.
func Setup(ctx context.Context, mgr ctrl.Manager, gates gates.Set, deadlines policy.Deadlines, options ...Option) error {
	r := &JobSetReconciler{
		client:    mgr.GetClient(),
		live:      mgr.GetAPIReader(),
		events:    mgr.GetEventRecorder("jobset"),
		gates:     gates,
		deadlines: deadlines,
		clock:     clock.RealClock{},
		memory:    newMemory(),

		tolerance: tolerance.Builtin(),

		slots:     shared.NewSlots(),
		cacheLag:  10 * time.Second,
		informers: mgr.GetCache(),

		agentPolicy: (*agentaccess.Policy)(nil), // which knows nothing
		leasePolicy: (*agentaccess.Policy)(nil),
	}
	for _, option := range options {
		option(r)
	}
	var err error
	if r.jobs, err = indexJobs(ctx, mgr.GetCache()); err != nil {
		return fmt.Errorf("setting up the JobSet controller: %w", err)
	}
	builder := ctrl.NewControllerManagedBy(mgr).
		For(&jobset.JobSet{}).
		WithLogConstructor(shared.PassLogger(mgr.GetLogger(), "jobset", "jobSet", func(req *ctrl.Request) types.NamespacedName { return req.NamespacedName })).
		Watches(&batchv1.Job{}, &jobEvents{reader: mgr.GetClient(), memory: r.memory, gates: gates}).
		WatchesRawSource(source.Func(func(_ context.Context, q queue) error {
			r.verdicts.OnPost(func(js types.NamespacedName) { q.Add(reconcile.Request{NamespacedName: js}) })
			return nil
		}))
	if err := watchServices(ctx, mgr.GetCache(), builder); err != nil {
		return fmt.Errorf("setting up the JobSet controller: %w", err)
	}
	if r.pods, err = shared.IndexPods(ctx, mgr.GetCache()); err != nil {
		return fmt.Errorf("setting up the JobSet controller: %w", err)
	}
	if gates.InPlaceRestart {
		// Events of Nodes enqueue nothing; Nodes are only read.
		if _, err := mgr.GetCache().GetInformer(ctx, &corev1.Node{}, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("setting up the JobSet controller: getting the informer of Nodes: %w", err)
		}
		builder = r.watchGrants(builder)
	}
	if gates.FaultTolerance {
		if r.podsOfJobSet, err = indexPodsByJobSet(ctx, mgr.GetCache()); err != nil {
			return fmt.Errorf("setting up the JobSet controller: %w", err)
		}
	}
	if gates.InPlaceRestart || gates.FaultTolerance {
		pods := &podEvents{reader: mgr.GetClient(), memory: r.memory, gates: gates, pods: r.pods, leases: r.reporting}
		builder = r.watchLeases(builder.Watches(&corev1.Pod{}, pods), pods)
	}
	if err := r.watchNodes(ctx, mgr, builder); err != nil {
		return fmt.Errorf("setting up the JobSet controller: %w", err)
	}
	if err := builder.Complete(r); err != nil {
		return fmt.Errorf("setting up the JobSet controller: %w", err)
	}
	return nil
}
