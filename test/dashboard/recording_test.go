/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestARecordingHasAValueOfEachSeriesForEachScrape(t *testing.T) {
	r := newRecording([]string{
		"# HELP a counts\na{namespace=\"n\",code=\"x y\"} 1\nb 1.5e+06\n",
		"a{namespace=\"n\",code=\"x y\"} 2\nc_bucket{le=\"+Inf\"} NaN\n",
	})
	want := map[string][]string{
		`a{job="` + job + `",namespace="jobset-system",pod="manager",exported_namespace="n",code="x y"}`: {"1", "2"},
		`b{job="` + job + `",namespace="jobset-system",pod="manager"}`:                                   {"1500000", "_"},
		`c_bucket{job="` + job + `",namespace="jobset-system",pod="manager",le="+Inf"}`:                  {"_", "_"},
	}
	if diff := cmp.Diff(want, r.series); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if got := r.missing([]query{{expr: "sum(a{}) / b{}"}, {expr: "rate(d_total{}[15s])"}}); !cmp.Equal(got, []string{"d_total"}) {
		t.Errorf("missing: %v", got)
	}
}

func TestTheTestForPromtoolHasTheSeriesThatAreReadAndAnExpressionForEachQuery(t *testing.T) {
	r := newRecording([]string{"a 1\nb 1\n", "a 2\nb 2\n"})
	want := `evaluation_interval: 1s
tests:
- interval: 1s
  input_series:
  - {series: 'a{job="` + job + `",namespace="jobset-system",pod="manager"}', values: "1 2"}
  promql_expr_test:
  - {expr: '(count((a{x=''y''}) > -Inf) > bool 0) or vector(0)', eval_time: 1s, exp_samples: [{labels: '{}', value: 1}]} # A
`
	if diff := cmp.Diff(want, string(ruleTest([]query{{panel: "A", expr: "a{x='y'}"}}, r))); diff != "" {
		t.Errorf("test (-want +got):\n%s", diff)
	}
}

func TestEveryPanelOfTheDashboardHasAQueryOfTheJob(t *testing.T) {
	text, err := os.ReadFile("../../config/components/grafana/jobset.json")
	if err != nil {
		t.Fatal(err)
	}
	queries, err := queriesOf(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		if names := metrics([]query{q}); len(names) == 0 || strings.Count(q.expr, `{job=~"`+job+`"`) != len(names) {
			t.Errorf("panel %q reads %v, and not of the job alone: %s", q.panel, names, q.expr)
		}
	}
}

func TestADashboardIsRefusedForWhatTheCheckDoesNotUnderstand(t *testing.T) {
	for dashboard, want := range map[string]string{
		`{`:              "reading JSON",
		`{"panels": []}`: "no query",
		`{"panels": [{"title": "A", "type": "stat"}]}`:                           `panel "A" has no query`,
		`{"panels": [{"title": "A", "targets": [{"expr": "a{b=\"$other\"}"}]}]}`: "variable that this check does not know",
	} {
		if _, err := queriesOf([]byte(dashboard)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", dashboard, err, want)
		}
	}
}
