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
)

// The API server checks a Job template only when a Job is created from it, and
// then the error is in an event. These rules find the common errors earlier.

func restartPolicy(js *jobset.JobSet, i int) field.ErrorList {
	job, path := jobSpec(js, i), podPath(i).Child("restartPolicy")
	switch policy := job.Template.Spec.RestartPolicy; {
	case job.PodFailurePolicy != nil && policy != corev1.RestartPolicyNever:
		return field.ErrorList{field.Invalid(path, policy,
			"a Job with podFailurePolicy needs restartPolicy Never: set Never, which is not the default (OnFailure)")}
	case policy == corev1.RestartPolicyAlways:
		return field.ErrorList{field.Invalid(path, policy, "a Job cannot have restartPolicy Always: set OnFailure or Never")}
	}
	return nil
}

// completions requires completions beside parallelism: the API server defaults both to 1 only if both are absent.
func completions(js *jobset.JobSet, i int) field.ErrorList {
	job := jobSpec(js, i)
	if !isIndexed(job) || job.Completions != nil || job.Parallelism == nil {
		return nil
	}
	return field.ErrorList{field.Required(jobPath(i).Child("completions"), fmt.Sprintf(
		"a Job with parallelism and completionMode Indexed, the default, needs completions: set completions: %d, or completionMode: NonIndexed",
		*job.Parallelism))}
}

// restartRules finds names of actions and operators from early documents. It
// applies to every restart strategy: no such Pod can be created.
func restartRules(js *jobset.JobSet, i int) (errs field.ErrorList) {
	for at, c := range containersOf(js, i) {
		errs = append(errs, containerRestartRules(at(), c)...)
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
