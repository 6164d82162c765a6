/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"strings"
	"testing"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

func TestCreateFailurePolicy(t *testing.T) {
	rules := func(rules ...jobset.FailurePolicyRule) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) { js.Spec.FailurePolicy = &jobset.FailurePolicy{Rules: rules} }
	}
	named := func(name string) jobset.FailurePolicyRule {
		return jobset.FailurePolicyRule{Name: name, Action: jobset.FailJobSet}
	}
	runCreate(t, plainJobSet, map[string]createCase{
		"W51, W136: RestartJob hides the other rules of the group": {
			mut: rules(jobset.FailurePolicyRule{Name: "1", Action: jobset.RestartJob}, named("")),
			want: []violation{unpathed("RestartJob and RestartJobAndIgnoreMaxRestarts failure policy actions are not allowed when RestartJob feature gate is disabled: " +
				"start the manager with --feature-gates=RestartJob=true, " +
				"or use RestartJobSet or RestartJobSetAndIgnoreMaxRestarts")},
		},
		"W51: RestartJobAndIgnoreMaxRestarts": {
			mut:  rules(jobset.FailurePolicyRule{Name: "a", Action: jobset.RestartJobAndIgnoreMaxRestarts}),
			want: []violation{unpathed("failure policy actions are not allowed when RestartJob feature gate is disabled")},
		},
		"W51, W136: with the gate on both actions are accepted, and the other rules of the group speak again": {
			gates: gates.Set{RestartJob: true},
			mut: rules(jobset.FailurePolicyRule{Name: "a", Action: jobset.RestartJobAndIgnoreMaxRestarts},
				jobset.FailurePolicyRule{Name: "1", Action: jobset.RestartJob}),
			want: []violation{unpathed("invalid failure policy rule name '1'")},
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
		"W140: a short pattern that compiles to hundreds of megabytes": {
			mut: rules(jobset.FailurePolicyRule{Name: "b", Action: jobset.FailJobSet, OnJobFailureMessagePatterns: []string{"(?:" + strings.Repeat("a", 3000) + "){1000}"}}),
			want: []violation{
				invalid("spec.failurePolicy.rules[0].onJobFailureMessagePatterns[0]", "must be at most 10000 characters with its repetitions written out"),
				invalid("spec.failurePolicy.rules", "must be at most 10000 characters in all patterns"),
			},
		},
		"Q21, W58: patterns that compile, and the number of restarts, are free": {
			mut: func(js *jobset.JobSet) {
				js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 1<<31 - 1, Rules: []jobset.FailurePolicyRule{
					{Name: "a", Action: jobset.FailJobSet, OnJobFailureMessagePatterns: []string{"", "^exit code (1|2)$", ".*"}}}}
			},
		},
		"Q22: negative maxRestarts": {
			mut:  func(js *jobset.JobSet) { js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: -1} },
			want: []violation{invalid("spec.failurePolicy.maxRestarts", "must be >= 0")},
		},
	})
}

func TestCreateRestartJobCounters(t *testing.T) {
	on := gates.Set{RestartJob: true}
	withTargets := func(workers int32, rules ...jobset.FailurePolicyRule) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) {
			js.Spec.ReplicatedJobs[1].Replicas = workers
			js.Spec.FailurePolicy = &jobset.FailurePolicy{Rules: rules}
		}
	}
	alone := func(name string, targets ...string) jobset.FailurePolicyRule {
		return jobset.FailurePolicyRule{Name: name, Action: jobset.RestartJob, TargetReplicatedJobs: targets}
	}
	runCreate(t, plainJobSet, map[string]createCase{
		"W52, W136: a rule without targets applies to all ReplicatedJobs": {
			gates: on, mut: withTargets(1025, alone("a")),
			want: []violation{unpathed("a failure policy rule with action RestartJob cannot be combined with a replicated job with replicas > 1024: " +
				"rule 'a' applies to replicatedJob 'workers' with 1025 replicas")},
		},
		"W52: reported once, whatever the number of rules": {
			gates: on, mut: withTargets(2000, alone("a"), alone("b")),
			want: []violation{unpathed("a replicated job with replicas > 1024")},
		},
		"W52: RestartJobAndIgnoreMaxRestarts is counted too": {
			gates: on, mut: withTargets(1025, jobset.FailurePolicyRule{Name: "a", Action: jobset.RestartJobAndIgnoreMaxRestarts, TargetReplicatedJobs: []string{"workers"}}),
			want: []violation{unpathed("a replicated job with replicas > 1024")},
		},
		"W52: 1024 replicas are accepted": {gates: on, mut: withTargets(1024, alone("a"))},
		"Q38: a rule that targets only small ReplicatedJobs is accepted": {
			gates: on, mut: withTargets(1025, alone("a", "leader")),
		},
		"Q38: any rule counts, not the first alone": {
			gates: on, mut: withTargets(1025, alone("a", "leader"), alone("b", "leader", "workers")),
			want: []violation{unpathed("rule 'b' applies to replicatedJob 'workers'")},
		},
		"W52: other actions need no counters": {
			gates: on, mut: withTargets(1025, jobset.FailurePolicyRule{Name: "a", Action: jobset.RestartJobSet}),
		},
		"W52, W136: with the gate off only the gate is spoken of": {
			mut:  withTargets(1025, alone("a")),
			want: []violation{unpathed("are not allowed when RestartJob feature gate is disabled")},
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
		"W62: a negative Pod": {
			mut:  set(jobset.Coordinator{ReplicatedJob: "workers", PodIndex: -1}),
			want: []violation{unpathed("coordinator pod index -1 is invalid for replicatedJob workers job index 0")},
		},
		"O362, W63: the address is too long for a label, independently of W59": {
			mut: func(js *jobset.JobSet) {
				set(jobset.Coordinator{ReplicatedJob: "x"})(js)
				js.Spec.Network.Subdomain = strings.Repeat("a", 60)
			},
			want: []violation{unpathed("coordinator replicatedJob x does not exist"), unpathed("spec will lead to invalid label value")},
		},
	})
}
