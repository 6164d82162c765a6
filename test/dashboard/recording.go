/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// interval is the time between two scrapes.
const interval = time.Second

// recording is what was scraped, by series. Each has as many values as there were scrapes.
type recording struct {
	series  map[string][]string
	scrapes int
}

// absent is how promtool writes that a series had no sample.
const absent = "_"

// sample is a line of the text format: name, labels, value.
var sample = regexp.MustCompile(`(?m)^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$`)

// target are the labels that Prometheus gives to all that it scrapes from a Pod of the manager. Those of
// the metrics that have the same names get the prefix exported_.
var target = []string{`job="` + job + `"`, `namespace="jobset-system"`, `pod="manager"`}

var exported = regexp.MustCompile(`(^|,)(job|namespace|pod)="`)

func newRecording(scrapes []string) *recording {
	r := &recording{series: map[string][]string{}, scrapes: len(scrapes)}
	for i, text := range scrapes {
		for _, m := range sample.FindAllStringSubmatch(text, -1) {
			labels := slices.Clone(target)
			if m[2] != "" {
				labels = append(labels, exported.ReplaceAllString(m[2], `${1}exported_$2="`))
			}
			name := m[1] + "{" + strings.Join(labels, ",") + "}"
			for len(r.series[name]) < i {
				r.series[name] = append(r.series[name], absent)
			}
			r.series[name] = append(r.series[name], plain(m[3]))
		}
		for name, values := range r.series {
			if len(values) <= i {
				r.series[name] = append(values, absent)
			}
		}
	}
	return r
}

// plain writes a number without an exponent, which promtool would take for a step.
func plain(value string) string {
	number, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return absent
	}
	switch text := strconv.FormatFloat(number, 'f', -1, 64); text {
	case "NaN", "+Inf", "-Inf":
		return absent
	default:
		return text
	}
}

// missing lists metrics that some queries read and that were never scraped.
func (r *recording) missing(queries []query) []string {
	return slices.DeleteFunc(metrics(queries), func(name string) bool { return len(r.of(name)) > 0 })
}

// of lists the series of a metric.
func (r *recording) of(metric string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.series)), func(series string) bool { return !strings.HasPrefix(series, metric+"{") })
}

// ruleTest is the input of `promtool test rules`: the series, and an expression for each query that is 1 if
// it has a result at the last scrape that is a number.
func ruleTest(queries []query, r *recording) []byte {
	var out strings.Builder
	at := interval * time.Duration(r.scrapes-1)
	fmt.Fprintf(&out, "evaluation_interval: %[1]s\ntests:\n- interval: %[1]s\n  input_series:\n", interval)
	for _, metric := range metrics(queries) {
		for _, series := range r.of(metric) {
			fmt.Fprintf(&out, "  - {series: %s, values: %q}\n", quoted(series), strings.Join(r.series[series], " "))
		}
	}
	out.WriteString("  promql_expr_test:\n")
	for _, q := range queries {
		// A comparison drops NaN; or gives a result where there is none.
		expr := fmt.Sprintf("(count((%s) > -Inf) > bool 0) or vector(0)", q.expr)
		fmt.Fprintf(&out, "  - {expr: %s, eval_time: %s, exp_samples: [{labels: '{}', value: 1}]} # %s\n", quoted(expr), at, q.panel)
	}
	return []byte(out.String())
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
