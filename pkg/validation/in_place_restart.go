/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// wantsInPlace says whether a JobSet asks for restarts in place.
func wantsInPlace(js *jobset.JobSet) bool {
	return js.Spec.FailurePolicy != nil && js.Spec.FailurePolicy.RestartStrategy == jobset.InPlaceRestart
}

// restartsInPlace is when the rules below apply. With the gate off the strategy
// itself is refused, and what it would need besides is no help.
func restartsInPlace(js *jobset.JobSet, g gates.Set) bool {
	return g.InPlaceRestart && wantsInPlace(js)
}

// because ends every message of a rule that only InPlaceRestart makes.
const because = "when failurePolicy.restartStrategy is InPlaceRestart"

func restartStrategyGate(js *jobset.JobSet, g gates.Set) field.ErrorList {
	if g.InPlaceRestart || !wantsInPlace(js) {
		return nil
	}
	return field.ErrorList{field.Invalid(failurePolicyPath.Child("restartStrategy"), jobset.InPlaceRestart,
		fmt.Sprintf("%s cannot be set when InPlaceRestart feature gate is disabled: start the manager with "+
			"--feature-gates=InPlaceRestart=true, or set featureGates: {InPlaceRestart: true} in its configuration", jobset.InPlaceRestart))}
}

func inPlaceJobs(js *jobset.JobSet, g gates.Set) field.ErrorList {
	if !restartsInPlace(js, g) {
		return nil
	}
	var errs field.ErrorList
	for i := range js.Spec.ReplicatedJobs {
		errs = append(errs, inPlaceJob(jobPath(i), &js.Spec.ReplicatedJobs[i])...)
	}
	return errs
}

func inPlaceJob(path *field.Path, rj *jobset.ReplicatedJob) field.ErrorList {
	job := &rj.Template.Spec
	var errs field.ErrorList
	invalid := func(name string, value any, must, why string) {
		errs = append(errs, field.Invalid(path.Child(name), value,
			fmt.Sprintf("replicatedJob %s: %s %s: %s", rj.Name, must, because, why)))
	}
	if job.BackoffLimit == nil || *job.BackoffLimit != workerpod.BackoffLimit {
		invalid("backoffLimit", job.BackoffLimit, fmt.Sprintf("must be set to %d (MaxInt32)", workerpod.BackoffLimit),
			"failed Pods are recreated and failurePolicy.maxRestarts counts them")
	}
	if job.PodReplacementPolicy == nil || *job.PodReplacementPolicy != batchv1.Failed {
		invalid("podReplacementPolicy", job.PodReplacementPolicy, "must be set to Failed",
			"a Pod must be gone before another takes its index")
	}
	errs = append(errs, inPlaceSize(path, rj)...)
	if !isIndexed(job) {
		invalid("completionMode", job.CompletionMode, "must be set to Indexed", "every worker has an index that its replacement takes over")
	}
	if job.BackoffLimitPerIndex != nil {
		errs = append(errs, field.Forbidden(path.Child("backoffLimitPerIndex"),
			fmt.Sprintf("replicatedJob %s: must not be set %s: a failed index would never be replaced", rj.Name, because)))
	}
	return errs
}

// inPlaceSize is all of inPlaceJob that can change later.
func inPlaceSize(path *field.Path, rj *jobset.ReplicatedJob) field.ErrorList {
	job := &rj.Template.Spec
	if job.Completions != nil && job.Parallelism != nil && *job.Completions == *job.Parallelism {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("completions"), job.Completions, fmt.Sprintf(
		"replicatedJob %s: completions and parallelism must be set and equal %s: all workers run at the same time", rj.Name, because))}
}

// inPlaceOrder: whoever waits for others to be ready cannot restart together with them.
func inPlaceOrder(js *jobset.JobSet, g gates.Set) field.ErrorList {
	if !restartsInPlace(js, g) {
		return nil
	}
	const reason = "all workers restart together, which cannot keep an order"
	var errs field.ErrorList
	if p := js.Spec.StartupPolicy; p != nil && p.StartupPolicyOrder == jobset.InOrder {
		errs = append(errs, field.Invalid(specPath.Child("startupPolicy", "startupPolicyOrder"), p.StartupPolicyOrder,
			fmt.Sprintf("must not be InOrder %s: %s", because, reason)))
	}
	for i, rj := range js.Spec.ReplicatedJobs {
		for j, dep := range rj.DependsOn {
			if dep.Status == jobset.DependencyReady {
				errs = append(errs, field.Invalid(replicatedJobPath(i).Child("dependsOn").Index(j).Child("status"), dep.Status,
					fmt.Sprintf("must not be Ready %s: %s", because, reason)))
			}
		}
	}
	return errs
}

func inPlaceActions(js *jobset.JobSet, g gates.Set) field.ErrorList {
	if !restartsInPlace(js, g) {
		return nil
	}
	var errs field.ErrorList
	for i, r := range js.Spec.FailurePolicy.Rules {
		if restartsOneJob(r) {
			errs = append(errs, field.Invalid(failurePolicyPath.Child("rules").Index(i).Child("action"), r.Action,
				fmt.Sprintf("must not restart a single Job %s: workers of one Job cannot restart without the others, use %s or %s",
					because, jobset.RestartJobSet, jobset.RestartJobSetAndIgnoreMaxRestarts)))
		}
	}
	return errs
}
