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
		return inPlaceInjection(js, i)
	}
	_, errs := findAgent(podPath(i), podSpec(js, i))
	return errs
}

// findAgent returns the index of the agent of a Pod that has one, or -1 and the violations of the first candidate.
func findAgent(path *field.Path, spec *corev1.PodSpec) (int, field.ErrorList) {
	path = path.Child("initContainers")
	problems := func(i int) field.ErrorList {
		errs := agentProblems(path.Index(i), &spec.InitContainers[i])
		if workerpod.LooksLikeAgent(&spec.InitContainers[i]) {
			errs = append(errs, agentVariables(path.Index(i).Child("env"), &spec.InitContainers[i])...)
			errs = append(errs, barrierProbe(path.Index(i), &spec.InitContainers[i])...)
		}
		return errs
	}
	candidates := agentCandidates(spec)
	for _, i := range candidates {
		if len(problems(i)) == 0 {
			return i, nil
		}
	}
	if len(candidates) == 0 {
		return -1, nil
	}
	return -1, problems(candidates[0])
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

func agentProblems(path *field.Path, c *corev1.Container) field.ErrorList {
	var errs field.ErrorList
	if !workerpod.IsSidecar(c) {
		errs = append(errs, field.Required(path.Child("restartPolicy"), fmt.Sprintf(
			"the agent must run alongside the workers %s; remove this container, since %s, or set restartPolicy: Always", because, addedAgent)))
	}
	errs = append(errs, agentRestartRules(path, c)...)
	if c.StartupProbe == nil {
		errs = append(errs, field.Required(path.Child("startupProbe"), fmt.Sprintf(
			"is the barrier that holds the workers back %s; %s", because, startupProbe)))
	}
	return errs
}

// startupProbe says what holds the workers back.
const startupProbe = "use an httpGet probe on path " + workerpod.BarrierPath + "?wait=50 and the port of the agent, once a second, with a timeout of 60 seconds and " +
	"a failureThreshold of 1000000"

func agentRestartRules(path *field.Path, c *corev1.Container) field.ErrorList {
	rulesPath := path.Child("restartPolicyRules")
	use := fmt.Sprintf("use RestartAllContainers on exit codes NotIn [%d]", workerpod.ConfigExitCode)
	code, known, err := workerpod.RestartExitCode(c)
	switch {
	case err != nil:
		i := workerpod.FindEnv(c, workerpod.RestartExitCodeEnv)
		return field.ErrorList{field.Invalid(path.Child("env").Index(i).Child("value"), c.Env[i].Value, err.Error())}
	case !known && !workerpod.RestartsPodOnAllButConfig(c.RestartPolicyRules):
		return field.ErrorList{field.Invalid(rulesPath, noValue, fmt.Sprintf(
			"the agent takes its restart exit code from %s, whose value cannot be seen here: write the value as a number, or %s %s",
			workerpod.RestartExitCodeEnv, use, because))}
	case known && len(c.RestartPolicyRules) == 0:
		return field.ErrorList{field.Required(rulesPath, fmt.Sprintf("all containers must restart when the agent exits with %d %s; %s", code, because, use))}
	case known && !workerpod.RestartsPodOn(c.RestartPolicyRules, code):
		return field.ErrorList{field.Invalid(rulesPath, noValue, fmt.Sprintf(
			"all containers must restart when the agent exits with %d, its restart exit code, %s; the first rule that matches decides; %s", code, because, use))}
	case !workerpod.RestartsPodOn(c.RestartPolicyRules, workerpod.KilledExitCode):
		return field.ErrorList{field.Invalid(rulesPath, noValue, fmt.Sprintf(
			"all containers must restart when the agent is killed (exit code %d, out of memory for instance) %s: "+
				"otherwise it restarts alongside a worker of an older epoch; %s", workerpod.KilledExitCode, because, use))}
	}
	return nil
}
