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

// inPlaceAgents wants one agent in every ReplicatedJob: a sidecar whose
// restart exit code restarts all containers and whose startup probe holds the
// workers back.
//
// Which sidecar is the agent? Those that look like ours (workerpod.LooksLikeAgent),
// else any: an agent built by others may carry other variables and paths, and
// must only do what the protocol needs. One that satisfies all is enough; if
// none does, the first that could be meant is the one to talk about.
func inPlaceAgents(js *jobset.JobSet, g gates.Set) field.ErrorList {
	if !restartsInPlace(js, g) {
		return nil
	}
	var errs field.ErrorList
	for i := range js.Spec.ReplicatedJobs {
		spec := &js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec
		_, found := findAgent(podPath(i), spec)
		errs = append(errs, found...)
	}
	return errs
}

// findAgent returns the agent of a Pod, or what is wrong.
func findAgent(path *field.Path, spec *corev1.PodSpec) (*corev1.Container, field.ErrorList) {
	path = path.Child("initContainers")
	candidates := agentCandidates(spec)
	if len(candidates) == 0 {
		return nil, field.ErrorList{field.Required(path, fmt.Sprintf(
			"must hold the agent, which restarts and holds back the workers, %s; add:\n%s", because,
			workerpod.YAML(map[string]any{"initContainers": []corev1.Container{
				workerpod.Agent(workerpod.Options{AgentImage: "<image of the agent>"}),
			}})))}
	}
	var first field.ErrorList
	for _, i := range candidates {
		errs := agentProblems(path.Index(i), &spec.InitContainers[i])
		if len(errs) == 0 {
			return &spec.InitContainers[i], nil
		}
		if first == nil {
			first = errs
		}
	}
	return nil, first
}

// agentCandidates returns the positions of the init containers that may be the
// agent: the sidecars that look like ours, else any sidecar. What looks like
// ours and is no sidecar cannot pass, but its author most likely wants to hear
// about it, so it comes first.
func agentCandidates(spec *corev1.PodSpec) []int {
	var ours, likeOurs, sidecars []int
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		switch alike, sidecar := workerpod.LooksLikeAgent(c), workerpod.IsSidecar(c); {
		case alike && sidecar:
			ours = append(ours, i)
		case alike:
			likeOurs = append(likeOurs, i)
		case sidecar:
			sidecars = append(sidecars, i)
		}
	}
	if len(ours) > 0 {
		return ours
	}
	return append(likeOurs, sidecars...)
}

func agentProblems(path *field.Path, c *corev1.Container) field.ErrorList {
	wanted := workerpod.Agent(workerpod.Options{})
	var errs field.ErrorList
	if !workerpod.IsSidecar(c) {
		errs = append(errs, field.Required(path.Child("restartPolicy"), fmt.Sprintf(
			"the agent must run beside the workers %s; add:\n%s", because,
			workerpod.YAML(map[string]any{"restartPolicy": wanted.RestartPolicy}))))
	}
	errs = append(errs, agentRestartRules(path, c, &wanted)...)
	if c.StartupProbe == nil {
		errs = append(errs, field.Required(path.Child("startupProbe"), fmt.Sprintf(
			"is the barrier that holds the workers back %s; add:\n%s", because,
			workerpod.YAML(map[string]any{"startupProbe": wanted.StartupProbe}))))
	}
	return errs
}

func agentRestartRules(path *field.Path, c, wanted *corev1.Container) field.ErrorList {
	rulesPath := path.Child("restartPolicyRules")
	lines := workerpod.YAML(map[string]any{"restartPolicyRules": wanted.RestartPolicyRules})
	code, known, err := workerpod.RestartExitCode(c)
	switch {
	case err != nil:
		i := workerpod.FindEnv(c, workerpod.RestartExitCodeEnv)
		return field.ErrorList{field.Invalid(path.Child("env").Index(i).Child("value"), c.Env[i].Value, err.Error())}
	case !known && !workerpod.RestartsPodOnAllButConfig(c.RestartPolicyRules):
		return field.ErrorList{field.Invalid(rulesPath, noValue, fmt.Sprintf(
			"the agent takes its restart exit code from %s, whose value cannot be seen here: "+
				"write the value as a number, or restart all containers on every exit code but %d %s:\n%s",
			workerpod.RestartExitCodeEnv, workerpod.ConfigExitCode, because, lines))}
	case known && len(c.RestartPolicyRules) == 0:
		return field.ErrorList{field.Required(rulesPath, fmt.Sprintf(
			"all containers must restart when the agent exits with %d %s; add:\n%s", code, because, lines))}
	case known && !workerpod.RestartsPodOn(c.RestartPolicyRules, code):
		return field.ErrorList{field.Invalid(rulesPath, noValue, fmt.Sprintf(
			"all containers must restart when the agent exits with %d, its restart exit code, %s; the first rule that matches decides; use:\n%s",
			code, because, lines))}
	}
	return nil
}
