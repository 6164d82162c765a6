/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package jobset is the controller of JobSets, the shell around package policy: it gathers what a
// decision needs, executes the plan, and reports the outcome.
package jobset

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	"sigs.k8s.io/jobset/pkg/controllers/agentaccess"
	"sigs.k8s.io/jobset/pkg/controllers/elastic"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/controllers/leases"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/tolerance"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// JobSetReconciler reconciles a JobSet with its Jobs.
type JobSetReconciler struct {
	client client.Client
	// live reads past the cache.
	live   client.Reader
	events events.EventRecorder
	gates  gates.Set
	// deadlines are those of groups that assemble.
	deadlines policy.Deadlines
	// injection is the agent of workers that bring none.
	injection workerpod.Injection
	// tolerance says what spec.faultTolerance means.
	tolerance tolerance.Limits
	// nodeHealth says which nodes JobSets with spec.faultTolerance keep away from and move off.
	nodeHealth NodeHealth
	clock      clock.PassiveClock
	memory     *memory
	jobs       shared.Indexed[*batchv1.Job]
	pods       shared.Indexed[*facts.Member]
	// podsOfJobSet is there with feature gate FaultTolerance only.
	podsOfJobSet shared.Indexed[*facts.Member]
	// marked are the nodes that Pods are moved off.
	marked shared.Indexed[*corev1.Node]
	// informers starts the watch of a kind that is not watched from the start.
	informers cache.Informers
	// slots limits the writes in flight, over all passes.
	slots chan struct{}
	// leases are where agents of large groups report, nil if they do not.
	leases agentLeases
	// reporting reads them.
	reporting facts.Leases
	// agentPolicy watches the admission policy that restricts agents, a nil one knows nothing.
	agentPolicy agentPolicy
	// verdicts is where the planner of elastic groups says what belongs in statuses, a nil one has nothing.
	verdicts *elastic.Board
	// leasePolicy does the same for their Leases.
	leasePolicy agentPolicy
	// reviewAccess asks the API server whether agents have the rights they need.
	reviewAccess bool
	// grants makes the controller give agents the rights they need.
	grants bool
	// cacheLag is the longest time to wait for the cache to show Jobs that were created.
	cacheLag time.Duration
}

// agentPolicy is what this controller asks of agentaccess.Policy.
type agentPolicy interface {
	// Gap returns why nothing restricts what agents may patch, and whether that is known.
	Gap() (gap string, known bool)
	// OnChange sets the function to call when the gap has changed.
	OnChange(changed func())
}

// agentLeases is what this controller asks of leases.Leases.
type agentLeases interface {
	// Seen reports whether they can be read.
	Seen() bool
	// OnChange sets the function to call with a Lease before and after a change, nil if there was or is none.
	OnChange(changed func(before, after *facts.Lease))
}

// Agents patch Pods, this controller does not. It has the right so that it can be granted to agents: RBAC lets no account grant a right that it lacks.
//
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch;patch;delete
// +kubebuilder:rbac:groups="",resources=services,verbs=get;list;watch;create
// +kubebuilder:rbac:groups="",resources=persistentvolumeclaims,verbs=get;list;watch;create
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=batch,resources=jobs/status,verbs=patch
// +kubebuilder:rbac:groups=jobset.x-k8s.io,resources=jobsets,verbs=get;list;watch;delete
// +kubebuilder:rbac:groups=jobset.x-k8s.io,resources=jobsets/status,verbs=update
// +kubebuilder:rbac:groups=jobset.x-k8s.io,resources=jobsets/finalizers,verbs=update

// Option adds something to the JobSet controller.
type Option func(*JobSetReconciler)

// WithAgentPolicies makes the controller warn when nothing restricts what agents may do to Pods, or to Leases; nil if they are to
// write none.
func WithAgentPolicies(pods, leases *agentaccess.Policy) Option {
	return func(r *JobSetReconciler) { r.agentPolicy, r.leasePolicy = pods, leases }
}

// WithAccessReviews makes the controller ask, while groups assemble, whether their agents have the rights they need.
func WithAccessReviews() Option {
	return func(r *JobSetReconciler) { r.reviewAccess = true }
}

// WithVerdicts makes the controller write into statuses what the planner of elastic groups says.
func WithVerdicts(board *elastic.Board) Option {
	return func(r *JobSetReconciler) { r.verdicts = board }
}

// WithInjection says which agent worker Pods without one get.
func WithInjection(injection workerpod.Injection) Option {
	return func(r *JobSetReconciler) { r.injection = injection }
}

// WithLeases lets agents of large groups report in Leases, unless there are none.
func WithLeases(of *leases.Leases) Option {
	return func(r *JobSetReconciler) {
		if of != nil {
			r.leases, r.reporting = of, of.Reader()
		}
	}
}

// WithTolerance says what spec.faultTolerance means; the default is tolerance.Builtin.
func WithTolerance(limits tolerance.Limits) Option {
	return func(r *JobSetReconciler) { r.tolerance = limits }
}

// Reconcile makes one pass over a JobSet (look, decide, act, tell), unless it is too early for the next one.
func (r *JobSetReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if r.awaitsCache(req.NamespacedName) {
		skipped(ctx, "the cache has yet to show Jobs that were created")
		return ctrl.Result{RequeueAfter: unseenInterval}, nil
	}
	if wait := r.memory.forKey(req.NamespacedName).pace.startPass(r.clock.Now()); wait > 0 {
		skipped(ctx, "the last one was just before", "wait", wait)
		return ctrl.Result{RequeueAfter: wait}, nil
	}
	result, err := r.pass(ctx, req)
	if err != nil {
		// The queue spaces out retries, and would forget how many there were if it were asked to wait instead.
		remembered := r.memory.forKey(req.NamespacedName)
		remembered.pace.lastPass = time.Time{}
		remembered.unseen.forget()
		remembered.deleted.forget()
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
	switch {
	case js.DeletionTimestamp != nil:
		skipped(ctx, "the JobSet is being deleted")
		return ctrl.Result{}, nil
	case !shared.ManagedHere(js):
		skipped(ctx, "another controller manages the JobSet", "managedBy", *js.Spec.ManagedBy)
		return ctrl.Result{}, nil
	}
	plan, err := r.decide(ctx, js)
	if err != nil {
		return ctrl.Result{}, err
	}
	r.memory.forKey(req.NamespacedName).pace.calm = len(plan.Ops) == 0 && plan.Uncreated+plan.Unresumed == 0 && !workerpod.RestartsInPlace(js, r.gates)
	if plan.Confirm != nil { // still another Job seems to lack workers: the next pass confirms it
		return ctrl.Result{RequeueAfter: passInterval}, nil
	}
	if current, err := r.isCurrent(ctx, js, &plan); err != nil || !current {
		skipped(ctx, "the JobSet changed, or cannot be read past the cache")
		return ctrl.Result{RequeueAfter: passInterval}, err
	}
	switch err := r.execute(ctx, js, &plan); {
	case errors.Is(err, shared.ErrOutOfTime):
		part := plan.Interrupted(&js.Status)
		result, err := r.report(ctx, js, &part)
		if err == nil {
			result.RequeueAfter = nextPart
		}
		return result, err
	case err != nil:
		return ctrl.Result{}, errors.Join(err, r.reportCounts(ctx, js, &plan, err))
	case plan.Does(policy.DeleteJobSet):
		return ctrl.Result{}, nil
	}
	result, err := r.report(ctx, js, &plan)
	if r.hear(ctx, js, plan.AskNodes) && err == nil {
		result.RequeueAfter = policy.Sooner(result.RequeueAfter, newsInterval) // nothing else wakes it
	}
	if err == nil && len(plan.AskAccess) > 0 {
		maps.Copy(r.memory.forJobSet(js).access, r.askAccess(ctx, js, &plan.Questions))
		result.RequeueAfter = passInterval // to tell
	}
	return result, err
}

// isCurrent reports whether a plan that creates or removes workers of a group was
// decided on the current JobSet. A stale status write is refused, but it comes after
// the changes to Jobs. Changes decided on a status from before the lift would hit a
// running group and be taken for failures (P16), and a status from before a reset
// would create Jobs during its pause (P83), and one from before a resumption Jobs of an earlier execution (C398).
func (r *JobSetReconciler) isCurrent(ctx context.Context, js *jobset.JobSet, plan *policy.Plan) (bool, error) {
	guarded := workerpod.RestartsInPlace(js, r.gates) || policy.Tolerates(js, r.gates) || r.gates.ExecutionAttemptsTracking
	if !guarded || !plan.Does(policy.ChangeGroup) {
		return true, nil
	}
	fresh := &jobset.JobSet{}
	err := r.live.Get(ctx, client.ObjectKeyFromObject(js), fresh)
	if client.IgnoreNotFound(err) != nil {
		r.memory.forJobSet(js).lostTouch = true
		return false, fmt.Errorf("reading JobSet %s past the cache before its Jobs are changed: %w", klog.KObj(js), err)
	}
	return err == nil && fresh.UID == js.UID && fresh.ResourceVersion == js.ResourceVersion, nil
}

// mostConfirms is how many Jobs that seem to lack workers a pass reads past the cache. The next pass begins with the
// first again, so a loss behind more of them is confirmed once the cache shows that these lack none.
const mostConfirms = 5

// decide gathers and decides, and again after each read past the cache that the decision asks for.
func (r *JobSetReconciler) decide(ctx context.Context, js *jobset.JobSet) (policy.Plan, error) {
	in, err := r.gather(ctx, js)
	if err != nil {
		return policy.Plan{}, err
	}
	plan, err := decide(ctx, in)
	for reads := 0; err == nil && plan.Confirm != nil && reads < mostConfirms; reads++ {
		if in, err = r.confirm(ctx, in, plan.Confirm); err != nil {
			return policy.Plan{}, err
		}
		plan, err = decide(ctx, in)
	}
	if err == nil && plan.ReadChildren {
		if in, err = r.readChildren(ctx, in); err != nil {
			return policy.Plan{}, err
		}
		plan, err = decide(ctx, in)
	}
	if err == nil && len(plan.ReadReports) > 0 {
		if in, err = r.readReports(ctx, in, plan.ReadReports); err != nil {
			return policy.Plan{}, err
		}
		plan, err = decide(ctx, in)
	}
	if err != nil {
		return policy.Plan{}, fmt.Errorf("deciding about JobSet %s: %w", klog.KObj(js), err)
	}
	if plan.Confirm == nil {
		remembered := r.memory.forJobSet(js)
		keepSince(&remembered.heldSince, plan.Held, in.Now)
		keepSince(&remembered.pendingSince, plan.Pending, in.Now)
		keepSince(&remembered.movingSince, plan.Moving, in.Now)
		if remembered.quiet.Reported != plan.Reported {
			remembered.quiet = policy.Quiet{Reported: plan.Reported, Since: in.Now}
		}
		remembered.assembly.set(plan.ClockStands, in.Now)
		remembered.prepared = plan.Prepared
	}
	return plan, nil
}

// decide asks the policy, and logs its steps if they are logged.
func decide(ctx context.Context, in policy.Input) (policy.Plan, error) {
	in.Trace = ctrl.LoggerFrom(ctx).V(logSteps).Enabled()
	plan, err := policy.Decide(in)
	if in.Trace {
		logDecision(ctx, in.JobSet, &plan)
	}
	return plan, err
}
