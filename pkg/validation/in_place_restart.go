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

// because is part of every message of a rule that applies to InPlaceRestart only.
const because = "when failurePolicy.restartStrategy is InPlaceRestart"

func restartStrategyGate(js *jobset.JobSet, g gates.Set) field.ErrorList {
	if g.InPlaceRestart || !workerpod.WantsInPlace(js) {
		return nil
	}
	return field.ErrorList{field.Invalid(failurePolicyPath.Child("restartStrategy"), jobset.InPlaceRestart,
		"InPlaceRestart cannot be set when InPlaceRestart feature gate is disabled: start the manager with --feature-gates=InPlaceRestart=true")}
}

func inPlaceJob(js *jobset.JobSet, i int) field.ErrorList {
	rj, path := &js.Spec.ReplicatedJobs[i], jobPath(i)
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
	if job.TTLSecondsAfterFinished != nil {
		errs = append(errs, field.Forbidden(path.Child("ttlSecondsAfterFinished"), fmt.Sprintf(
			"replicatedJob %s: must not be set %s: a Job that completes and is deleted is created again, which restarts the whole group, "+
				"again and again; remove it, and set spec.ttlSecondsAfterFinished of the JobSet to delete everything at the end", rj.Name, because)))
	}
	errs = append(errs, inPlaceSize(path, rj)...)
	if !isIndexed(job) {
		invalid("completionMode", job.CompletionMode, "must be set to Indexed", "every worker has an index that its replacement takes over")
	}
	return append(errs, inPlaceIndexes(path, rj)...)
}

// inPlaceIndexes refuses what gives up an index: nothing would take its place in the group (P41).
func inPlaceIndexes(path *field.Path, rj *jobset.ReplicatedJob) field.ErrorList {
	job := &rj.Template.Spec
	var errs field.ErrorList
	refuse := func(path *field.Path, must string) {
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("replicatedJob %s: %s %s: a failed index would never be replaced", rj.Name, must, because)))
	}
	if job.BackoffLimitPerIndex != nil {
		refuse(path.Child("backoffLimitPerIndex"), "must not be set")
	}
	if job.MaxFailedIndexes != nil {
		refuse(path.Child("maxFailedIndexes"), "must not be set")
	}
	if job.PodFailurePolicy != nil {
		for i := range job.PodFailurePolicy.Rules {
			if job.PodFailurePolicy.Rules[i].Action == batchv1.PodFailurePolicyActionFailIndex {
				refuse(path.Child("podFailurePolicy", "rules").Index(i).Child("action"), "must not be FailIndex")
			}
		}
	}
	return errs
}

// inPlaceSize checks the part of inPlaceJob that an update can change.
func inPlaceSize(path *field.Path, rj *jobset.ReplicatedJob) field.ErrorList {
	job := &rj.Template.Spec
	if job.Completions != nil && job.Parallelism != nil && *job.Completions == *job.Parallelism {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("completions"), job.Completions, fmt.Sprintf(
		"replicatedJob %s: completions and parallelism must be set and equal %s: all workers run at the same time", rj.Name, because))}
}

// inPlaceOrder refuses orders of start in container mode. In process mode others wait for the agents of a ReplicatedJob, and
// all workers start at one lift (P126).
func inPlaceOrder(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	if workerpod.ModeOf(js.Spec.FailurePolicy) == jobset.ProcessMode {
		return nil
	}
	why := fmt.Sprintf("when failurePolicy.inPlaceRestart.mode is %s: Pods are ready only after the barrier is lifted, and all workers of "+
		"a group start at one lift; use mode %s, in which others wait until the workers are held at the barrier", jobset.ContainerMode, jobset.ProcessMode)
	var errs field.ErrorList
	if p := js.Spec.StartupPolicy; p != nil && p.StartupPolicyOrder == jobset.InOrder {
		errs = append(errs, field.Invalid(specPath.Child("startupPolicy", "startupPolicyOrder"), p.StartupPolicyOrder, "must not be InOrder "+why))
	}
	for i, rj := range js.Spec.ReplicatedJobs {
		for j, dep := range rj.DependsOn {
			if dep.Status == jobset.DependencyReady {
				errs = append(errs, field.Invalid(replicatedJobPath(i).Child("dependsOn").Index(j).Child("status"), dep.Status, "must not be Ready "+why))
			}
		}
	}
	return errs
}

func inPlaceActions(js *jobset.JobSet, _ gates.Set) field.ErrorList {
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
