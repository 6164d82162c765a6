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
)

// The order of decisions, see doc.go.
var (
	// jobSteps are those about Jobs. The first that ends the pass is the last of them.
	jobSteps = []step{
		finishedJobSet,   // delete the Jobs that still run, or keep them for a while; at TTL, the JobSet. Ends the pass
		bypass,           // if in-place restart is off, or on again, say so to the agents before anything else. Ends the pass
		previousJobs,     // delete what belongs to an earlier attempt
		allJobsReady,     // the restart is over
		activeDeadline,   // it is active for too long: the JobSet fails, or completes if its success policy is met. Ends the pass
		failurePolicy,    // a Job failed: the failure policy decides. Ends the pass
		successPolicy,    // enough Jobs succeeded: the JobSet completes, which ends the pass
		deletedJob,       // somebody else deleted a Job: the JobSet fails (P81). Ends the pass
		incompleteGroup,  // a worker of this round succeeded: recreate all (P17). Ends the pass
		resetOffNodes,    // recreate all Jobs if Pods have to leave sick nodes otherwise than in place (P92). Ends the pass
		giveUpNodes,      // use an avoided node again if Pods find no place without it (P94). Ends the pass if all Jobs are recreated
		unhealthyPods,    // Pods failed, missing or not running for too long: reset (P80), which ends the pass
		retryPause,       // after a reset, create no Jobs before all are gone and the pause is over (P82)
		createService,    // create the headless Service
		createClaims,     // create the PersistentVolumeClaims that are missing
		grantAccess,      // give the agents that we add their rights, or say why not (P56)
		scaleJobs,        // give Jobs another number of Pods
		startupCondition, // say how far an in-order start has come
		createJobs,       // create what is missing of those that have their turn, 250 in a pass
		followSuspend,    // make the Jobs follow spec.suspend
	}
	// groupSteps are asked if the group is watched, nothing ended the pass, and no change of Jobs waits.
	groupSteps = []step{
		invalidEpochs,     // tell whose annotation is not an epoch (P12)
		replacedPods,      // tell which Pods cannot restart in place (P70)
		jobAboutToFail,    // a Job is failing: the failure policy comes first. Ends the pass
		moveInPlace,       // move Pods off sick nodes by a group restart (P92)
		replaceOutdated,   // replace Pods that run on nodes that are avoided, or avoid one that is given up (P93, P94)
		quickFailurePause, // after failures in quick succession, let the lift wait (P71)
		lift,              // let the workers of a group that assembles start (P13), or fail if restarts lead nowhere (P136)
		breakGroup,        // restart a group that runs and lost a worker (P14, P15, P17)
		lostSandboxes,     // delete Pods that lost their sandbox and do not come back (P74)
		lostNodes,         // replace by force workers on silent nodes for which all others wait (P173)
		stuckPods,         // delete by force what a lost node does not let go (P25)
		assemblyDeadline,  // step in if the group does not come together (P24)
		agentAccess,       // tell which right an account lacks (P56)
	}
	// lastSteps are those of every pass.
	lastSteps = []step{
		assemblyClock,     // since when the group assembles (P24, P48)
		workersNotReady,   // tell which workers of a group that runs are not ready
		moveRefused,       // tell which Pods stay on sick nodes because the budget is spent (P92)
		leftToQueue,       // tell which Pods are not moved, and which nodes not avoided, because a queue placed them (P90a)
		overdue,           // delete by force what should be gone for long (P85)
		jobsBlocked,       // tell what keeps Jobs from running or ending (C388)
		resourcesDeployed, // tell whether anything of the JobSet may run (P86)
		countsInterval,    // how far apart writes of nothing but counts are (P22, P49)
		resizing,          // tell whether an elastic group has the size that it is to have (P109)
		plannedSizes,      // tell what the planner says about sizes (P108a, P109, P113)
	}
)

// Decide returns what to do about a JobSet now. An error means that the input makes no sense,
// and nothing is to be done.
func Decide(in Input) (Plan, error) {
	v, err := newView(in)
	if err != nil {
		return Plan{}, err
	}
	sum := v.runSteps(jobSteps, result{})
	switch {
	case v.waitsForIntent(&sum):
		sum = v.onlyIntent(sum)
		v.traceRule("intent first", "D := S instead of changing Jobs (P16)")
	case v.waitsForSuspended(&sum):
		sum = onlySuspending(sum)
		v.traceRule("suspending first", "SuspendingJobs instead of stopping Jobs (C398)")
	case v.waitsForDeployed(&sum), v.waitsForExecution(&sum):
		sum = v.statusFirst(sum)
		v.traceRule("status first", "the status instead of starting Jobs (P86, C398)")
	case v.watched && !sum.ends:
		sum = v.runSteps(groupSteps, sum)
	}
	switch {
	case sum.err != nil:
		return Plan{Steps: v.steps}, sum.err
	case sum.ask.Confirm != nil:
		return Plan{Questions: Questions{Confirm: sum.ask.Confirm}, Steps: v.steps, Status: *in.JobSet.Status.DeepCopy()}, nil
	case len(sum.ask.ReadReports) > 0:
		return Plan{Questions: Questions{ReadReports: sum.ask.ReadReports}, Steps: v.steps, Status: *in.JobSet.Status.DeepCopy()}, nil
	}
	if sum.changes.any(deprecate | failsJobSet) {
		// A pass ends where one of these cannot be created, because of a quota perhaps, and that would keep a group from
		// breaking, or the JobSet from failing. The next pass creates them, if Jobs are still to run.
		sum.writes.drop(CreateService | CreateClaim)
	}
	sum.ends = false
	if sum = v.runSteps(lastSteps, sum); sum.ask.ReadChildren {
		return Plan{Questions: Questions{ReadChildren: true}, Steps: v.steps, Status: *in.JobSet.Status.DeepCopy()}, nil
	}
	return sum.compose(v), nil
}

// runSteps adds the results of steps, up to the first that ends the pass.
func (v *view) runSteps(steps []step, sum result) result {
	for _, decide := range steps {
		next := decide(v, sum)
		if v.Trace {
			v.trace(decide, next)
		}
		if sum = sum.and(next); sum.ends {
			break
		}
	}
	return sum
}

// previousJobs deletes what belongs to an earlier attempt.
func previousJobs(v *view, _ result) result {
	return deleteJobs(v.observed.Previous...)
}

// allJobsReady ends a restart of the whole JobSet. A group restart ends at its lift, and a restart of all Jobs of a group
// not before: containers are ready while their workers are held, in process mode and beside agents that are (P71a).
func allJobsReady(v *view, _ result) result {
	held := v.watched && !v.running() && v.group.size > 0
	if v.suspendWanted() || v.restartingInPlace() || held {
		return result{}
	}
	var up, replicas int64
	for i := range v.observed.Statuses {
		up += int64(v.observed.Statuses[i].Ready) + int64(v.observed.Statuses[i].Succeeded)
	}
	for i := range v.JobSet.Spec.ReplicatedJobs {
		replicas += int64(v.JobSet.Spec.ReplicatedJobs[i].Replicas)
	}
	if up != replicas {
		return result{}
	}
	return tell(becomesFalse(jobset.JobSetRestarting, constants.JobsReadyReason, constants.JobsReadyMessage))
}

// createService creates the headless Service. One of that name that exists is left alone, but if it gives Pods no host names, that
// is told once (C94a).
func createService(v *view, _ result) (r result) {
	switch {
	case !children.NeedsService(v.JobSet):
		return r
	case !v.ServiceExists:
		r.writes.do(Op{Kind: CreateService, Service: children.Service(v.JobSet)})
		return r
	}
	if trouble := children.ServiceTrouble(v.JobSet, v.Service); trouble != "" {
		r.reports.Once = []Event{{Type: corev1.EventTypeWarning, Reason: constants.HostNamesMissingReason, Message: trouble}}
	}
	return r
}
