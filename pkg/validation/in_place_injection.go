/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// addedAgent ends messages about templates that bring no agent.
const addedAgent = "an agent is added to templates without one"

// inPlaceInjection refuses what conflicts with the agent that a template is to get.
func inPlaceInjection(js *jobset.JobSet, i int) field.ErrorList {
	spec := podSpec(js, i)
	errs := halfAgents(podPath(i), spec)
	errs = append(errs, takenNames(podPath(i), spec)...)
	return append(errs, duplicateExitCodes(js, i)...)
}

// halfAgents finds init containers that are meant to be an agent and would keep the workers waiting indefinitely.
func halfAgents(path *field.Path, spec *corev1.PodSpec) field.ErrorList {
	var errs field.ErrorList
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		if workerpod.IsSidecar(c) || !isAgentButForItsPolicy(c) {
			continue
		}
		errs = append(errs, agentProblems(path.Child("initContainers").Index(i), c)...)
	}
	return errs
}

// isAgentButForItsPolicy reports whether an init container has what our agent needs.
func isAgentButForItsPolicy(c *corev1.Container) bool {
	needs := []string{workerpod.NamespaceEnv, workerpod.PodNameEnv, workerpod.JobSetNameEnv}
	return !slices.ContainsFunc(needs, func(name string) bool { return workerpod.FindEnv(c, name) < 0 })
}

// takenNames finds containers and volumes that have the names of those that are added.
func takenNames(path *field.Path, spec *corev1.PodSpec) field.ErrorList {
	var errs field.ErrorList
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; c.Name == workerpod.DefaultAgentName && !isAgentButForItsPolicy(c) {
			errs = append(errs, field.Invalid(path.Child("initContainers").Index(i).Child("name"), c.Name, fmt.Sprintf(
				"is reserved for the agent, and this container is not one: %s %s, so remove or rename this container; or make it an agent of your own",
				addedAgent, because)))
		}
	}
	for i := range spec.Containers {
		if spec.Containers[i].Name == workerpod.DefaultAgentName {
			errs = append(errs, field.Invalid(path.Child("containers").Index(i).Child("name"), workerpod.DefaultAgentName, fmt.Sprintf(
				"is reserved for the agent: %s %s, so rename this container", addedAgent, because)))
		}
	}
	for i := range spec.Volumes {
		if spec.Volumes[i].Name == workerpod.TokenVolumeName {
			errs = append(errs, field.Invalid(path.Child("volumes").Index(i).Child("name"), workerpod.TokenVolumeName, fmt.Sprintf(
				"is reserved for the volume with the agent's token: %s %s, so rename this volume", addedAgent, because)))
		}
	}
	return errs
}

// takenClaims finds claims whose volume would have the name of the one with the agent's token, which no Pod has if every
// template brings its agent.
func takenClaims(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	injected := func(rjob jobset.ReplicatedJob) bool { return workerpod.IsInjected(js, &rjob) }
	if !slices.ContainsFunc(js.Spec.ReplicatedJobs, injected) {
		return nil
	}
	var errs field.ErrorList
	for _, t := range claimTemplates(js) {
		if t.Name == workerpod.TokenVolumeName {
			errs = append(errs, field.Invalid(t.namePath(), t.Name, fmt.Sprintf(
				"is reserved for the volume with the agent's token: %s %s, so rename this claim", addedAgent, because)))
		}
	}
	return errs
}

// duplicateExitCodes finds codes for a new Pod that podFailurePolicy acts on as well: which of them counts must be clear from the manifest.
func duplicateExitCodes(js *jobset.JobSet, i int) field.ErrorList {
	job := jobSpec(js, i)
	var errs field.ErrorList
	first := workerpod.NewPodFailures(job.PodFailurePolicy).OnAny(job.Template.Spec.Containers)
	for at, code := range workerpod.RecreatePodOn(js.Spec.FailurePolicy) {
		if rule := first(code); rule >= 0 {
			errs = append(errs, field.Invalid(failurePolicyPath.Child("inPlaceRestart", "recreatePodOnExitCodes").Index(at), code, fmt.Sprintf(
				"%s acts on this exit code already: remove it from one of the two",
				jobPath(i).Child("podFailurePolicy", "rules").Index(rule).Child("onExitCodes"))))
		}
	}
	return errs
}

// helperWarnings are about sidecars that might be meant to be the agent and do nothing that an agent does (P60a).
func helperWarnings(js *jobset.JobSet, i int) []string {
	var out []string
	spec := podSpec(js, i)
	for k := range spec.InitContainers {
		if workerpod.HasAgentVariables(&spec.InitContainers[k]) {
			out = append(out, fmt.Sprintf("%s: has the variables of an agent, but neither a startup probe on %s nor a RestartAllContainers rule "+
				"for exit code %d, so it is not recognized as an agent, and an agent is added; add both if this is the agent",
				podPath(i).Child("initContainers").Index(k), workerpod.BarrierPath, workerpod.DefaultRestartExitCode))
		}
	}
	return out
}

// injectedWorkerWarnings are about workers as they will be, but for the image of the agent.
func injectedWorkerWarnings(js *jobset.JobSet, i int) []string {
	if workerpod.ModeOf(js.Spec.FailurePolicy) == jobset.ProcessMode {
		return nil // the author has said nothing about restarts of the containers, see inPlaceMode
	}
	rjob := &js.Spec.ReplicatedJobs[i]
	template := workerpod.Inject(&batchv1.Job{Spec: rjob.Template.Spec}, js.Spec.FailurePolicy, workerpod.Injection{}, workerpod.Place{})
	alone := slices.ContainsFunc(template.Spec.Containers, func(c corev1.Container) bool { return c.RestartPolicy == nil })
	if !alone { // every container has a policy of its own, so that of the Pod is for init containers
		template.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
	return workerWarnings(podPath(i), &template.Spec)
}

// unusedCodes warns of codes for a new Pod in a template whose author has written the rules.
func unusedCodes(js *jobset.JobSet, i int) []string {
	if len(workerpod.RecreatePodOn(js.Spec.FailurePolicy)) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s: does not apply to %s, whose template brings an agent; write the codes into the restartPolicyRules of its containers",
		failurePolicyPath.Child("inPlaceRestart", "recreatePodOnExitCodes"), replicatedJobPath(i))}
}
