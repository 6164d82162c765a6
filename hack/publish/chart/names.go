/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import "regexp"

// chartDir is the chart, in the repository.
const chartDir = "charts/jobset"

// translation is what a name in config/ becomes in the chart.
type translation struct {
	kustomize string // in the objects of config/default
	chart     string // with release jobset in namespace jobset-system
	template  string // with any release
}

// named is a name with the full name of the release in front.
func named(kustomize, suffix string) translation {
	return translation{kustomize: kustomize, chart: "jobset-" + suffix, template: `{{ include "jobset.named" (list $ "` + suffix + `") }}`}
}

// translations are all names that are not the same in both installs. The names
// of the chart are those that its users know from earlier versions.
var translations = []translation{
	{kustomize: "jobset-system", chart: "jobset-system", template: "{{ $.Release.Namespace }}"},

	named("jobset-controller-manager", "controller"), // Deployment, ServiceAccount and FlowSchema
	named("jobset-manager-config", "controller-config"),
	named("jobset-controller-manager-metrics-service", "metrics-service"),
	named("jobset-webhook-service", "webhook-service"),
	named("jobset-webhook-server-cert", "webhook-server-cert"),
	named("jobset-manager-role", "controller"),
	named("jobset-manager-rolebinding", "controller"),
	named("jobset-manager-secrets-role", "manager-secrets-role"),
	named("jobset-manager-secrets-rolebinding", "manager-secrets-rolebinding"),
	named("jobset-leader-election-role", "leader-election-role"),
	named("jobset-leader-election-rolebinding", "leader-election-rolebinding"),
	named("jobset-proxy-role", "proxy-role"),
	named("jobset-proxy-rolebinding", "proxy-rolebinding"),
	named("jobset-metrics-reader", "metrics-reader"),
	named("jobset-metrics-reader-rolebinding", "metrics-reader-rolebinding"),
	named("jobset-editor-role", "jobset-editor-role"),
	named("jobset-viewer-role", "jobset-viewer-role"),

	named("jobset-serving-cert", "cert"),
	named("jobset-selfsigned-issuer", "self-signed-issuer"),
	named("controller-manager-metrics-monitor", "metrics-service-monitor"),
	named("jobset-alerts", "alerts"),
	named("jobset-dashboard", "dashboard"),
}

// A name stands alone, or in names of DNS and in NAMESPACE/NAME.
var word = regexp.MustCompile(`[^./]+`)

// translate replaces every name of config/ in the strings of a value.
func translate(value any, to func(translation) string) any {
	switch value := value.(type) {
	case object:
		return object(translate(map[string]any(value), to).(map[string]any))
	case map[string]any:
		copied := make(map[string]any, len(value))
		for key, member := range value {
			copied[key] = translate(member, to)
		}
		return copied
	case []any:
		copied := make([]any, len(value))
		for i, member := range value {
			copied[i] = translate(member, to)
		}
		return copied
	case string:
		return word.ReplaceAllStringFunc(value, func(name string) string {
			for _, translation := range translations {
				if name == translation.kustomize {
					return to(translation)
				}
			}
			return name
		})
	}
	return value
}
