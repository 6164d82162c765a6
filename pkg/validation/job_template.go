/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// The API server checks a Job template only when a Job is made from it, and
// then the user finds the error in an event. The frequent ones are found here.

func restartPolicies(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	for i, rj := range js.Spec.ReplicatedJobs {
		policy, path := rj.Template.Spec.Template.Spec.RestartPolicy, podPath(i).Child("restartPolicy")
		switch {
		case rj.Template.Spec.PodFailurePolicy != nil && policy != corev1.RestartPolicyNever:
			errs = append(errs, field.Invalid(path, policy,
				"a Job with podFailurePolicy needs restartPolicy Never: set Never, which is not the default (OnFailure)"))
		case policy == corev1.RestartPolicyAlways:
			errs = append(errs, field.Invalid(path, policy, "a Job cannot have restartPolicy Always: set OnFailure or Never"))
		}
	}
	return errs
}

// completions: a Job gets 1 for both numbers only if both are absent.
func completions(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	for i, rj := range js.Spec.ReplicatedJobs {
		if job := &rj.Template.Spec; isIndexed(job) && job.Completions == nil && job.Parallelism != nil {
			errs = append(errs, field.Required(jobPath(i).Child("completions"), fmt.Sprintf(
				"a Job with parallelism and completionMode Indexed, the default, needs completions: set completions: %d, or completionMode: NonIndexed",
				*job.Parallelism)))
		}
	}
	return errs
}

// restartRules finds the names that early documents gave to actions and
// operators. It runs whatever the restart strategy is: no such Pod can exist.
func restartRules(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	for i, rj := range js.Spec.ReplicatedJobs {
		spec := &rj.Template.Spec.Template.Spec
		for j := range spec.InitContainers {
			errs = append(errs, containerRestartRules(podPath(i).Child("initContainers").Index(j), &spec.InitContainers[j])...)
		}
		for j := range spec.Containers {
			errs = append(errs, containerRestartRules(podPath(i).Child("containers").Index(j), &spec.Containers[j])...)
		}
	}
	return errs
}

func containerRestartRules(path *field.Path, c *corev1.Container) field.ErrorList {
	var errs field.ErrorList
	if len(c.RestartPolicyRules) > 0 && c.RestartPolicy == nil {
		errs = append(errs, field.Required(path.Child("restartPolicy"),
			"a container with restartPolicyRules needs a restartPolicy of its own, for a worker: restartPolicy: Never"))
	}
	for i, r := range c.RestartPolicyRules {
		rulePath := path.Child("restartPolicyRules").Index(i)
		switch r.Action {
		case "RestartPod":
			errs = append(errs, field.Invalid(rulePath.Child("action"), r.Action,
				"the action is named RestartAllContainers: write action: RestartAllContainers"))
		case "Terminate":
			errs = append(errs, field.Invalid(rulePath.Child("action"), r.Action,
				"there is no such action: remove the rule, list its exit codes in the NotIn of the RestartAllContainers rule "+
					"so that they fail the Pod, and in the podFailurePolicy of the Job"))
		}
		if r.ExitCodes != nil && r.ExitCodes.Operator == "NoIn" {
			errs = append(errs, field.Invalid(rulePath.Child("exitCodes", "operator"), r.ExitCodes.Operator,
				"the operator is named NotIn: write operator: NotIn"))
		}
	}
	return errs
}
