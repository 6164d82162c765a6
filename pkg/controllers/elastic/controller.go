/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package elastic is the controller that changes the sizes of elastic JobSets, as sigs.k8s.io/jobset/pkg/elastic plans them.
package elastic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/metrics"
	"sigs.k8s.io/jobset/pkg/policy"
)

// Autoscaling says how the sizes of elastic JobSets are planned (P107).
type Autoscaling struct {
	// Interval is the time between two rounds if nothing changes.
	Interval                 time.Duration
	CooldownUp, CooldownDown time.Duration
	Accelerators             []corev1.ResourceName
	ReservePercent           int32
	// ShrinkAfter is how long a group lacks Pods that no node can take before it goes on without them (P108).
	ShrinkAfter time.Duration
	// Gates and NoForce say for whom Pods that are overdue are deleted by force (P85), ForcesStuck
	// whether those of other groups are (P25).
	Gates                gates.Set
	NoForce, ForcesStuck bool
}

// mayForce reports whether the Pods of a JobSet that a lost node does not let go are deleted by force.
func (c *Autoscaling) mayForce(js *jobset.JobSet) bool {
	if policy.Tolerates(js, c.Gates) {
		return !c.NoForce
	}
	return c.ForcesStuck
}

// settleTime is how long a round waits after a change for others: a node or a JobSet rarely changes alone.
const settleTime = time.Second

// resizer is what the planner may do: it reads, and patches the spec of JobSets. It has no way to write a status.
type resizer interface {
	client.Reader
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
}

// autoscaler changes the sizes of elastic JobSets as package elastic plans them. It runs in the leader only.
type autoscaler struct {
	client resizer
	// board is where what belongs in statuses is posted, see Board.
	board *Board
	// bound reads all nodes, and all Pods that have one: whoever they belong to, they take room.
	bound client.Reader
	// cache is where bound reads. It runs while this manager leads.
	cache  cache.Cache
	events events.EventRecorder
	clock  clock.PassiveClock
	config Autoscaling
	// wake has room for one.
	wake chan struct{}
	// known are the jobs that are planned. Another leader knows nothing of the kind.
	known map[elastic.Key]*memory
	// owed are the JobSets whose sizes change once their statuses say why.
	owed atomic.Pointer[map[types.NamespacedName]bool]
	// pods finds the Pods of a Job. awaited are the JobSets whose Pods without a node start a round, see findAbsent and findRefused.
	pods    shared.Indexed[*facts.Member]
	awaited atomic.Pointer[map[string]bool]
}

// memory is what this manager remembers of a job.
type memory struct {
	jobSet types.UID
	// reported is the last reason recorded while it waits or cools down.
	reported string
	// lacking is since when each plan has said that it lacks instances. Another leader starts counting again (P21).
	lacking time.Time
	// missing is since when rounds have found that Pods of it do not exist for which its group waits.
	missing time.Time
	// noRoom is when a plan last had no room for Pods of it that the scheduler refuses.
	noRoom time.Time
	// started: a plan found it running. Another leader knows that of jobs that have Pods that are ready, or a restart in their
	// status (P104a).
	started bool
	// resized is when this manager changed its size. Another leader finds it in the status.
	resized time.Time
}

// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=resourcequotas,verbs=list;watch
// +kubebuilder:rbac:groups=jobset.x-k8s.io,resources=jobsets,verbs=get;list;watch;patch

// NeedLeaderElection makes the manager start it only while it leads.
func (a *autoscaler) NeedLeaderElection() bool { return true }

// Start plans until the context ends.
func (a *autoscaler) Start(ctx context.Context) error {
	nodes, err := a.cache.GetInformer(ctx, &corev1.Node{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("autoscaler: getting the informer of Nodes: %w", err)
	}
	if _, err := nodes.AddEventHandler(a.wakes(nodeMatters)); err != nil {
		return fmt.Errorf("autoscaler: watching Nodes: %w", err)
	}
	if _, err := a.cache.GetInformer(ctx, &corev1.Pod{}, cache.BlockUntilSynced(false)); err != nil {
		return fmt.Errorf("autoscaler: getting the informer of Pods: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- a.cache.Start(ctx) }()
	if !a.cache.WaitForCacheSync(ctx) {
		return nil // the manager stops
	}
	a.run(ctx)
	return <-ended
}

// run makes a round now, after each change, and at intervals.
func (a *autoscaler) run(ctx context.Context) {
	log := ctrl.LoggerFrom(ctx).WithName("autoscaler")
	timer := time.NewTimer(0)
	defer timer.Stop()
	woken := true
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.wake:
			if !woken { // changes that go on and on must not put the round off
				timer.Reset(settleTime)
				woken = true
			}
			continue
		case <-timer.C:
		}
		woken = false
		if err := a.round(ctx); err != nil && ctx.Err() == nil {
			log.Error(err, "a round of the autoscaler failed and is repeated")
		}
		timer.Reset(a.config.Interval)
	}
}

// round looks, plans, and changes what differs.
func (a *autoscaler) round(ctx context.Context) error {
	in, owners, err := a.gather(ctx)
	if err != nil {
		return err
	}
	plan := elastic.Make(in)
	metrics.ElasticPlanned(plan)
	a.remember(plan, in.Now)
	says := &verdicts{map[types.NamespacedName]*policy.Verdict{}, map[types.NamespacedName]bool{}}
	err = errors.Join(a.carryOut(ctx, in, plan, owners, says), a.endWaiting(ctx, owners, says))
	a.post(says)
	return err
}

// remember keeps since when jobs lack instances, and when they had no room.
func (a *autoscaler) remember(plan elastic.Plan, now time.Time) {
	for _, d := range plan.Decisions {
		job := a.known[d.Key]
		if d.NoRoom {
			job.noRoom = now
		}
		if job.lacking = cmp.Or(job.lacking, now); d.Lacks == 0 {
			job.lacking = time.Time{}
		}
	}
}

// forgetOthers drops what is remembered of jobs that are not planned any more, as while their JobSet is suspended, and of those
// of which another JobSet has the name now: times of before would make the first lack of either look old.
func (a *autoscaler) forgetOthers(jobSets []jobset.JobSet) {
	known := map[elastic.Key]*memory{}
	for i := range jobSets {
		js := &jobSets[i]
		if !isScaled(js) {
			continue
		}
		for k := range js.Spec.ReplicatedJobs {
			rjob := &js.Spec.ReplicatedJobs[k]
			if !hasSize(rjob) {
				continue
			}
			job := a.known[keyOf(js, rjob)]
			if job == nil || job.jobSet != js.UID {
				job = &memory{jobSet: js.UID}
			}
			known[keyOf(js, rjob)] = job
		}
	}
	a.known = known
}
