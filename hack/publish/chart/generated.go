/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// marker is in every generated template.
const marker = "DO NOT EDIT"

const (
	install     = "config/default"
	agentAccess = "config/components/agent-access"
	prometheus  = "config/prometheus"
	grafana     = "config/grafana"
	large       = "config/overlays/large" // an install with flow control; a component has no build of its own
)

// template is a file of the chart that is made from objects of a kustomization.
type template struct {
	file    string
	source  string   // the kustomization
	objects []string // kind and name in the kustomization, in the order of the file
	// begin and end stand around all of it, such as a condition.
	begin, end string
	// values are YAML paths in each object that become an expression, such as webhooks.failurePolicy. %s in it
	// is what stood there.
	values map[string]string
	// annotations is what an annotations key of each object holds, as lines of the template.
	annotations string
}

const (
	internalCerts = `{{- if not .Values.certManager.enable }}`
	injectCA      = `
  {{- if $.Values.certManager.enable }}
  annotations:
    cert-manager.io/inject-ca-from: {{ $.Release.Namespace }}/{{ include "jobset.certName" $ }}
  {{- end }}`
	needsAgentAccess = `{{- if .Values.agentAccess.namespaces }}
{{- if not (or .Values.agentAccess.enable (get .Values.controller.featureGates "InPlaceRestart")) }}
{{- fail "agentAccess.namespaces needs agentAccess.enable: accounts without their ClusterRole can do nothing" }}
{{- end }}
{{- end }}
{{- range .Values.agentAccess.namespaces }}`
)

var templates = []template{
	{
		file: "rbac/manager.yaml", source: install,
		objects: []string{"ClusterRole jobset-manager-role", "ClusterRoleBinding jobset-manager-rolebinding"},
	},
	{
		file: "rbac/manager_secrets.yaml", source: install, begin: internalCerts, end: "{{- end }}",
		objects: []string{"Role jobset-manager-secrets-role", "RoleBinding jobset-manager-secrets-rolebinding"},
	},
	{
		file: "rbac/leader_election.yaml", source: install, begin: "{{- if .Values.controller.leaderElection.enable }}", end: "{{- end }}",
		objects: []string{"Role jobset-leader-election-role", "RoleBinding jobset-leader-election-rolebinding"},
	},
	{
		file: "rbac/proxy.yaml", source: install,
		objects: []string{"ClusterRole jobset-proxy-role", "ClusterRoleBinding jobset-proxy-rolebinding"},
	},
	{
		file: "rbac/metrics_reader.yaml", source: install,
		objects: []string{"ClusterRole jobset-metrics-reader", "ClusterRoleBinding jobset-metrics-reader-rolebinding"},
	},
	{
		file: "rbac/people.yaml", source: install,
		objects: []string{"ClusterRole jobset-editor-role", "ClusterRole jobset-viewer-role"},
	},
	{
		file: "webhook/configurations.yaml", source: install, annotations: injectCA,
		objects: []string{
			"MutatingWebhookConfiguration jobset-mutating-webhook-configuration",
			"ValidatingWebhookConfiguration jobset-validating-webhook-configuration",
		},
		values: map[string]string{"webhooks.failurePolicy": "{{ $.Values.webhook.failurePolicy }}"},
	},
	{
		file: "agent-access/cluster.yaml", source: agentAccess, begin: `{{- if or .Values.agentAccess.enable (get .Values.controller.featureGates "InPlaceRestart") }}`, end: "{{- end }}",
		objects: []string{
			"ClusterRole jobset-agent",
			"ValidatingAdmissionPolicy jobset-agent",
			"ValidatingAdmissionPolicyBinding jobset-agent",
			"ValidatingAdmissionPolicy jobset-agent-leases",
			"ValidatingAdmissionPolicyBinding jobset-agent-leases",
		},
	},
	{
		file: "agent-access/namespaces.yaml", source: agentAccess, begin: needsAgentAccess, end: "{{- end }}",
		objects: []string{"ServiceAccount jobset-agent", "RoleBinding jobset-agent"},
		values:  map[string]string{"metadata.namespace": "{{ . }}", "subjects.namespace": "{{ . }}"},
	},
	{
		file: "flow-control/agents.yaml", source: large, begin: "{{- if .Values.flowControl.enable }}", end: "{{- end }}",
		objects: []string{
			"PriorityLevelConfiguration jobset-agents",
			"FlowSchema jobset-agents",
			"FlowSchema jobset-controller-manager",
		},
	},
	{
		file: "prometheus/rules.yaml", source: prometheus, begin: "{{- if and .Values.prometheus.enable .Values.prometheus.alerts }}", end: "{{- end }}",
		objects: []string{"PrometheusRule jobset-alerts"},
		values:  map[string]string{"spec.groups.rules.annotations.runbook_url": `{{ include "jobset.runbookBase" $ }}%s`},
	},
	{
		file: "grafana/dashboard.yaml", source: grafana, begin: "{{- if .Values.grafana.enable }}", end: "{{- end }}",
		objects: []string{"ConfigMap jobset-dashboard"},
	},
}

func (t template) render(source []object) ([]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "{{- /* Made from %s by `make update-chart`. %s. */}}\n", t.source, marker)
	if t.begin != "" {
		out.WriteString(t.begin + "\n")
	}
	for i, id := range t.objects {
		at := slices.IndexFunc(source, func(o object) bool { return o.id() == id })
		if at < 0 {
			return nil, fmt.Errorf("%s has no %s", t.source, id)
		}
		// In a loop every document needs its line, the first as well.
		if i > 0 || strings.Contains(t.begin, "range") {
			out.WriteString("---\n")
		}
		if err := t.renderObject(&out, source[at]); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
	}
	if t.end != "" {
		out.WriteString(t.end + "\n")
	}
	return out.Bytes(), nil
}

func (t template) renderObject(out *bytes.Buffer, source object) error {
	made := translate(quoted(source), func(name translation) string { return name.template }).(object)
	for path, expression := range t.values {
		replace(map[string]any(made), strings.Split(path, "."), expression)
	}
	fmt.Fprintf(out, "apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n", made.text("apiVersion"), made.kind(), scalar(made.name()))
	if namespace := made.text("metadata", "namespace"); namespace != "" {
		fmt.Fprintf(out, "  namespace: %s\n", scalar(namespace))
	}
	out.WriteString("  labels:\n    {{- include \"jobset.labels\" $ | nindent 4 }}\n")
	for _, label := range sortedKeys(made.texts("metadata", "labels")) {
		if !isCommonLabel(label) {
			fmt.Fprintf(out, "    %s: %q\n", label, made.texts("metadata", "labels")[label])
		}
	}
	out.WriteString(strings.TrimPrefix(t.annotations, "\n"))
	if t.annotations != "" {
		out.WriteString("\n")
	}
	for _, key := range []string{"apiVersion", "kind", "metadata"} {
		delete(made, key)
	}
	if len(made) == 0 {
		return nil // an account is its metadata
	}
	body, err := yaml.Marshal(made)
	if err != nil {
		return fmt.Errorf("writing YAML: %w", err)
	}
	out.Write(body)
	return nil
}

// quoted makes templates of others, such as those in alerts, text of the chart's. Backquotes
// mean nothing to YAML, however it quotes the string around them.
func quoted(value any) any {
	switch value := value.(type) {
	case object:
		return object(quoted(map[string]any(value)).(map[string]any))
	case map[string]any:
		copied := make(map[string]any, len(value))
		for key, member := range value {
			copied[key] = quoted(member)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, member := range value {
			copied[i] = quoted(member)
		}
		return copied
	case string:
		return strings.ReplaceAll(value, "{{", "{{`{{`}}")
	}
	return value
}

// isCommonLabel tells the labels that the chart gives to every object.
func isCommonLabel(label string) bool {
	return slices.Contains([]string{"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/managed-by"}, label)
}

// replace sets the scalars at a path; a list on the way stands for all of its members, and %s for the scalar.
func replace(value any, path []string, with string) {
	switch value := value.(type) {
	case []any:
		for _, member := range value {
			replace(member, path, with)
		}
	case map[string]any:
		next, ok := value[path[0]]
		switch {
		case !ok:
		case len(path) == 1:
			value[path[0]] = strings.ReplaceAll(with, "%s", fmt.Sprint(next))
		default:
			replace(next, path[1:], with)
		}
	}
}

// scalar is a string as YAML; a template expression has to be quoted.
func scalar(text string) string {
	if strings.HasPrefix(text, "{{") {
		return "'" + text + "'"
	}
	return text
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
