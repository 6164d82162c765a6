/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// Injection is what the configuration of the manager says about agents that it adds.
type Injection struct {
	// Image of the agent. Empty: templates without an agent are refused.
	Image string
	// Resources of the agent. Nil means the default.
	Resources *corev1.ResourceRequirements
	// Environment is that of JobSets that name none.
	Environment jobset.WorkerEnvironment
	// LeaseReportsFrom is the number of workers from which agents in process mode report in Leases (P150), 0 for never.
	LeaseReportsFrom int64
	// LeasesUnread says that they report on Pods all the same, for now: nobody would read their Leases.
	LeasesUnread bool
	// Server is the version of the API server; nil if unknown.
	Server *version.Version
}

// containerPoliciesFrom is the version from which API servers do not refuse a restart policy of a regular container.
var containerPoliciesFrom = version.MajorMinor(1, 34)

// takesContainerPolicies reports whether containers may say how they restart. Older servers refuse
// such Pods. There a worker in process mode whose supervisor ends gets a new Pod (P57).
func (with Injection) takesContainerPolicies() bool {
	return with.Server == nil || with.Server.AtLeast(containerPoliciesFrom)
}

// RestartsInPlace reports whether a JobSet asks for restarts in place and gets them.
func RestartsInPlace(js *jobset.JobSet, g gates.Set) bool {
	return g.InPlaceRestart && WantsInPlace(js)
}

// WantsInPlace reports whether a JobSet asks for restarts in place. Whether it gets them, the feature gate says.
func WantsInPlace(js *jobset.JobSet) bool {
	policy := js.Spec.FailurePolicy
	return policy != nil && policy.RestartStrategy == jobset.InPlaceRestart
}

// IsInjected reports whether Jobs of a ReplicatedJob get an agent from us when
// they are built: the JobSet restarts in place, and the template brings none.
// A template is prepared by us or by its author, never by both.
func IsInjected(js *jobset.JobSet, rjob *jobset.ReplicatedJob) bool {
	return WantsInPlace(js) && !HoldsAgent(&rjob.Template.Spec.Template.Spec)
}

// HoldsAgent reports whether a Pod brings an agent: a sidecar that looks like
// ours, or one by others, with a RestartAllContainers rule and a startup probe.
// Any other sidecar, a mesh's for example, is the user's.
func HoldsAgent(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(spec.InitContainers, func(c corev1.Container) bool { return bringsAgent(&c) })
}

func bringsAgent(c *corev1.Container) bool {
	return IsSidecar(c) && (LooksLikeAgent(c) || c.StartupProbe != nil && restartsAll(c))
}

// restartsAll reports whether a container has a rule that restarts all containers, on whatever exit code.
func restartsAll(c *corev1.Container) bool {
	return slices.ContainsFunc(c.RestartPolicyRules, func(rule corev1.ContainerRestartRule) bool {
		return rule.Action == corev1.ContainerRestartRuleActionRestartAllContainers
	})
}
