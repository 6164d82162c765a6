/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"cmp"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Warnings returns what is admitted but most likely not intended. Each warning is one
// line, since the API server sends warnings as headers.
func Warnings(js *jobset.JobSet, g gates.Set) []string {
	out := append(generalWarnings(js), misplacedPlacement(js)...)
	if g.ElasticAutoscaling {
		out = append(out, elasticWarnings(js)...)
	}
	if workerpod.RestartsInPlace(js, g) {
		out = append(out, inPlaceWarnings(js)...)
	}
	return out
}

func inPlaceWarnings(js *jobset.JobSet) []string {
	var out []string
	if js.Spec.FailurePolicy.MaxRestarts == 0 {
		out = append(out, fmt.Sprintf("%s: is 0, which is also the default: the first failure of a worker fails the JobSet "+
			"instead of restarting it; set how many restarts it may have", failurePolicyPath.Child("maxRestarts")))
	}
	out = append(out, progressWarnings(js)...)
	out = append(out, lostNodeWarnings(js)...)
	out = append(out, plannedStopWarnings(js)...)
	out = append(out, warmStartWarnings(js)...)
	out = append(out, firstProcessWarnings(js)...)
	for i := range js.Spec.ReplicatedJobs {
		if workerpod.IsInjected(js, &js.Spec.ReplicatedJobs[i]) {
			out = append(append(out, helperWarnings(js, i)...), injectedWorkerWarnings(js, i)...)
			continue
		}
		out = append(out, unusedCodes(js, i)...)
		spec, path := podSpec(js, i), podPath(i)
		if at, _ := findAgent(path, spec); at >= 0 && workerpod.RestartsPodOn(spec.InitContainers[at].RestartPolicyRules, workerpod.ConfigExitCode) {
			out = append(out, fmt.Sprintf("%s: exit code %d means that a restart cannot help, and RestartAllContainers has no backoff; "+
				"use RestartAllContainers on exit codes NotIn [%d]", path.Child("initContainers").Index(at).Child("restartPolicyRules"),
				workerpod.ConfigExitCode, workerpod.ConfigExitCode))
		}
		if spec.ServiceAccountName == "" && spec.DeprecatedServiceAccount == "" && needsToken(spec) {
			out = append(out, fmt.Sprintf("%s: is not set, and the default account of a namespace may neither watch JobSets nor patch Pods: "+
				"agents without these rights never report and no worker starts; name an account that is bound to the role of the agent",
				path.Child("serviceAccountName")))
		}
		out = append(out, workerWarnings(path, spec)...)
	}
	return out
}

// NarrowedAccount is the warning about a service account that may patch Pods, by rights that the manager did not give it.
func NarrowedAccount(rjob int, account string) string {
	return fmt.Sprintf("%s: service account %s may patch Pods of this namespace; while this JobSet exists, the admission policy %s "+
		"allows it only what agents do, in every Pod that uses it: name an account that only these workers use",
		podPath(rjob).Child("serviceAccountName"), account, constants.AgentAccess)
}

// NarrowedElection is the same about an account that may patch Leases and not update them: client-go's leader election updates.
func NarrowedElection(rjob int, account string) string {
	return fmt.Sprintf("%s: service account %s may patch Leases of this namespace and not update them; while this JobSet exists, the admission policy %s "+
		"allows it only what agents do, in every Pod that uses it: grant it update of the Lease of its leader election, or name an account that only these workers use",
		podPath(rjob).Child("serviceAccountName"), account, constants.AgentLeases)
}

func workerWarnings(path *field.Path, spec *corev1.PodSpec) []string {
	var out []string
	if p := spec.RestartPolicy; p != corev1.RestartPolicyNever {
		out = append(out, fmt.Sprintf("%s: is %s: a container without a restartPolicy of its own restarts alone, "+
			"past the barrier; set restartPolicy: Never", path.Child("restartPolicy"), cmp.Or(p, corev1.RestartPolicyOnFailure)))
	}
	for i := range spec.Containers {
		if text := workerWarning(&spec.Containers[i], spec); text != "" {
			out = append(out, fmt.Sprintf("%s: %s", path.Child("containers").Index(i), text))
		}
	}
	return out
}

// workerWarning describes the worst consequence of an exit of this worker.
func workerWarning(c *corev1.Container, spec *corev1.PodSpec) string {
	const use = "use restartPolicy: Never and RestartAllContainers on exit codes NotIn [0]"
	inPlace, alone := false, false
	for code, action := range workerpod.Actions(c.RestartPolicyRules) {
		if code == 0 { // it succeeded
			continue
		}
		switch action {
		case corev1.ContainerRestartRuleActionRestartAllContainers:
			inPlace = true
		case "":
			alone = alone || restartsByPolicy(c, spec.RestartPolicy)
		default:
			alone = true
		}
	}
	switch {
	case alone:
		return "on some exit codes this container restarts alone, past the barrier and without its peers; " + use
	case !inPlace && len(spec.Containers) > 1:
		return "has no RestartAllContainers rule: when it fails while other containers keep running, its Pod stays Running and not Ready, " +
			"nothing restarts and no event reports it; " + use
	case !inPlace:
		return "has no RestartAllContainers rule: when it fails, its Pod is recreated instead of restarted in place; " + use
	case workerpod.RestartsPodOn(c.RestartPolicyRules, 0):
		return "restarts the Pod also when it succeeds, so that its Job never completes; " + use
	}
	return ""
}

// restartsByPolicy reports whether the container restarts when it fails and no rule matches.
func restartsByPolicy(c *corev1.Container, podPolicy corev1.RestartPolicy) bool {
	if c.RestartPolicy != nil {
		return *c.RestartPolicy != corev1.ContainerRestartPolicyNever
	}
	return podPolicy != corev1.RestartPolicyNever
}
