/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package alerts

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/metrics"
)

// reported is what a manager with these JobSets says of metrics without labels, and the names of all.
func reported(t *testing.T, jobSets ...*jobset.JobSet) (values map[string]float64, names []string) {
	t.Helper()
	metrics.ObserveJobSets(func() ([]*jobset.JobSet, bool) { return jobSets, true }, gates.Set{InPlaceRestart: true})
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values = map[string]float64{}
	for _, family := range families {
		names = append(names, family.GetName())
		for _, metric := range family.GetMetric() {
			switch {
			case len(metric.GetLabel()) > 0:
			case metric.GetGauge() != nil:
				values[family.GetName()] = metric.GetGauge().GetValue()
			case metric.GetCounter() != nil:
				values[family.GetName()] = metric.GetCounter().GetValue()
			}
		}
	}
	return values, names
}

func TestEveryMetricOfTheRulesExists(t *testing.T) {
	_, names := reported(t)
	used := map[string]bool{}
	for _, rule := range readRules(t) {
		expr, err := promParser.ParseExpr(rule.Expr)
		if err != nil {
			t.Fatal(err)
		}
		parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
			if selector, ok := node.(*parser.VectorSelector); ok {
				used[selector.Name] = true
				if !slices.Contains(names, selector.Name) {
					t.Errorf("%s asks for %s, which pkg/metrics does not have; mend the name", rule.Alert, selector.Name)
				}
			}
			return nil
		})
	}
	if len(used) == 0 {
		t.Error("the rules ask for no metric")
	}
}

// The rules meet what the manager says, not only what the test makes up.
func TestAlertsOfWhatAManagerReports(t *testing.T) {
	assembling := &jobset.JobSet{
		Spec:   jobset.JobSetSpec{FailurePolicy: &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart, MaxRestarts: 5}},
		Status: jobset.JobSetStatus{InPlaceRestarts: 4, AssemblingSince: ptr.To(metav1.NewTime(time.Now().Add(-time.Hour)))},
	}
	tests := map[string]struct {
		jobSets []*jobset.JobSet
		want    []string
	}{
		"no JobSet": {},
		"one that has nearly used up its restarts, and whose workers are missing": {
			jobSets: []*jobset.JobSet{assembling},
			want:    []string{"JobSetGroupNotTogether from 0s", "JobSetRestartBudgetNearlySpent from 5m0s"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			values, _ := reported(t, tc.jobSets...)
			var series []string
			for name, value := range values {
				if strings.HasPrefix(name, "jobset_") {
					series = append(series, fmt.Sprintf(`%s{pod="a"} %vx120`, name, math.Round(value)))
				}
			}
			if got := play(t, readRules(t), load(t, series...)); !slices.Equal(got, tc.want) {
				t.Errorf("alerts are %q, want %q; the manager reports:\n%s", got, tc.want, strings.Join(series, "\n"))
			}
		})
	}
}

func TestTextsOfAlerts(t *testing.T) {
	severities := []string{"critical", "warning"}
	seen := map[string]bool{}
	for _, rule := range readRules(t) {
		t.Run(rule.Alert, func(t *testing.T) {
			if seen[rule.Alert] {
				t.Error("there are two of this name")
			}
			seen[rule.Alert] = true
			if !slices.Contains(severities, rule.Labels["severity"]) {
				t.Errorf("severity is %q, want one of %q", rule.Labels["severity"], severities)
			}
			wantURL := "https://jobset.sigs.k8s.io/docs/operations/alerts/#" + strings.ToLower(rule.Alert)
			if got := rule.Annotations["runbook_url"]; got != wantURL {
				t.Errorf("runbook_url is %q, want %q", got, wantURL)
			}
			for _, name := range []string{"summary", "description"} {
				text := rule.Annotations[name]
				if text == "" {
					t.Errorf("there is no %s", name)
				}
				expanded := expand(t, text, promql.Sample{F: 330}, load(t), start)
				if wrong := regexp.MustCompile(`<no value>|%!|<error|{{`).FindString(expanded); wrong != "" {
					t.Errorf("%s has %q in it: %s", name, wrong, expanded)
				}
			}
		})
	}
}

func TestDescriptionsSayWhatWasSeen(t *testing.T) {
	tests := map[string]struct {
		alert  string
		series []string
		after  int // so many intervals
		want   string
	}{
		"how long, as people say it": {
			"JobSetGroupNotTogether", []string{`jobset_in_place_assembling_seconds{pod="a"} 330`}, 0, "has been assembling for 5m 30s."},
		"how many, however many managers report them": {
			"JobSetRestartBudgetNearlySpent", []string{`jobset_restart_budget_nearly_spent{pod="a"} 3`, `jobset_restart_budget_nearly_spent{pod="b"} 3`}, 0,
			"3 unfinished JobSet(s) have used"},
		"a whole number of restarts": {
			"JobSetRestartLoop", []string{`jobset_in_place_restarts_total{pod="a"} 0+1x7`}, 7, "7 group restarts in place were started within 15 minutes"},
	}
	rules := readRules(t)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m, at := load(t, tc.series...), start.Add(time.Duration(tc.after)*interval)
			rule := rules[slices.IndexFunc(rules, func(rule rulefmt.Rule) bool { return rule.Alert == tc.alert })]
			found, err := m.query(t.Context(), rule.Expr, at)
			if err != nil || len(found) != 1 {
				t.Fatalf("%s finds %v (%v), want one", rule.Expr, found, err)
			}
			if got := expand(t, rule.Annotations["description"], found[0], m, at); !strings.Contains(got, tc.want) {
				t.Errorf("description is %q, want %q in it", got, tc.want)
			}
		})
	}
}

// A page explains every alert, at the anchor that runbook_url names.
func TestRunbook(t *testing.T) {
	const page = "site/content/en/docs/operations/alerts.md"
	content, err := os.ReadFile(filepath.Join(repository, page))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range readRules(t) {
		if !regexp.MustCompile(`(?m)^#+ ` + rule.Alert + `\s*$`).Match(content) {
			t.Errorf("%s has no heading %s, where runbook_url leads", page, rule.Alert)
		}
	}
}
