/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package controllers is the shell around package policy: it gathers what a
// decision may look at, executes the plan, and reports.
package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
)

// JobSetReconciler makes the Jobs of a JobSet what its spec asks for.
type JobSetReconciler struct {
	client client.Client
	// live reads past the cache.
	live   client.Reader
	events events.EventRecorder
	gates  gates.Set
	// progress says when to step in if a group does not come together.
	progress policy.Progress
	clock    clock.PassiveClock
	memory   *memory
	jobs     owned[*batchv1.Job]
	pods     owned[*corev1.Pod]
	// informers starts the watch of a kind that is not watched from the start.
	informers cache.Informers
	// cacheLag is how long the cache may take to show Jobs that were created.
	cacheLag time.Duration
}

// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch;update;watch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch;update;watch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;create
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=jobset.x-k8s.io,resources=jobsets,verbs=get;list;watch;update;patch;delete
// +kubebuilder:rbac:groups=jobset.x-k8s.io,resources=jobsets/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=jobset.x-k8s.io,resources=jobsets/finalizers,verbs=update

// SetupJobSetReconciler adds the JobSet controller and its indexes to a manager.
// Pods are watched only if the gates ask for it.
func SetupJobSetReconciler(ctx context.Context, mgr ctrl.Manager, gates gates.Set, progress policy.Progress) error {
	r := &JobSetReconciler{
		client:   mgr.GetClient(),
		live:     mgr.GetAPIReader(),
		events:   mgr.GetEventRecorder("jobset"),
		gates:    gates,
		progress: progress,
		clock:    clock.RealClock{},
		memory:   newMemory(),

		cacheLag:  time.Second,
		informers: mgr.GetCache(),
	}
	var err error
	if r.jobs, err = indexJobs(ctx, mgr.GetCache()); err != nil {
		return fmt.Errorf("setting up the JobSet controller: %w", err)
	}
	builder := ctrl.NewControllerManagedBy(mgr).
		For(&jobset.JobSet{}).
		Watches(&batchv1.Job{}, &jobEvents{memory: r.memory}).
		Owns(&corev1.Service{})
	if gates.InPlaceRestart {
		if r.pods, err = indexPods(ctx, mgr.GetCache()); err != nil {
			return fmt.Errorf("setting up the JobSet controller: %w", err)
		}
		// Nodes wake nobody; they are only looked up.
		if _, err := mgr.GetCache().GetInformer(ctx, &corev1.Node{}, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("setting up the JobSet controller: getting the informer of Nodes: %w", err)
		}
		builder = builder.Watches(&corev1.Pod{}, &podEvents{reader: mgr.GetClient(), memory: r.memory})
	}
	if err := builder.Complete(r); err != nil {
		return fmt.Errorf("setting up the JobSet controller: %w", err)
	}
	return nil
}

// Reconcile makes one pass over a JobSet, look, decide, act, tell, if the last is long enough ago.
func (r *JobSetReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if wait := r.memory.startPass(req.NamespacedName, r.clock.Now()); wait > 0 {
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	result, err := r.pass(ctx, req)
	if err != nil {
		r.memory.failedPass(req.NamespacedName)
	}
	return result, err
}

func (r *JobSetReconciler) pass(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	js := &jobset.JobSet{}
	if err := r.client.Get(ctx, req.NamespacedName, js, client.UnsafeDisableDeepCopy); err != nil {
		if client.IgnoreNotFound(err) != nil {
			return ctrl.Result{}, fmt.Errorf("reading JobSet %s: %w", req, err)
		}
		r.memory.forget(req.NamespacedName)
		return ctrl.Result{}, nil
	}
	if js.DeletionTimestamp != nil || !managedHere(js) {
		return ctrl.Result{}, nil
	}
	plan, err := r.decide(ctx, js)
	if err != nil {
		return ctrl.Result{}, err
	}
	if plan.Confirm != nil { // another Job than the one just confirmed: the next pass looks at it
		return ctrl.Result{RequeueAfter: passInterval}, nil
	}
	if current, err := r.isCurrent(ctx, js, &plan); err != nil || !current {
		return ctrl.Result{RequeueAfter: passInterval}, err
	}
	if err := r.execute(ctx, js, &plan); err != nil {
		return ctrl.Result{}, errors.Join(err, r.reportCounts(ctx, js, &plan))
	}
	if plan.DeleteJobSet {
		return ctrl.Result{}, nil
	}
	result, err := r.report(ctx, js, &plan)
	if err == nil {
		r.untilSeen(ctx, &plan)
	}
	return result, err
}

// isCurrent tells whether a plan that makes workers of a group come or go was
// decided on the JobSet as it is. The status write is refused if it was not, but
// it comes after the changes: decided on a status of before the lift, they would
// be made to a group that runs, and be taken for failures (P16).
func (r *JobSetReconciler) isCurrent(ctx context.Context, js *jobset.JobSet, plan *policy.Plan) (bool, error) {
	if !r.gates.InPlaceRestart || !restartsInPlace(js) || !plan.ChangesGroup() {
		return true, nil
	}
	fresh := &jobset.JobSet{}
	err := r.live.Get(ctx, client.ObjectKeyFromObject(js), fresh)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading JobSet %s past the cache before its Jobs are changed: %w", klog.KObj(js), err)
	}
	return err == nil && fresh.UID == js.UID && fresh.ResourceVersion == js.ResourceVersion, nil
}

// decide looks, and looks closer if the decision asks for it.
func (r *JobSetReconciler) decide(ctx context.Context, js *jobset.JobSet) (policy.Plan, error) {
	in, err := r.gather(ctx, js)
	if err != nil {
		return policy.Plan{}, err
	}
	plan, err := policy.Decide(in)
	if err == nil && plan.Confirm != nil {
		if in, err = r.confirm(ctx, in, plan.Confirm); err != nil {
			return policy.Plan{}, err
		}
		plan, err = policy.Decide(in)
	}
	if err != nil {
		return policy.Plan{}, fmt.Errorf("deciding about JobSet %s: %w", klog.KObj(js), err)
	}
	return plan, nil
}

// managedHere tells whether this controller acts on the JobSet.
func managedHere(js *jobset.JobSet) bool {
	return js.Spec.ManagedBy == nil || *js.Spec.ManagedBy == jobset.JobSetControllerName
}
