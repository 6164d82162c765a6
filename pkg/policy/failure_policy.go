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
	"k8s.io/apimachinery/pkg/util/sets"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
)

// failurePolicy applies one action because of one failed Job: the earliest failed Job that the
// first matching rule matches.
func failurePolicy(v *view, _ result) result {
	if len(v.observed.Failed) == 0 {
		return result{}
	}
	r := v.actOnFailure()
	r.ends = true
	return r
}

func (v *view) actOnFailure() result {
	policy := v.JobSet.Spec.FailurePolicy
	switch {
	case policy == nil && v.tolerant: // P82
		return v.act(jobset.RestartJobSet, constants.DefaultFailurePolicyReason, earliest(v.observed.Failed))
	case policy == nil:
		return fail(constants.FailedJobsReason, firstFailed(constants.FailedJobsMessage, earliest(v.observed.Failed).Name))
	}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		if job := earliest(matching(rule, v.observed.Failed)); job != nil {
			return v.act(rule.Action, constants.FailurePolicyRuleReasonPrefix+rule.Name, job)
		}
	}
	return v.act(jobset.RestartJobSet, constants.DefaultFailurePolicyReason, earliest(v.observed.Failed))
}

// RestartActions are the actions that restart something.
var RestartActions = []jobset.FailurePolicyAction{
	jobset.RestartJobSet, jobset.RestartJobSetAndIgnoreMaxRestarts, jobset.RestartJob, jobset.RestartJobAndIgnoreMaxRestarts,
}

// act applies an action. The reason is that of the condition RestartingJobSet.
func (v *view) act(action jobset.FailurePolicyAction, reason string, job *batchv1.Job) result {
	r := v.actOn(action, reason, job)
	if r.changes.any(failsJobSet) || r.err != nil {
		return r
	}
	return r.and(v.countFailure(v.failureOfJob(job)).result) // P93
}

func (v *view) actOn(action jobset.FailurePolicyAction, reason string, job *batchv1.Job) result {
	if whole, ok := wholeJobSetAction[action]; ok && !v.Gates.RestartJob {
		action = whole // admitted while the gate was on, and still to be acted upon
	}
	message := firstFailed(fmt.Sprintf("applying %s failure policy action", action), job.Name)
	spent := firstFailed(constants.ReachedMaxRestartsMessage, job.Name)
	switch action {
	case jobset.FailJobSet:
		return fail(constants.ActionReason(action), message)
	case jobset.RestartJobSet:
		return v.charge(restartAll(reason, action, message, v.causeOf(job)), spent)
	case jobset.RestartJobSetAndIgnoreMaxRestarts:
		return restartAll(reason, action, message, v.causeOf(job))
	case jobset.RestartJob:
		return v.charge(v.restartJob(job, action, message), spent)
	case jobset.RestartJobAndIgnoreMaxRestarts:
		return v.restartJob(job, action, message)
	}
	return result{err: fmt.Errorf("applying failure policy to JobSet %s/%s: action %q is not supported", v.JobSet.Namespace, v.JobSet.Name, action)}
}

// restartAll makes every Job one of an earlier attempt. The Jobs themselves are deleted and recreated
// by later passes, which read this from the status.
func restartAll(reason string, action jobset.FailurePolicyAction, message string, cause jobset.RestartCause) result {
	r := tell(becomesTrue(jobset.JobSetRestarting, reason, message), warning(constants.ActionReason(action), message))
	r.changes, r.reports.Restart = restartAllJobs|deprecate|breaksGroup, action
	r.began = &jobset.RestartRecord{Kind: jobset.RestartedAllJobs, Reason: reason, Cause: cause}
	return r
}

// causeOf returns why a Job failed: the Pod by which it did, as far as that is seen.
func (v *view) causeOf(job *batchv1.Job) jobset.RestartCause {
	condition, _ := finishedCondition(job)
	cause := jobset.RestartCause{Type: jobset.CauseJobFailed, Reason: condition.Reason}
	if failure := v.failureOfJob(job); failure != nil {
		cause = failure.Cause()
	}
	cause.Job = job.Name
	return cause
}

// matching returns the failed Jobs that pass all filters of a rule. An empty
// filter passes every Job; a pattern that is not a regular expression, or too large a one, matches none.
func matching(rule *jobset.FailurePolicyRule, failed []*batchv1.Job) []*batchv1.Job {
	var patterns []*regexp.Regexp
	for _, source := range rule.OnJobFailureMessagePatterns {
		if pattern, _, err := facts.CompilePattern(source); err == nil {
			patterns = append(patterns, pattern)
		}
	}
	targets := sets.New(rule.TargetReplicatedJobs...) // looked up for each Job (C382)
	var jobs []*batchv1.Job
	for _, job := range failed {
		condition, _ := finishedCondition(job)
		name := replicatedJobOf(job)
		reasonMatches := len(rule.OnJobFailureReasons) == 0 || slices.Contains(rule.OnJobFailureReasons, condition.Reason)
		messageMatches := len(rule.OnJobFailureMessagePatterns) == 0 ||
			slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(condition.Message) })
		targetMatches := name != "" && (len(targets) == 0 || targets.Has(name))
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
