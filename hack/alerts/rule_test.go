/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package alerts

import (
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/template"
	"sigs.k8s.io/yaml"
)

const (
	repository = "../.."
	rulesFile  = "config/components/prometheus/rules.yaml"
)

// readRules reads the rules as the Prometheus operator hands them on: the spec is a file of rules.
func readRules(t *testing.T) []rulefmt.Rule {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, rulesFile))
	if err != nil {
		t.Fatal(err)
	}
	var object struct {
		APIVersion string         `json:"apiVersion"`
		Kind       string         `json:"kind"`
		Metadata   map[string]any `json:"metadata"`
		Spec       map[string]any `json:"spec"`
	}
	if err := yaml.UnmarshalStrict(content, &object); err != nil {
		t.Fatalf("%s: %v", rulesFile, err)
	}
	if object.APIVersion != "monitoring.coreos.com/v1" || object.Kind != "PrometheusRule" {
		t.Fatalf("%s is a %s %s, want monitoring.coreos.com/v1 PrometheusRule", rulesFile, object.APIVersion, object.Kind)
	}
	spec, err := yaml.Marshal(object.Spec)
	if err != nil {
		t.Fatal(err)
	}
	groups, errs := rulefmt.Parse(spec, false, model.LegacyValidation, promParser, slog.New(slog.DiscardHandler))
	for _, err := range errs {
		t.Errorf("%s: %v", rulesFile, err)
	}
	if t.Failed() {
		t.FailNow()
	}
	var rules []rulefmt.Rule
	for _, group := range groups.Groups {
		rules = append(rules, group.Rules...)
	}
	return rules
}

// alert is what Prometheus remembers of a rule: since when it is active, and
// since when it would have ended had it not to keep firing.
type alert struct {
	rule           rulefmt.Rule
	active, firing bool
	since, ending  time.Time
}

// next is one evaluation: a rule is pending from the first that finds
// something, fires once "for" has passed, starts over if one finds nothing, and
// goes on firing for keep_firing_for after the last that found something.
func (a *alert) next(found bool, at time.Time) {
	switch {
	case found && !a.active:
		*a = alert{rule: a.rule, active: true, since: at}
	case found:
		a.ending = time.Time{}
	case a.firing && a.ending.IsZero():
		a.ending = at
	}
	if !found && (!a.firing || at.Sub(a.ending) >= time.Duration(a.rule.KeepFiringFor)) {
		*a = alert{rule: a.rule}
		return
	}
	a.firing = a.firing || at.Sub(a.since) >= time.Duration(a.rule.For)
}

// expand fills in a text of a rule, as Prometheus does.
func expand(t *testing.T, text string, found promql.Sample, m *memory, at time.Time) string {
	t.Helper()
	names := `{{$labels := .Labels}}{{$externalLabels := .ExternalLabels}}{{$externalURL := .ExternalURL}}{{$value := .Value}}`
	data := template.AlertTemplateData(found.Metric.Map(), nil, "", found)
	expanded, err := template.NewTemplateExpander(t.Context(), names+text, "text", data, model.TimeFromUnixNano(at.UnixNano()), m.query, &url.URL{}, nil).Expand()
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return expanded
}
