/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/access"
	"sigs.k8s.io/jobset/pkg/policy/internal/elastic"
	"sigs.k8s.io/jobset/pkg/policy/internal/group"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/tolerance"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// The order of decisions, see doc.go.

// step decides one thing. It looks at the view, and at what the steps before it decided.
type step func(v *view.View, before pass.Result) pass.Result

var (
	// jobSteps are those about Jobs. The first that ends the pass is the last of them.
	jobSteps = []step{
		jobs.FinishedJobSet,     // delete the Jobs that still run, or keep them for a while; at TTL, the JobSet. Ends the pass
		group.Bypass,            // if in-place restart is off, or on again, say so to the agents before anything else. Ends the pass
		previousJobs,            // delete what belongs to an earlier attempt
		allJobsReady,            // the restart is over
		group.ActiveDeadline,    // it is active for too long: the JobSet fails, or completes if its success policy is met. Ends the pass
		jobs.FailurePolicy,      // a Job failed: the failure policy decides. Ends the pass
		jobs.SuccessPolicy,      // enough Jobs succeeded: the JobSet completes, which ends the pass
		jobs.DeletedJob,         // somebody else deleted a Job: the JobSet fails (P81). Ends the pass
		group.IncompleteGroup,   // a worker of this round succeeded: recreate all (P17). Ends the pass
		tolerance.ResetOffNodes, // recreate all Jobs if Pods have to leave sick nodes otherwise than in place (P92). Ends the pass
		tolerance.GiveUpNodes,   // use an avoided node again if Pods find no place without it (P94). Ends the pass if all Jobs are recreated
		tolerance.UnhealthyPods, // Pods failed, missing or not running for too long: reset (P80), which ends the pass
		tolerance.RetryPause,    // after a reset, create no Jobs before all are gone and the pause is over (P82)
		createService,           // create the headless Service
		jobs.CreateClaims,       // create the PersistentVolumeClaims that are missing
		access.GrantAccess,      // give the agents that we add their rights, or say why not (P56)
		elastic.ScaleJobs,       // give Jobs another number of Pods
		jobs.StartupCondition,   // say how far an in-order start has come
		jobs.CreateJobs,         // create what is missing of those that have their turn, 250 in a pass
		jobs.FollowSuspend,      // make the Jobs follow spec.suspend
	}
	// groupSteps are asked if the group is watched, nothing ended the pass, and no change of Jobs waits.
	groupSteps = []step{
		group.InvalidEpochs,       // tell whose annotation is not an epoch (P12)
		group.ReplacedPods,        // tell which Pods cannot restart in place (P70)
		group.JobAboutToFail,      // a Job is failing: the failure policy comes first. Ends the pass
		tolerance.MoveInPlace,     // move Pods off sick nodes by a group restart (P92)
		tolerance.ReplaceOutdated, // replace Pods that run on nodes that are avoided, or avoid one that is given up (P93, P94)
		group.QuickFailurePause,   // after failures in quick succession, let the lift wait (P71)
		group.Lift,                // let the workers of a group that assembles start (P13), or fail if restarts lead nowhere (P136)
		group.BreakGroup,          // restart a group that runs and lost a worker (P14, P15, P17)
		group.LostSandboxes,       // delete Pods that lost their sandbox and do not come back (P74)
		group.LostWorkers,         // replace by force workers on silent nodes for which all others wait (P173)
		group.StuckPods,           // delete by force what a lost node does not let go (P25)
		group.AssemblyDeadline,    // step in if the group does not come together (P24)
		access.AgentAccess,        // tell which right an account lacks (P56)
	}
	// lastSteps are those of every pass.
	lastSteps = []step{
		group.AssemblyClock,         // since when the group assembles (P24, P48)
		group.WorkersNotReady,       // tell which workers of a group that runs are not ready
		tolerance.MoveRefused,       // tell which Pods stay on sick nodes because the budget is spent (P92)
		tolerance.LeftToQueue,       // tell which Pods are not moved, and which nodes not avoided, because a queue placed them (P90a)
		tolerance.Overdue,           // delete by force what should be gone for long (P85)
		jobs.JobsBlocked,            // tell what keeps Jobs from running or ending (C388)
		tolerance.ResourcesDeployed, // tell whether anything of the JobSet may run (P86)
		group.CountsInterval,        // how far apart writes of nothing but counts are (P22, P49)
		elastic.Resizing,            // tell whether an elastic group has the size that it is to have (P109)
		elastic.PlannedSizes,        // tell what the planner says about sizes (P108a, P109, P113)
	}
)

// Decide returns what to do about a JobSet now. An error means that the input makes no sense,
// and nothing is to be done.
func Decide(in pass.Input) (pass.Plan, error) {
	v, err := newView(in)
	if err != nil {
		return pass.Plan{}, err
	}
	sum := runSteps(v, jobSteps, pass.Result{})
	switch {
	case waitsForIntent(v, &sum):
		sum = onlyIntent(v, sum)
		traceRule(v, "intent first", "D := S instead of changing Jobs (P16)")
	case jobs.WaitsForSuspended(v, &sum):
		sum = jobs.OnlySuspending(sum)
		traceRule(v, "suspending first", "SuspendingJobs instead of stopping Jobs (C398)")
	case tolerance.WaitsForDeployed(v, &sum), jobs.WaitsForExecution(v, &sum):
		sum = jobs.StatusFirst(v, sum)
		traceRule(v, "status first", "the status instead of starting Jobs (P86, C398)")
	case v.Watched && !sum.Ends:
		sum = runSteps(v, groupSteps, sum)
	}
	switch {
	case sum.Err != nil:
		return pass.Plan{Steps: v.Steps}, sum.Err
	case sum.Ask.Confirm != nil:
		return pass.Plan{Questions: pass.Questions{Confirm: sum.Ask.Confirm}, Steps: v.Steps, Status: *in.JobSet.Status.DeepCopy()}, nil
	case len(sum.Ask.ReadReports) > 0:
		return pass.Plan{Questions: pass.Questions{ReadReports: sum.Ask.ReadReports}, Steps: v.Steps, Status: *in.JobSet.Status.DeepCopy()}, nil
	}
	if sum.Changes.Any(pass.Deprecate | pass.FailsJobSet) {
		// A pass ends where one of these cannot be created, because of a quota perhaps, and that would keep a group from
		// breaking, or the JobSet from failing. The next pass creates them, if Jobs are still to run.
		sum.Writes.Drop(pass.CreateService | pass.CreateClaim)
	}
	sum.Ends = false
	if sum = runSteps(v, lastSteps, sum); sum.Ask.ReadChildren {
		return pass.Plan{Questions: pass.Questions{ReadChildren: true}, Steps: v.Steps, Status: *in.JobSet.Status.DeepCopy()}, nil
	}
	return compose(v, &sum), nil
}

// runSteps adds the results of steps, up to the first that ends the pass.
func runSteps(v *view.View, steps []step, sum pass.Result) pass.Result {
	for _, decide := range steps {
		next := decide(v, sum)
		if v.Trace {
			trace(v, decide, next)
		}
		if sum = sum.And(next); sum.Ends {
			break
		}
	}
	return sum
}

// previousJobs deletes what belongs to an earlier attempt.
func previousJobs(v *view.View, _ pass.Result) pass.Result {
	return pass.DeleteJobs(v.Observed.Previous...)
}

// allJobsReady ends a restart of the whole JobSet. A group restart ends at its lift, and a restart of all Jobs of a group
// not before: containers are ready while their workers are held, in process mode and beside agents that are (P71a).
func allJobsReady(v *view.View, _ pass.Result) pass.Result {
	held := v.Watched && !v.Running() && v.Group.Size > 0
	if v.SuspendWanted() || v.RestartingInPlace() || held {
		return pass.Result{}
	}
	var up, replicas int64
	for i := range v.Observed.Statuses {
		up += int64(v.Observed.Statuses[i].Ready) + int64(v.Observed.Statuses[i].Succeeded)
	}
	for i := range v.JobSet.Spec.ReplicatedJobs {
		replicas += int64(v.JobSet.Spec.ReplicatedJobs[i].Replicas)
	}
	if up != replicas {
		return pass.Result{}
	}
	return pass.Tell(pass.BecomesFalse(jobset.JobSetRestarting, constants.JobsReadyReason, constants.JobsReadyMessage))
}

// createService creates the headless Service. One of that name that exists is left alone, but if it gives Pods no host names, that
// is told once (C94a).
func createService(v *view.View, _ pass.Result) (r pass.Result) {
	switch {
	case !children.NeedsService(v.JobSet):
		return r
	case !v.ServiceExists:
		r.Writes.Do(pass.Op{Kind: pass.CreateService, Service: children.Service(v.JobSet)})
		return r
	}
	if trouble := children.ServiceTrouble(v.JobSet, v.Service); trouble != "" {
		r.Reports.Once = []pass.Event{{Type: corev1.EventTypeWarning, Reason: constants.HostNamesMissingReason, Message: trouble}}
	}
	return r
}
