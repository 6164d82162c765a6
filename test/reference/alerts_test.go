/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reference

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// When the alerts fire is tested by `make test-alerts`.
func TestAlertsAskForMetricsThatExistAndLinkToTheirRunbook(t *testing.T) {
	const page = "site/content/en/docs/operations/alerts.md"
	runbook, err := os.ReadFile(repository + "/" + page)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := os.ReadFile(repository + "/config/components/prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		Spec struct {
			Groups []struct {
				Rules []struct {
					Alert, Expr         string
					Labels, Annotations map[string]string
				} `json:"rules"`
			} `json:"groups"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(rules, &object); err != nil {
		t.Fatal(err)
	}
	if len(object.Spec.Groups) != 1 || len(object.Spec.Groups[0].Rules) == 0 {
		t.Fatalf("rules.yaml has %d groups, want one with rules", len(object.Spec.Groups))
	}
	// What no manager exports by pkg/metrics: of its process, of kube-state-metrics, and a function.
	registered := append(metricsOf(t), "process_start_time_seconds", "kube_pod_container_status_restarts_total", "last_over_time")
	for _, rule := range object.Spec.Groups[0].Rules {
		t.Run(rule.Alert, func(t *testing.T) {
			asked := regexp.MustCompile(`[a-z_]+_[a-z_]+`).FindAllString(rule.Expr, -1)
			if len(asked) == 0 {
				t.Errorf("%q asks for no metric", rule.Expr)
			}
			for _, metric := range asked {
				if !slices.Contains(registered, metric) {
					t.Errorf("%q asks for %s, which pkg/metrics does not have", rule.Expr, metric)
				}
			}
			if severity := rule.Labels["severity"]; severity != "critical" && severity != "warning" {
				t.Errorf("severity is %q, want critical or warning", severity)
			}
			// A path: an address in front of it is of whoever installs the alerts.
			want := page + "#" + strings.ToLower(rule.Alert)
			if got := rule.Annotations["runbook_url"]; got != want {
				t.Errorf("runbook_url is %q, want %q", got, want)
			}
			if !regexp.MustCompile(`(?m)^#+ ` + rule.Alert + `\s*$`).Match(runbook) {
				t.Errorf("%s has no heading %s, where runbook_url leads", page, rule.Alert)
			}
		})
	}
}
