/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// inPlaceAgent checks an agent that a template brings: a sidecar whose
// restart exit code restarts all containers and whose startup probe holds the
// workers back. Templates without one get one, see inPlaceInjection.
//
// Sidecars that look like ours (workerpod.LooksLikeAgent) are candidates, or all sidecars
// if none does: an agent built by others may have other variables and paths, and
// must only do what the protocol needs. One candidate without problems is enough; if
// there is none, the problems of the first candidate are reported.
func inPlaceAgent(js *jobset.JobSet, i int) field.ErrorList {
	if workerpod.IsInjected(js, &js.Spec.ReplicatedJobs[i]) {
		return nil
	}
	_, errs := findAgent(podPath(i), &js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec, asYAML)
	return errs
}

// findAgent returns the agent of a Pod that has one, or the violations. Those of the first candidate show what to write;
// of the others nobody reads them, and thousands of examples take seconds.
func findAgent(path *field.Path, spec *corev1.PodSpec, show func(any) string) (*corev1.Container, field.ErrorList) {
	path = path.Child("initContainers")
	var first field.ErrorList
	for _, i := range agentCandidates(spec) {
		errs := agentProblems(path.Index(i), &spec.InitContainers[i], show)
		if workerpod.LooksLikeAgent(&spec.InitContainers[i]) {
			errs = append(errs, ownAgentProblems(path.Index(i), &spec.InitContainers[i], show)...)
		}
		if len(errs) == 0 {
			return &spec.InitContainers[i], nil
		}
		if first == nil {
			first, show = errs, asNothing
		}
	}
	return nil, first
}

// wantedAgent returns an agent for this Pod, with a security context like that of the other containers.
func wantedAgent(spec *corev1.PodSpec) []corev1.Container {
	bare := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{SecurityContext: spec.SecurityContext, Containers: spec.Containers}}
	return workerpod.Prepare(bare, workerpod.Options{AgentImage: "<image of the agent>"}).Spec.InitContainers
}

// agentCandidates returns the positions of the init containers that may be the
// agent: the sidecars that look like ours, else any sidecar.
func agentCandidates(spec *corev1.PodSpec) []int {
	var ours, sidecars []int
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		switch {
		case !workerpod.IsSidecar(c):
		case workerpod.LooksLikeAgent(c):
			ours = append(ours, i)
		default:
			sidecars = append(sidecars, i)
		}
	}
	if len(ours) > 0 {
		return ours
	}
	return sidecars
}

func agentProblems(path *field.Path, c *corev1.Container, show func(any) string) field.ErrorList {
	wanted := workerpod.Agent(workerpod.Options{})
	var errs field.ErrorList
	if !workerpod.IsSidecar(c) {
		errs = append(errs, field.Required(path.Child("restartPolicy"), fmt.Sprintf(
			"the agent must run alongside the workers %s; remove this container, since %s, or add:\n%s", because, addedAgent,
			show(map[string]any{"restartPolicy": wanted.RestartPolicy}))))
	}
	errs = append(errs, agentRestartRules(path, c, func() string { return show(map[string]any{"restartPolicyRules": wanted.RestartPolicyRules}) })...)
	if c.StartupProbe == nil {
		errs = append(errs, field.Required(path.Child("startupProbe"), fmt.Sprintf(
			"is the barrier that holds the workers back %s; add:\n%s", because,
			show(map[string]any{"startupProbe": wanted.StartupProbe}))))
	}
	return errs
}

func agentRestartRules(path *field.Path, c *corev1.Container, lines func() string) field.ErrorList {
	rulesPath := path.Child("restartPolicyRules")
	code, known, err := workerpod.RestartExitCode(c)
	switch {
	case err != nil:
		i := workerpod.FindEnv(c, workerpod.RestartExitCodeEnv)
		return field.ErrorList{field.Invalid(path.Child("env").Index(i).Child("value"), c.Env[i].Value, err.Error())}
	case !known && !workerpod.RestartsPodOnAllButConfig(c.RestartPolicyRules):
		return field.ErrorList{field.Invalid(rulesPath, noValue, fmt.Sprintf(
			"the agent takes its restart exit code from %s, whose value cannot be seen here: "+
				"write the value as a number, or restart all containers on every exit code but %d %s:\n%s",
			workerpod.RestartExitCodeEnv, workerpod.ConfigExitCode, because, lines()))}
	case known && len(c.RestartPolicyRules) == 0:
		return field.ErrorList{field.Required(rulesPath, fmt.Sprintf(
			"all containers must restart when the agent exits with %d %s; add:\n%s", code, because, lines()))}
	case known && !workerpod.RestartsPodOn(c.RestartPolicyRules, code):
		return field.ErrorList{field.Invalid(rulesPath, noValue, fmt.Sprintf(
			"all containers must restart when the agent exits with %d, its restart exit code, %s; the first rule that matches decides; use:\n%s",
			code, because, lines()))}
	case !workerpod.RestartsPodOn(c.RestartPolicyRules, workerpod.KilledExitCode):
		return field.ErrorList{field.Invalid(rulesPath, noValue, fmt.Sprintf(
			"all containers must restart when the agent is killed (exit code %d, out of memory for instance) %s: "+
				"otherwise it restarts alongside a worker of an older epoch; use:\n%s", workerpod.KilledExitCode, because, lines()))}
	}
	return nil
}

// asNothing is asYAML for messages that nobody reads.
func asNothing(any) string { return "" }

// asYAML renders what is missing as the lines a user would write.
func asYAML(value any) string {
	lines, err := yaml.Marshal(value)
	if err != nil {
		return "" // API types always marshal; a message without its example still says what is wrong
	}
	return strings.TrimSuffix(string(lines), "\n")
}
