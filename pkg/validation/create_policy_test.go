/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"strings"
	"testing"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestCreateFailurePolicy(t *testing.T) {
	rules := func(rules ...jobset.FailurePolicyRule) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { js.Spec.FailurePolicy = &jobset.FailurePolicy{Rules: rules} }
	}
	named := func(name string) jobset.FailurePolicyRule {
		return jobset.FailurePolicyRule{Name: name, Action: jobset.FailJobSet}
	}
	runCreate(t, plainJobSet, map[string]createCase{
		"W51: RestartJob hides the other rules of the group": {
			mut:  rules(jobset.FailurePolicyRule{Name: "1", Action: jobset.RestartJob}, named("")),
			want: []violation{unpathed("RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob feature gate is disabled: the gate comes with a later version")},
		},
		"W51: RestartJobAndIgnoreMaxRestarts": {
			mut:  rules(jobset.FailurePolicyRule{Name: "a", Action: jobset.RestartJobAndIgnoreMaxRestarts}),
			want: []violation{unpathed("failure policy actions are not allowed when RestartJob feature gate is disabled")},
		},
		"W53, W54: an empty rule name fails twice": {
			mut:  rules(named("")),
			want: []violation{unpathed("invalid failure policy rule name of length 0"), unpathed("invalid failure policy rule name ''")},
		},
		"W53: a rule name of 129 bytes": {
			mut:  rules(named(strings.Repeat("a", 129))),
			want: []violation{unpathed("invalid failure policy rule name of length 129")},
		},
		"W53: a rule name of 128 bytes is accepted": {mut: rules(named(strings.Repeat("a", 128)))},
		"W54: a rule name that ends with a colon": {
			mut:  rules(named("a:")),
			want: []violation{unpathed("invalid failure policy rule name 'a:'")},
		},
		"W55: each unknown target of a rule": {
			mut: rules(jobset.FailurePolicyRule{Name: "a", Action: jobset.FailJobSet, TargetReplicatedJobs: []string{"x", "workers", "y"}}),
			want: []violation{
				unpathed("invalid replicatedJob name 'x' in failure policy does not appear in .spec.ReplicatedJobs"),
				unpathed("invalid replicatedJob name 'y' in failure policy does not appear in .spec.ReplicatedJobs"),
			},
		},
		"W56: each unknown reason of a rule": {
			mut: rules(jobset.FailurePolicyRule{Name: "a", Action: jobset.FailJobSet, OnJobFailureReasons: []string{
				"Oops", "BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy", "Ouch"}}),
			want: []violation{
				unpathed("invalid job failure reason 'Oops' in failure policy is not a recognized job failure reason"),
				unpathed("invalid job failure reason 'Ouch' in failure policy is not a recognized job failure reason"),
			},
		},
		"W57: rules share names": {
			mut: rules(named("a"), named("b"), named("a"), named("b"), named("c")),
			want: []violation{
				unpathed("rule names are not unique, rules with indices [0 2] all have the same name 'a'"),
				unpathed("rule names are not unique, rules with indices [1 3] all have the same name 'b'"),
			},
		},
		"Q21: a pattern that does not compile": {
			mut: rules(named("a"), jobset.FailurePolicyRule{Name: "b", Action: jobset.FailJobSet, OnJobFailureMessagePatterns: []string{"ok.*", "(?=x)"}}),
			want: []violation{
				invalid("spec.failurePolicy.rules[1].onJobFailureMessagePatterns[1]", "must be a regular expression in RE2 syntax"),
			},
		},
		"Q22: negative maxRestarts": {
			mut:  func(js *jobset.JobSet) { js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: -1} },
			want: []violation{invalid("spec.failurePolicy.maxRestarts", "must be >= 0")},
		},
	})
}

func TestCreateCoordinator(t *testing.T) {
	set := func(c jobset.Coordinator) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { js.Spec.Coordinator = &c }
	}
	runCreate(t, plainJobSet, map[string]createCase{
		"W59..W63: a Pod that exists": {mut: set(jobset.Coordinator{ReplicatedJob: "workers", JobIndex: 1, PodIndex: 1})},
		"W59: no such ReplicatedJob": {
			mut:  set(jobset.Coordinator{ReplicatedJob: "x"}),
			want: []violation{unpathed("coordinator replicatedJob x does not exist")},
		},
		"W60: no such Job": {
			mut:  set(jobset.Coordinator{ReplicatedJob: "workers", JobIndex: 2}),
			want: []violation{unpathed("coordinator job index 2 is invalid for replicatedJob workers")},
		},
		"W60: a negative Job": {
			mut:  set(jobset.Coordinator{ReplicatedJob: "workers", JobIndex: -1}),
			want: []violation{unpathed("coordinator job index -1 is invalid for replicatedJob workers")},
		},
		"W61: the Job is not Indexed": {
			mut: func(js *jobset.JobSet) {
				set(jobset.Coordinator{ReplicatedJob: "leader"})(js)
				job(js, 0).CompletionMode = nil
			},
			want: []violation{unpathed("job for coordinator pod must be indexed completion mode")},
		},
		"W61: the Job has no completions": {
			mut: func(js *jobset.JobSet) {
				set(jobset.Coordinator{ReplicatedJob: "leader"})(js)
				job(js, 0).Completions, job(js, 0).Parallelism = nil, nil
			},
			want: []violation{unpathed("job for coordinator pod must be indexed completion mode")},
		},
		"W62: no such Pod": {
			mut:  set(jobset.Coordinator{ReplicatedJob: "workers", JobIndex: 1, PodIndex: 2}),
			want: []violation{unpathed("coordinator pod index 2 is invalid for replicatedJob workers job index 1")},
		},
		"W63: the address is too long for a label, independently of W59": {
			mut: func(js *jobset.JobSet) {
				set(jobset.Coordinator{ReplicatedJob: "x"})(js)
				js.Spec.Network.Subdomain = strings.Repeat("a", 60)
			},
			want: []violation{unpathed("coordinator replicatedJob x does not exist"), unpathed("spec will lead to invalid label value")},
		},
	})
}
