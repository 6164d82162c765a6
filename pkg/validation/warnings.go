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
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Warnings returns what is admitted and yet hardly what its author wants. All
// of it concerns InPlaceRestart. A warning is one line: the API server sends
// them as headers.
func Warnings(js *jobset.JobSet, g gates.Set) []string {
	if !restartsInPlace(js, g) {
		return nil
	}
	var out []string
	for i := range js.Spec.ReplicatedJobs {
		spec, path := &js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec, podPath(i)
		if agent, errs := findAgent(path, spec); agent != nil && len(errs) == 0 {
			out = append(out, agentWarnings(path, spec, agent)...)
		}
		out = append(out, workerWarnings(path, spec)...)
	}
	return out
}

func agentWarnings(path *field.Path, spec *corev1.PodSpec, agent *corev1.Container) []string {
	for i := range spec.InitContainers {
		if &spec.InitContainers[i] == agent {
			path = path.Child("initContainers").Index(i).Child("restartPolicyRules")
		}
	}
	var out []string
	if !workerpod.RestartsPodOn(agent.RestartPolicyRules, workerpod.KilledExitCode) {
		out = append(out, fmt.Sprintf("%s: an agent that is killed (exit code %d, out of memory for instance) starts again alone, "+
			"beside a worker of an older epoch; use RestartAllContainers on exit codes NotIn [%d]",
			path, workerpod.KilledExitCode, workerpod.ConfigExitCode))
	}
	if workerpod.RestartsPodOn(agent.RestartPolicyRules, workerpod.ConfigExitCode) {
		out = append(out, fmt.Sprintf("%s: exit code %d means that a restart cannot help, and RestartAllContainers has no backoff; "+
			"use RestartAllContainers on exit codes NotIn [%d]",
			path, workerpod.ConfigExitCode, workerpod.ConfigExitCode))
	}
	return out
}

func workerWarnings(path *field.Path, spec *corev1.PodSpec) []string {
	var out []string
	if p := spec.RestartPolicy; p != corev1.RestartPolicyNever {
		out = append(out, fmt.Sprintf("%s: is %s: a container without a restartPolicy of its own restarts alone, "+
			"past the barrier; set restartPolicy: Never", path.Child("restartPolicy"), orDefault(p)))
	}
	for i := range spec.Containers {
		if text := workerWarning(&spec.Containers[i], spec.RestartPolicy); text != "" {
			out = append(out, fmt.Sprintf("%s: %s", path.Child("containers").Index(i), text))
		}
	}
	return out
}

// workerWarning names the worst thing that an exit of this worker leads to.
func workerWarning(c *corev1.Container, podPolicy corev1.RestartPolicy) string {
	const use = "use restartPolicy: Never and RestartAllContainers on exit codes NotIn [0]"
	inPlace, alone := false, false
	for code := int32(1); code <= 255; code++ {
		switch workerpod.ActionOn(c.RestartPolicyRules, code) {
		case corev1.ContainerRestartRuleActionRestartAllContainers:
			inPlace = true
		case "":
			alone = alone || restartsByPolicy(c, podPolicy)
		default:
			alone = true
		}
	}
	switch {
	case alone:
		return "on some exit codes this container restarts alone, past the barrier and without its peers; " + use
	case !inPlace:
		return "has no RestartAllContainers rule: when it fails, its Pod is recreated instead of restarted in place; " + use
	case workerpod.RestartsPodOn(c.RestartPolicyRules, 0):
		return "restarts the Pod also when it succeeds, so that its Job never completes; " + use
	}
	return ""
}

// restartsByPolicy says whether the container restarts when it fails and no rule matches.
func restartsByPolicy(c *corev1.Container, podPolicy corev1.RestartPolicy) bool {
	if c.RestartPolicy != nil {
		return *c.RestartPolicy != corev1.ContainerRestartPolicyNever
	}
	return podPolicy != corev1.RestartPolicyNever
}

// orDefault names the policy that an empty one becomes.
func orDefault(p corev1.RestartPolicy) corev1.RestartPolicy {
	if p == "" {
		return corev1.RestartPolicyOnFailure
	}
	return p
}
