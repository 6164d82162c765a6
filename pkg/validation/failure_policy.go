/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
)

const (
	minRuleName = 1
	maxRuleName = 128
	// ruleNameText is also the format of a condition reason, in which rule names end up.
	ruleNameText = `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`
)

var (
	ruleNameFormat = regexp.MustCompile(ruleNameText)

	jobFailureReasons = []string{
		batchv1.JobReasonBackoffLimitExceeded,
		batchv1.JobReasonDeadlineExceeded,
		batchv1.JobReasonFailedIndexes,
		batchv1.JobReasonMaxFailedIndexesExceeded,
		batchv1.JobReasonPodFailurePolicy,
	}
)

var failurePolicyPath = specPath.Child("failurePolicy")

func maxRestarts(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	policy := js.Spec.FailurePolicy
	if policy == nil || policy.MaxRestarts >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(failurePolicyPath.Child("maxRestarts"), policy.MaxRestarts, "must be >= 0")}
}

// failurePolicyRules stops at actions that are disabled: other errors of
// such rules do not matter then.
func failurePolicyRules(js *jobset.JobSet, g gates.Set) field.ErrorList {
	if js.Spec.FailurePolicy == nil {
		return nil
	}
	rules := js.Spec.FailurePolicy.Rules
	if !g.RestartJob && slices.ContainsFunc(rules, restartsOneJob) {
		return field.ErrorList{plain(fmt.Sprintf("%s and %s failure policy actions are not allowed when RestartJob feature gate is disabled: "+
			"start the manager with --feature-gates=RestartJob=true, or use %s or %s",
			jobset.RestartJob, jobset.RestartJobAndIgnoreMaxRestarts, jobset.RestartJobSet, jobset.RestartJobSetAndIgnoreMaxRestarts))}
	}
	errs, known := restartJobCounters(js), namesOf(js)
	isReason := func(reason string) bool { return slices.Contains(jobFailureReasons, reason) }
	for i := range rules {
		errs = append(errs, ruleName(&rules[i])...)
		errs = append(errs, unknown(rules[i].TargetReplicatedJobs, known.Has,
			"invalid replicatedJob name '%s' in failure policy does not appear in .spec.ReplicatedJobs")...)
		errs = append(errs, unknown(rules[i].OnJobFailureReasons, isReason,
			"invalid job failure reason '%s' in failure policy is not a recognized job failure reason")...)
	}
	return append(errs, uniqueRuleNames(rules)...)
}

// maxJobRestartCounters is the maximum length of the lists of restarts by job index in the status.
const maxJobRestartCounters = 1024

// restartJobCounters: a Job that restarts alone is counted in the status, which
// has room for so many Jobs of each ReplicatedJob. One violation is enough.
func restartJobCounters(js *jobset.JobSet) field.ErrorList {
	var first *jobset.ReplicatedJob
	tooMany := map[string]*jobset.ReplicatedJob{} // each rule looks up its targets (C382)
	for i := range js.Spec.ReplicatedJobs {
		if rj := &js.Spec.ReplicatedJobs[i]; rj.Replicas > maxJobRestartCounters {
			first = cmp.Or(first, rj)
			tooMany[rj.Name] = rj
		}
	}
	for _, r := range js.Spec.FailurePolicy.Rules {
		if !restartsOneJob(r) {
			continue
		}
		rj := first
		if len(r.TargetReplicatedJobs) > 0 {
			rj = nil
		}
		for _, name := range r.TargetReplicatedJobs {
			rj = cmp.Or(rj, tooMany[name])
		}
		if rj != nil {
			return field.ErrorList{plain(fmt.Sprintf(
				"a failure policy rule with action %s cannot be combined with a replicated job with replicas > %d: "+
					"rule '%s' applies to replicatedJob '%s' with %d replicas; restrict its targetReplicatedJobs, or use another action",
				r.Action, maxJobRestartCounters, r.Name, rj.Name, rj.Replicas))}
		}
	}
	return nil
}

func restartsOneJob(r jobset.FailurePolicyRule) bool {
	return r.Action == jobset.RestartJob || r.Action == jobset.RestartJobAndIgnoreMaxRestarts
}

func ruleName(r *jobset.FailurePolicyRule) field.ErrorList {
	var errs field.ErrorList
	if n := len(r.Name); n < minRuleName || n > maxRuleName {
		errs = append(errs, plain(fmt.Sprintf("invalid failure policy rule name of length %d, the length must be at least %d and at most %d",
			n, minRuleName, maxRuleName)))
	}
	if !ruleNameFormat.MatchString(r.Name) {
		errs = append(errs, plain(fmt.Sprintf("invalid failure policy rule name '%s', a name must start with a letter, "+
			"consist of letters, digits and _ , : and end with a letter, a digit or _ (it must match %s)", r.Name, ruleNameText)))
	}
	return errs
}

func uniqueRuleNames(rules []jobset.FailurePolicyRule) field.ErrorList {
	positions := map[string][]int{}
	for i, r := range rules {
		positions[r.Name] = append(positions[r.Name], i)
	}
	var errs field.ErrorList
	for i, r := range rules {
		if same := positions[r.Name]; len(same) > 1 && same[0] == i {
			errs = append(errs, plain(fmt.Sprintf(
				"rule names are not unique, rules with indices %v all have the same name '%s'", same, r.Name)))
		}
	}
	return errs
}

// failureMessagePatterns refuses patterns that do not compile, or that compile to too much (W140).
func failureMessagePatterns(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	if js.Spec.FailurePolicy == nil {
		return nil
	}
	var errs field.ErrorList
	var total int64
	rules := failurePolicyPath.Child("rules")
	for i, r := range js.Spec.FailurePolicy.Rules {
		for j, pattern := range r.OnJobFailureMessagePatterns {
			if total > facts.MaxPatternSize {
				break // to compile more costs, and says nothing new
			}
			_, size, err := facts.CompilePattern(pattern)
			total += size
			if err != nil {
				errs = append(errs, field.Invalid(rules.Index(i).Child("onJobFailureMessagePatterns").Index(j), pattern, err.Error()))
			}
		}
	}
	return append(errs, atMost(rules, total, facts.MaxPatternSize, "characters in all patterns, with their repetitions written out",
		"use * and + instead of numbers, or fewer patterns")...)
}
