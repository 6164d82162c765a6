/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/jobset/agent"
)

const (
	agentDir  = "agent"
	agentRole = "config/components/agent-access/cluster/cluster_role.yaml"
)

// variable is an environment variable of the agent, by the name of its constant.
type variable struct {
	constant string
	required bool
	// fallback is the name of the constant that is its default, if it has one.
	fallback string
	meaning  string
}

// variables has every environment variable that the agent reads.
var variables = []variable{
	{"envNamespace", true, "", "Namespace of the Pod and of its JobSet. From the downward API: `metadata.namespace`."},
	{"envPodName", true, "", "Name of the Pod, the only one that the agent writes. From the downward API: `metadata.name`."},
	{"envJobSetName", true, "", "Name of the JobSet, the only one that the agent reads. From the downward API: `metadata.labels['jobset.sigs.k8s.io/jobset-name']`."},
	{"envJobSetUID", false, "", "UID of the JobSet. A JobSet of the same name with another UID counts as absent, and the worker is held. " +
		"Without it the UID of the first JobSet that is read takes its place. From the downward API: `metadata.labels['jobset.sigs.k8s.io/jobset-uid']`."},
	{"envRestartExitCode", false, "defaultRestartExitCode", "Exit code with which the agent asks for a restart of its Pod in place: 1 to 255, but not 64. The rule of the agent's container has to cover it."},
	{"envBarrierPort", false, "defaultBarrierPort", "TCP port of the startup probe, 1 to 65535. The probe has to name the same."},
	{"envBarrierAddress", false, "", "IP address that the startup probe is answered on. Absent: all addresses of the Pod."},
	{"envKubeconfig", false, "", "Path of one kubeconfig file. Absent: the service account of the Pod."},
}

// exit is an exit code of the agent.
type exit struct {
	// constant is the name of its constant; code shows it, %s being its value.
	constant, code string
	when, kubelet  string
}

var exits = []exit{
	{"defaultRestartExitCode", "`%s`, or `RESTART_POD_IN_PLACE_EXIT_CODE`", "The group restarts, or the agent met an error that nobody expected.",
		"Restarts all containers of the Pod at once, without backoff."},
	{"exitSetting", "`%s`", "A setting is wrong, or the port is taken. The last line of the log says which one and how to set it.",
		"Restarts the agent alone, with its ordinary backoff. The worker is not started."},
	{"exitSignal", "`%s` + signal, so `143` for SIGTERM", "The agent was told to stop, as at the end of the Pod.",
		"Nothing: the Pod ends. If the Pod does not end, all containers are restarted."},
}

func agentPage(root string) (map[string]string, error) {
	src, err := readSource(root, agentDir)
	if err != nil {
		return nil, err
	}
	environment, err := environmentTable(src, variables)
	if err != nil {
		return nil, err
	}
	codes, err := exitTable(src, exits)
	if err != nil {
		return nil, err
	}
	role, err := os.ReadFile(filepath.Join(root, agentRole))
	if err != nil {
		return nil, fmt.Errorf("reading the agent's role: %w", err)
	}
	rights, err := rightsTable(role)
	if err != nil {
		return nil, err
	}
	longest := src.constant("longestWait")
	if longest == nil {
		return nil, fmt.Errorf("%s has no constant longestWait; see agentPage in hack/reference", agentDir)
	}
	timing := agent.DefaultTiming()
	return map[string]string{
		"environment": environment,
		"exits":       codes,
		"rights":      rights,
		"path":        agent.BarrierPath,
		"longestWait": longest.value.ExactString(),
		"spread":      timing.Spread.String(),
		"backoff":     timing.Backoff.String(),
		"backoffCap":  timing.BackoffCap.String(),
		"initial":     timing.InitialEvents.String(),
		"request":     timing.Request.String(),
		"watch":       shortDuration(timing.Watch.String()),
		"watchLimit":  shortDuration((2 * timing.Watch).String()),
	}, nil
}

// shortDuration drops seconds that are zero, behind minutes.
func shortDuration(text string) string {
	if strings.HasSuffix(text, "m0s") {
		return strings.TrimSuffix(text, "0s")
	}
	return text
}

func environmentTable(src *source, variables []variable) (string, error) {
	rows := table{head: []string{"variable", "required", "default", "meaning"}}
	known := map[string]bool{}
	for _, v := range variables {
		known[v.constant] = true
		name := src.constant(v.constant)
		if name == nil {
			return "", fmt.Errorf("variables in hack/reference/agent.go has %s, which %s has not; remove it", v.constant, src.dir)
		}
		required, fallback := "no", ""
		if v.required {
			required = "yes"
		}
		if v.fallback != "" {
			value := src.constant(v.fallback)
			if value == nil {
				return "", fmt.Errorf("variables in hack/reference/agent.go has default %s, which %s has not; correct it", v.fallback, src.dir)
			}
			fallback = code(value.value.ExactString())
		}
		rows.add(code(name.text()), required, fallback, v.meaning)
	}
	for _, c := range src.consts {
		if strings.HasPrefix(c.name, "env") && !known[c.name] {
			return "", fmt.Errorf("%s: nothing is known about the variable %s; add %s to variables in hack/reference/agent.go", src.dir, c.text(), c.name)
		}
	}
	return rows.String(), nil
}

func exitTable(src *source, exits []exit) (string, error) {
	rows := table{head: []string{"exit code", "when", "what the kubelet does, in the Pod shape of JobSet"}}
	known := map[string]bool{}
	for _, e := range exits {
		known[e.constant] = true
		c := src.constant(e.constant)
		if c == nil {
			return "", fmt.Errorf("exits in hack/reference/agent.go has %s, which %s has not; remove it", e.constant, src.dir)
		}
		rows.add(fmt.Sprintf(e.code, c.value.ExactString()), e.when, e.kubelet)
	}
	for _, c := range src.consts {
		if strings.HasPrefix(c.name, "exit") && !known[c.name] {
			return "", fmt.Errorf("%s: nothing is known about exit code %s; add it to exits in hack/reference/agent.go", src.dir, c.name)
		}
	}
	return rows.String(), nil
}

// rightsTable says what a ClusterRole allows.
func rightsTable(text []byte) (string, error) {
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(text, &role); err != nil {
		return "", fmt.Errorf("reading a ClusterRole: %w", err)
	}
	rows := table{head: []string{"API group", "resource", "verbs"}}
	for _, rule := range role.Rules {
		groups := codes(rule.APIGroups)
		if groups == code("") {
			groups = "core"
		}
		rows.add(groups, codes(rule.Resources), codes(rule.Verbs))
	}
	if len(rows.rows) == 0 {
		return "", fmt.Errorf("ClusterRole %s allows nothing", role.Name)
	}
	return rows.String(), nil
}
