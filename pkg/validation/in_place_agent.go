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
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// inPlaceAgents checks the agents that templates bring, and that the others can get one.
func inPlaceAgents(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	var errs field.ErrorList
	show := fewExamples()
	for i := range js.Spec.ReplicatedJobs {
		check := inPlaceAgent
		if workerpod.IsInjected(js, &js.Spec.ReplicatedJobs[i]) {
			check = inPlaceInjection
		}
		errs = append(errs, check(js, i, show)...)
	}
	return errs
}

// inPlaceAgent checks an agent that a template brings: a sidecar whose
// restart exit code restarts all containers and whose startup probe holds the
// workers back. Templates without one get one, see inPlaceInjection.
//
// Sidecars that look like ours (workerpod.LooksLikeAgent) are candidates, or all sidecars
// if none does: an agent built by others may have other variables and paths, and
// must only do what the protocol needs. One candidate without problems is enough; if
// there is none, the problems of the first candidate are reported.
func inPlaceAgent(js *jobset.JobSet, i int, show func(any) string) field.ErrorList {
	_, errs := findAgent(podPath(i), &js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec, show)
	return errs
}

// findAgent returns the agent of a Pod that has one, or the violations of the first candidate. Only these show what to
// write: thousands of examples take seconds.
func findAgent(path *field.Path, spec *corev1.PodSpec, show func(any) string) (*corev1.Container, field.ErrorList) {
	path = path.Child("initContainers")
	problems := func(i int, show func(any) string) field.ErrorList {
		errs := agentProblems(path.Index(i), &spec.InitContainers[i], show)
		if workerpod.LooksLikeAgent(&spec.InitContainers[i]) {
			errs = append(errs, ownAgentProblems(path.Index(i), &spec.InitContainers[i], show)...)
		}
		return errs
	}
	candidates := agentCandidates(spec)
	for _, i := range candidates {
		if len(problems(i, asNothing)) == 0 {
			return &spec.InitContainers[i], nil
		}
	}
	if len(candidates) == 0 {
		return nil, nil
	}
	return nil, problems(candidates[0], show)
}

// wantedAgent returns the lines that add an agent to this Pod.
func wantedAgent(spec *corev1.PodSpec) any {
	agent := workerpod.AgentFor(spec, workerpod.Options{AgentImage: "<image of the agent>"})
	return map[string]any{"initContainers": []corev1.Container{agent}}
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

// maxExamples are those of one list of violations: enough for the mistakes of some templates. Those of thousands took
// seconds, and tens of megabytes (C382).
const (
	maxExamples    = 10
	noMoreExamples = "(as in the examples above)"
)

// fewExamples returns a function that is asYAML in its first calls.
func fewExamples() func(any) string {
	left := maxExamples
	return func(value any) string {
		if left == 0 {
			return noMoreExamples
		}
		left--
		return asYAML(value)
	}
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
