/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/gates"
)

// failurePolicy applies one action because of one failed Job: the earliest
// failed Job that the first matching rule matches.
func (d *decision) failurePolicy() error {
	policy := d.in.JobSet.Spec.FailurePolicy
	if policy == nil {
		first := earliest(d.observed.Failed)
		d.fail(constants.FailedJobsReason, firstFailed(constants.FailedJobsMessage, first.Name))
		return nil
	}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		if job := earliest(matching(rule, d.observed.Failed)); job != nil {
			return d.act(rule.Action, constants.FailurePolicyRuleReasonPrefix+rule.Name, job)
		}
	}
	return d.act(jobset.RestartJobSet, constants.DefaultFailurePolicyReason, earliest(d.observed.Failed))
}

// act applies an action. The reason is that of the condition RestartingJobSet.
func (d *decision) act(action jobset.FailurePolicyAction, reason string, job *batchv1.Job) error {
	if whole, ok := ofWholeJobSet[action]; ok && !d.in.Gates.RestartJob {
		action = whole // admitted while the gate was on, and still to be acted upon
	}
	message := firstFailed(fmt.Sprintf("applying %s failure policy action", action), job.Name)
	switch action {
	case jobset.FailJobSet:
		d.fail(constants.FailJobSetActionReason, message)
	case jobset.RestartJobSet:
		if d.budgetSpent() {
			d.fail(constants.ReachedMaxRestartsReason, firstFailed(constants.ReachedMaxRestartsMessage, job.Name))
			return nil
		}
		d.plan.Status.RestartsCountTowardsMax++
		d.restartAll(reason, constants.RestartJobSetActionReason, message)
	case jobset.RestartJobSetAndIgnoreMaxRestarts:
		d.restartAll(reason, constants.RestartJobSetAndIgnoreMaxRestartsActionReason, message)
		d.plan.Restart = action
	case jobset.RestartJob:
		if d.budgetSpent() {
			d.fail(constants.ReachedMaxRestartsReason, firstFailed(constants.ReachedMaxRestartsMessage, job.Name))
			return nil
		}
		return d.restartJob(job, action, constants.RestartJobActionReason, message)
	case jobset.RestartJobAndIgnoreMaxRestarts:
		return d.restartJob(job, action, constants.RestartJobAndIgnoreMaxRestartsActionReason, message)
	default:
		return fmt.Errorf("applying failure policy to JobSet %s/%s: action %q is not supported",
			d.in.JobSet.Namespace, d.in.JobSet.Name, action)
	}
	return nil
}

// restartAll makes every Job one of an earlier attempt, even if the status was
// lost and counts fewer than the Jobs do. The Jobs themselves are deleted and
// recreated by later passes, which read this from the status.
func (d *decision) restartAll(conditionReason, eventReason, message string) {
	d.plan.Status.Restarts = max(d.plan.Status.Restarts, d.observed.newest) + 1
	d.plan.Restart = jobset.RestartJobSet
	d.deprecateEpoch()
	d.set(jobset.JobSetRestarting, conditionReason, message)
	d.event(corev1.EventTypeWarning, eventReason, message)
}

// budgetSpent tells whether every counted restart that maxRestarts allows was used.
func (d *decision) budgetSpent() bool {
	var maxRestarts int64
	if policy := d.in.JobSet.Spec.FailurePolicy; policy != nil {
		maxRestarts = int64(policy.MaxRestarts)
	}
	return UsedRestarts(&d.in.JobSet.Status, d.in.Gates) >= maxRestarts
}

// UsedRestarts is how many restarts count towards maxRestarts: those of the whole
// JobSet, of single Jobs and of the group draw on one budget.
func UsedRestarts(status *jobset.JobSetStatus, g gates.Set) int64 {
	used := int64(status.RestartsCountTowardsMax) + int64(status.InPlaceRestarts)
	if !g.RestartJob {
		return used
	}
	for i := range status.ReplicatedJobsStatus {
		for _, restarts := range status.ReplicatedJobsStatus[i].JobRestartsCountTowardsMax {
			used += int64(restarts)
		}
	}
	return used
}

// matching returns the failed Jobs that pass all filters of a rule. An empty
// filter passes every Job; a pattern that is no regular expression matches none.
func matching(rule *jobset.FailurePolicyRule, failed []*batchv1.Job) []*batchv1.Job {
	var patterns []*regexp.Regexp
	for _, source := range rule.OnJobFailureMessagePatterns {
		if pattern, err := regexp.Compile(source); err == nil {
			patterns = append(patterns, pattern)
		}
	}
	var jobs []*batchv1.Job
	for _, job := range failed {
		condition, _ := finishedCondition(job)
		name := replicatedJobOf(job)
		reasonMatches := len(rule.OnJobFailureReasons) == 0 || slices.Contains(rule.OnJobFailureReasons, condition.Reason)
		messageMatches := len(rule.OnJobFailureMessagePatterns) == 0 ||
			slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(condition.Message) })
		targetMatches := name != "" &&
			(len(rule.TargetReplicatedJobs) == 0 || slices.Contains(rule.TargetReplicatedJobs, name))
		if reasonMatches && messageMatches && targetMatches {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// earliest returns the Job that failed first, by name where times are equal; nil if there is none.
func earliest(failed []*batchv1.Job) *batchv1.Job {
	var first *batchv1.Job
	var since time.Time
	for _, job := range failed { // in the order of names
		condition, _ := finishedCondition(job)
		if at := condition.LastTransitionTime.Time; first == nil || at.Before(since) {
			first, since = job, at
		}
	}
	return first
}

func firstFailed(message, jobName string) string {
	return fmt.Sprintf("%s (first failed job: %s)", message, jobName)
}
