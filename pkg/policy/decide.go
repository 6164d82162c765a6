/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
)

// step decides one thing. It looks at the view, and at what the steps before it decided.
type step func(v *view, before result) result

// The order of decisions; the numbers are those of the table in doc.go.
var (
	jobSteps = []step{
		finishedJobSet,   // 1
		gateChange,       // 2
		previousJobs,     // 3
		allJobsReady,     // 4
		failurePolicy,    // 5
		successPolicy,    // 6
		deletedJob,       // 7
		incompleteGroup,  // 8
		resetOffNodes,    // 9
		giveUpNodes,      // 10
		unhealthyPods,    // 11
		retryPause,       // 12
		createService,    // 13
		createClaims,     // 14
		grantAccess,      // 15
		scaleJobs,        // 16
		startupCondition, // 17
		createJobs,       // 18
		followSuspend,    // 19
	}
	groupSteps = []step{
		invalidEpochs,     // 20
		replacedPods,      // 21
		jobAboutToFail,    // 22
		moveInPlace,       // 23
		replaceOutdated,   // 24
		quickFailurePause, // 25
		lift,              // 26
		breakGroup,        // 27
		lostSandboxes,     // 28
		stuckPods,         // 29
		assemblyDeadline,  // 30
		agentAccess,       // 31
	}
	lastSteps = []step{
		assemblyClock,     // 32
		workersNotReady,   // 33
		moveRefused,       // 34
		overdue,           // 35
		resourcesDeployed, // 36
		countsInterval,    // 37
		resizing,          // 38
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
		v.traceRule("intent first", "D := S in the place of changes of Jobs (P16)")
	case v.waitsForDeployed(&sum):
		sum = sum.withoutJobs()
		v.traceRule("deployed first", "ResourcesDeployed in the place of the first Jobs (P86)")
	case v.watched && !sum.ends:
		sum = v.runSteps(groupSteps, sum)
	}
	switch {
	case sum.err != nil:
		return Plan{Steps: v.steps}, sum.err
	case sum.plan.Confirm != nil:
		return Plan{Confirm: sum.plan.Confirm, Steps: v.steps, Status: *in.JobSet.Status.DeepCopy()}, nil
	}
	sum.ends = false
	if sum = v.runSteps(lastSteps, sum); sum.plan.ReadChildren {
		return Plan{ReadChildren: true, Steps: v.steps, Status: *in.JobSet.Status.DeepCopy()}, nil
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

// waitsForIntent reports whether Jobs are to change while the group runs, D < S. Then D := S is
// written instead, and a later pass, which reads D == S, makes the changes (P16). So whatever
// crashes in between, Pods that go or come by our own hand are never mistaken for failures.
func (v *view) waitsForIntent(sum *result) bool {
	return v.inPlace && !v.finished && v.running() && (sum.plan.touchesJobs() || sum.plan.Unresumed > 0)
}

// onlyIntent puts D := S in the place of changes of Jobs. If no step ended the pass, what is
// reported is about these changes, and has to wait with them.
func (v *view) onlyIntent(r result) result {
	r.changes |= deprecate
	if v.changesAsPlanned(&r.plan) {
		r.changes |= planned
	}
	r.plan.forgetJobs()
	if !r.ends {
		r.notices = nil
	}
	return r
}

// previousJobs deletes what belongs to an earlier attempt.
func previousJobs(v *view, _ result) result {
	return result{plan: Plan{DeleteJobs: withoutTerminating(v.observed.Previous...)}}
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

// createService creates the headless Service.
func createService(v *view, _ result) result {
	if !children.NeedsService(v.JobSet) || v.ServiceExists {
		return result{}
	}
	return result{plan: Plan{CreateService: children.Service(v.JobSet)}}
}

// OnlyCounts returns the counts of a status that was decided on, with the restarts of the stored status.
func OnlyCounts(decided, stored []jobset.ReplicatedJobStatus) []jobset.ReplicatedJobStatus {
	counts := slices.Clone(decided)
	for i := range counts {
		counts[i].JobRestarts, counts[i].JobRestartsCountTowardsMax, counts[i].Elastic = nil, nil, nil
		counts[i].SyncedWorkers, counts[i].Address = 0, ""
	}
	return keepRest(counts, stored)
}

// keepRest carries over to fresh counts what is not counted in each pass: restarts of single Jobs, sizes, and addresses.
func keepRest(fresh, stored []jobset.ReplicatedJobStatus) []jobset.ReplicatedJobStatus {
	byName := make(map[string]*jobset.ReplicatedJobStatus, len(stored))
	for i := range stored {
		byName[stored[i].Name] = &stored[i]
	}
	for i := range fresh {
		if was := byName[fresh[i].Name]; was != nil {
			fresh[i].JobRestarts = was.JobRestarts
			fresh[i].JobRestartsCountTowardsMax = was.JobRestartsCountTowardsMax
			fresh[i].SyncedWorkers, fresh[i].Address, fresh[i].Elastic = was.SyncedWorkers, was.Address, was.Elastic
		}
	}
	return fresh
}
