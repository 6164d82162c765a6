/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
)

// What the agent reads from its environment and serves.
const (
	NamespaceEnv       = "NAMESPACE"
	PodNameEnv         = "POD_NAME"
	JobSetNameEnv      = "JOBSET_NAME"
	JobSetUIDEnv       = "JOBSET_UID"
	RestartExitCodeEnv = "RESTART_POD_IN_PLACE_EXIT_CODE"
	BarrierPortEnv     = "BARRIER_PORT"
	KubeconfigEnv      = "KUBECONFIG"
	ReplicatedJobEnv   = "REPLICATED_JOB_NAME"
	ReplicasEnv        = "REPLICATED_JOB_REPLICAS"
	JobIndexEnv        = "JOB_INDEX"
	PodIndexEnv        = "JOB_COMPLETION_INDEX"
	MasterNameEnv      = "MASTER_NAME"
	PodAddressEnv      = "POD_IP"
	PodUIDEnv          = "POD_UID"
	NodeNameEnv        = "NODE_NAME"
	ReportsEnv         = "JOBSET_REPORTS"

	// BarrierPath answers 200 once the worker may start.
	BarrierPath = "/barrier-is-lifted"

	// DefaultRestartExitCode is the exit code by which an agent asks for a restart of its Pod in place.
	DefaultRestartExitCode int32 = 88
	// ConfigExitCode is the exit code of an agent that a restart cannot fix:
	// it must not match a RestartAllContainers rule, because only then the
	// kubelet backs off.
	ConfigExitCode int32 = 64
	// KilledExitCode is how a container ends that the kernel kills, out of memory for instance.
	KilledExitCode int32 = 137
	// DefaultBarrierPort is where the agent serves BarrierPath.
	DefaultBarrierPort int32 = 8080

	maxExitCode int32 = 255
)

// IsSidecar says whether an init container keeps running beside the workers.
func IsSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// LooksLikeAgent recognises our agent among other sidecars by what it does (P60a): it runs the agent's image, or serves the
// barrier that its startup probe asks for. Many programs have the variable JOBSET_NAME, so that alone says nothing; with
// the agent's name, its port, or a rule for its restart code, the container is meant to be one.
func LooksLikeAgent(c *corev1.Container) bool {
	switch {
	case runsAgentImage(c.Image):
		return true
	case c.StartupProbe != nil && c.StartupProbe.HTTPGet != nil && ServesBarrierAt(c.StartupProbe.HTTPGet.Path):
		return true
	case FindEnv(c, JobSetNameEnv) < 0:
		return false
	}
	return c.Name == DefaultAgentName || FindEnv(c, BarrierPortEnv) >= 0 || FindEnv(c, RestartExitCodeEnv) >= 0 ||
		RestartsPodOn(c.RestartPolicyRules, DefaultRestartExitCode)
}

// runsAgentImage reports whether an image has the name that the repository gives the agent, whatever its registry and tag.
func runsAgentImage(image string) bool {
	image, _, _ = strings.Cut(image, "@")
	if slash, colon := strings.LastIndex(image, "/"), strings.LastIndex(image, ":"); colon > slash {
		image = image[:colon]
	}
	image = "/" + image
	return strings.HasSuffix(image, "/jobset/agent") || strings.HasSuffix(image, "/"+DefaultAgentName)
}

// HasAgentVariables reports whether a sidecar has all variables that an agent needs. By them alone it is none.
func HasAgentVariables(c *corev1.Container) bool {
	for _, name := range []string{NamespaceEnv, PodNameEnv, JobSetNameEnv} {
		if FindEnv(c, name) < 0 {
			return false
		}
	}
	return IsSidecar(c)
}

// AgentOf returns the sidecar of a Pod that looks like our agent; nil if there is none.
func AgentOf(spec *corev1.PodSpec) *corev1.Container {
	for i := range spec.InitContainers {
		if c := &spec.InitContainers[i]; IsSidecar(c) && LooksLikeAgent(c) {
			return c
		}
	}
	return nil
}

// AgentAccount is the service account by which the agent of a Pod, one that is added when the Pod
// brings none, talks to the API server. False: it is by others, or comes with a kubeconfig of its own.
func AgentAccount(spec *corev1.PodSpec) (string, bool) {
	if !HoldsAgent(spec) {
		return serviceAccount(spec), true
	}
	if agent := AgentOf(spec); agent != nil {
		return serviceAccount(spec), FindEnv(agent, KubeconfigEnv) < 0
	}
	return "", false
}

// serviceAccount is the one that a Pod runs with.
func serviceAccount(spec *corev1.PodSpec) string {
	return cmp.Or(spec.ServiceAccountName, spec.DeprecatedServiceAccount, "default")
}

// AccountReview asks for a right of a service account, with the groups that it is in.
func AccountReview(namespace, account string, right authorizationv1.ResourceAttributes) authorizationv1.SubjectAccessReviewSpec {
	return authorizationv1.SubjectAccessReviewSpec{
		User:               "system:serviceaccount:" + namespace + ":" + account,
		Groups:             []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
		ResourceAttributes: &right,
	}
}

// FindEnv returns the position of a variable, or -1. Of several the last one
// counts, as it does for the kubelet.
func FindEnv(c *corev1.Container, name string) int {
	for i := len(c.Env) - 1; i >= 0; i-- {
		if c.Env[i].Name == name {
			return i
		}
	}
	return -1
}

// literalEnv returns the value of a variable as the manifest spells it out;
// known is false if only the kubelet can tell the value.
func literalEnv(c *corev1.Container, name string) (value string, known bool) {
	i := FindEnv(c, name)
	if i < 0 {
		return "", true
	}
	env := c.Env[i]
	if env.ValueFrom != nil || strings.Contains(env.Value, "$(") {
		return "", false
	}
	return env.Value, true
}

// RestartExitCode returns the exit code by which this agent asks for a restart
// of its Pod in place. Known is false if the code comes from a place that
// cannot be read here; err says that the agent would refuse the value.
func RestartExitCode(agent *corev1.Container) (code int32, known bool, err error) {
	code, known, ok := numberEnv(agent, RestartExitCodeEnv, DefaultRestartExitCode, maxExitCode)
	if !ok || code == ConfigExitCode {
		return 0, true, fmt.Errorf("must be a number from 1 to %d other than %d", maxExitCode, ConfigExitCode)
	}
	return code, known, nil
}

// numberEnv reads a variable with a number from 1 on; ok is false if the agent would refuse it.
func numberEnv(agent *corev1.Container, name string, unset, most int32) (number int32, known, ok bool) {
	value, known := literalEnv(agent, name)
	if !known || value == "" {
		return unset, known, true
	}
	parsed, err := strconv.ParseInt(value, 10, 32)
	return int32(parsed), true, err == nil && parsed >= 1 && parsed <= int64(most)
}

// BarrierPort returns the port on which this agent serves the barrier. Known
// is false if the number comes from a place that cannot be read here; err says
// that the agent would refuse the value.
func BarrierPort(agent *corev1.Container) (port int32, known bool, err error) {
	port, known, ok := numberEnv(agent, BarrierPortEnv, DefaultBarrierPort, math.MaxUint16)
	if !ok {
		return 0, true, fmt.Errorf("must be a port, a number from 1 to 65535")
	}
	return port, known, nil
}

// ServesBarrierAt says whether a path of a probe is that of the barrier, whatever it asks for behind it.
func ServesBarrierAt(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	return strings.TrimPrefix(path, "/") == strings.TrimPrefix(BarrierPath, "/")
}

// ActionOn returns what the kubelet does, by the restart rules of a container,
// when the container exits with a code: the first rule that matches decides.
// Empty means that no rule matches and the restart policy decides.
func ActionOn(rules []corev1.ContainerRestartRule, code int32) corev1.ContainerRestartRuleAction {
	for _, rule := range rules {
		if rule.ExitCodes == nil {
			continue
		}
		listed := slices.Contains(rule.ExitCodes.Values, code)
		switch rule.ExitCodes.Operator {
		case corev1.ContainerRestartRuleOnExitCodesOpIn:
			if listed {
				return rule.Action
			}
		case corev1.ContainerRestartRuleOnExitCodesOpNotIn:
			if !listed {
				return rule.Action
			}
		}
	}
	return ""
}

// Actions returns what ActionOn does for each exit code. It reads each rule once.
func Actions(rules []corev1.ContainerRestartRule) (actions [maxExitCode + 1]corev1.ContainerRestartRuleAction) {
	for _, rule := range rules {
		if rule.ExitCodes == nil {
			continue
		}
		in := rule.ExitCodes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn
		if !in && rule.ExitCodes.Operator != corev1.ContainerRestartRuleOnExitCodesOpNotIn {
			continue
		}
		for code, matches := range codesOf(rule.ExitCodes.Values, in) {
			if matches && actions[code] == "" {
				actions[code] = rule.Action
			}
		}
	}
	return actions
}

// RestartsPodOn says whether all containers restart when this one exits with the code.
func RestartsPodOn(rules []corev1.ContainerRestartRule, code int32) bool {
	return ActionOn(rules, code) == corev1.ContainerRestartRuleActionRestartAllContainers
}

// RestartsPodOnAllButConfig says whether every exit of an agent restarts the
// Pod, but the one that a restart cannot fix.
func RestartsPodOnAllButConfig(rules []corev1.ContainerRestartRule) bool {
	for code, action := range Actions(rules) {
		if code > 0 && int32(code) != ConfigExitCode && action != corev1.ContainerRestartRuleActionRestartAllContainers {
			return false
		}
	}
	return true
}

// RestartAllUnless returns the one rule that restarts the Pod in place on every exit code but these.
func RestartAllUnless(codes ...int32) []corev1.ContainerRestartRule {
	return []corev1.ContainerRestartRule{{
		Action: corev1.ContainerRestartRuleActionRestartAllContainers,
		ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{
			Operator: corev1.ContainerRestartRuleOnExitCodesOpNotIn,
			Values:   codes,
		},
	}}
}
