/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobs

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
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// FailurePolicy applies one action because of one failed Job: the earliest failed Job that the
// first matching rule matches.
func FailurePolicy(v *view.View, _ pass.Result) pass.Result {
	if len(v.Observed.Failed) == 0 {
		return pass.Result{}
	}
	r := actOnFailure(v)
	r.Ends = true
	return r
}

func actOnFailure(v *view.View) pass.Result {
	policy := v.JobSet.Spec.FailurePolicy
	switch {
	case policy == nil && v.Tolerant: // P82
		return act(v, jobset.RestartJobSet, constants.DefaultFailurePolicyReason, earliest(v.Observed.Failed))
	case policy == nil:
		return pass.Fail(constants.FailedJobsReason, firstFailed(constants.FailedJobsMessage, earliest(v.Observed.Failed).Name))
	}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		if job := earliest(matching(rule, v.Observed.Failed)); job != nil {
			return act(v, rule.Action, constants.FailurePolicyRuleReasonPrefix+rule.Name, job)
		}
	}
	return act(v, jobset.RestartJobSet, constants.DefaultFailurePolicyReason, earliest(v.Observed.Failed))
}

// RestartActions are the actions that restart something.
var RestartActions = []jobset.FailurePolicyAction{
	jobset.RestartJobSet, jobset.RestartJobSetAndIgnoreMaxRestarts, jobset.RestartJob, jobset.RestartJobAndIgnoreMaxRestarts,
}

// act applies an action. The reason is that of the condition RestartingJobSet.
func act(v *view.View, action jobset.FailurePolicyAction, reason string, job *batchv1.Job) pass.Result {
	r := actOn(v, action, reason, job)
	if r.Changes.Any(pass.FailsJobSet) || r.Err != nil {
		return r
	}
	return r.And(CountFailure(v, failureOfJob(v, job)).Result) // P93
}

func actOn(v *view.View, action jobset.FailurePolicyAction, reason string, job *batchv1.Job) pass.Result {
	if whole, ok := wholeJobSetAction[action]; ok && !v.Gates.RestartJob {
		action = whole // admitted while the gate was on, and still to be acted upon
	}
	message := firstFailed(fmt.Sprintf("applying %s failure policy action", action), job.Name)
	spent := firstFailed(constants.ReachedMaxRestartsMessage, job.Name)
	switch action {
	case jobset.FailJobSet:
		return pass.Fail(constants.ActionReason(action), message)
	case jobset.RestartJobSet:
		return Charge(v, RestartAll(reason, action, message, causeOf(v, job)), spent)
	case jobset.RestartJobSetAndIgnoreMaxRestarts:
		return RestartAll(reason, action, message, causeOf(v, job))
	case jobset.RestartJob:
		return Charge(v, restartJob(v, job, action, message), spent)
	case jobset.RestartJobAndIgnoreMaxRestarts:
		return restartJob(v, job, action, message)
	}
	return pass.Result{Err: fmt.Errorf("applying failure policy to JobSet %s/%s: action %q is not supported", v.JobSet.Namespace, v.JobSet.Name, action)}
}

// RestartAll makes every Job one of an earlier attempt. The Jobs themselves are deleted and recreated
// by later passes, which read this from the status.
func RestartAll(reason string, action jobset.FailurePolicyAction, message string, cause jobset.RestartCause) pass.Result {
	r := pass.Tell(pass.BecomesTrue(jobset.JobSetRestarting, reason, message), pass.Warning(constants.ActionReason(action), message))
	r.Changes, r.Reports.Restart = pass.RestartAllJobs|pass.Deprecate|pass.BreaksGroup, action
	r.Began = &jobset.RestartRecord{Kind: jobset.RestartedAllJobs, Reason: reason, Cause: cause}
	return r
}

// causeOf returns why a Job failed: the Pod by which it did, as far as that is seen.
func causeOf(v *view.View, job *batchv1.Job) jobset.RestartCause {
	condition, _ := view.FinishedCondition(job)
	cause := jobset.RestartCause{Type: jobset.CauseJobFailed, Reason: condition.Reason}
	if failure := failureOfJob(v, job); failure != nil {
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
		condition, _ := view.FinishedCondition(job)
		name := view.ReplicatedJobOf(job)
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
		condition, _ := view.FinishedCondition(job)
		if at := condition.LastTransitionTime.Time; first == nil || at.Before(since) {
			first, since = job, at
		}
	}
	return first
}

func firstFailed(message, jobName string) string {
	return fmt.Sprintf("%s (first failed job: %s)", message, jobName)
}
