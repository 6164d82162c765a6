/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/metrics" //nolint:depguard // documents what it registers; counts nothing
)

// metric is what a registry says of one metric.
type metric struct {
	name, kind, help string
	labels           []string
	buckets          []float64
}

func metricsPage(string) (map[string]string, error) {
	described, ok := ctrlmetrics.Registry.(prometheus.Collector)
	if !ok {
		return nil, fmt.Errorf("the registry of controller-runtime describes its metrics no more; see metricsPage in hack/reference")
	}
	// Gauges have samples, which tell their type, when it is known which JobSets there are.
	metrics.ObserveJobSets(func() ([]*jobset.JobSet, bool) { return nil, true }, gates.Set{})
	found, err := metricsOf(described, ctrlmetrics.Registry, "jobset_")
	if err != nil {
		return nil, err
	}
	rows := table{head: []string{"metric", "type", "labels", "meaning"}}
	for _, m := range found {
		meaning := escape(strings.TrimSuffix(m.help, ".")) + "."
		if len(m.buckets) > 0 {
			bounds := make([]string, len(m.buckets))
			for i, bound := range m.buckets {
				bounds[i] = strconv.FormatFloat(bound, 'g', -1, 64)
			}
			meaning += " Buckets: " + strings.Join(bounds, ", ") + "."
		}
		rows.add(code(m.name), m.kind, codes(m.labels), meaning)
	}
	return map[string]string{"metrics": rows.String()}, nil
}

// sample is what the samples of a metric say of it.
type sample struct {
	kind    string
	buckets []float64
}

// metricsOf lists the metrics whose names begin with a prefix, in the order of names.
func metricsOf(described prometheus.Collector, gatherer prometheus.Gatherer, prefix string) ([]metric, error) {
	samples, err := samplesOf(gatherer)
	if err != nil {
		return nil, err
	}
	descriptions := make(chan *prometheus.Desc)
	go func() {
		described.Describe(descriptions)
		close(descriptions)
	}()
	var found []metric
	for desc := range descriptions { // to the end, whatever is wrong: somebody writes into it
		m, parsed := parseDesc(desc.String())
		if parsed != nil {
			err = parsed
			continue
		}
		if !strings.HasPrefix(m.name, prefix) {
			continue
		}
		m.kind, m.buckets = kindOf(m.name, samples)
		switch {
		case m.kind == "":
			err = fmt.Errorf("metric %s has no samples that tell its type; let metricsPage in hack/reference/metrics.go make some", m.name)
		case m.help == "":
			err = fmt.Errorf("metric %s has no help text; give it one", m.name)
		}
		found = append(found, m)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b metric) int { return strings.Compare(a.name, b.name) })
	return found, nil
}

func samplesOf(gatherer prometheus.Gatherer) (map[string]sample, error) {
	families, err := gatherer.Gather()
	if err != nil {
		return nil, fmt.Errorf("gathering metrics: %w", err)
	}
	samples := map[string]sample{}
	for _, family := range families {
		s := sample{kind: strings.ToLower(family.GetType().String())}
		for _, bucket := range family.GetMetric()[0].GetHistogram().GetBucket() {
			s.buckets = append(s.buckets, bucket.GetUpperBound())
		}
		samples[family.GetName()] = s
	}
	return samples, nil
}

// kindOf is the type of a metric: by its samples, if it has any, or by its name: counters, and nothing else, end in _total.
func kindOf(name string, samples map[string]sample) (kind string, buckets []float64) {
	if s, ok := samples[name]; ok {
		return s.kind, s.buckets
	}
	if strings.HasSuffix(name, "_total") {
		return "counter", nil
	}
	return "", nil
}

// descPattern is how a Desc shows itself, which is the only way to its parts.
var descPattern = regexp.MustCompile(`^Desc\{fqName: ("(?:[^"\\]|\\.)*"), help: ("(?:[^"\\]|\\.)*"), (?:unit: "[^"]*", )?constLabels: \{[^}]*\}, variableLabels: \{([^}]*)\}\}$`)

func parseDesc(text string) (metric, error) {
	parts := descPattern.FindStringSubmatch(text)
	if parts == nil {
		return metric{}, fmt.Errorf("%s is not the form of a metric's description that hack/reference/metrics.go knows", text)
	}
	name, err := strconv.Unquote(parts[1])
	if err != nil {
		return metric{}, fmt.Errorf("reading the name in %s: %w", text, err)
	}
	help, err := strconv.Unquote(parts[2])
	if err != nil {
		return metric{}, fmt.Errorf("reading the help text in %s: %w", text, err)
	}
	m := metric{name: name, help: help}
	if parts[3] != "" {
		m.labels = strings.Split(parts[3], ",")
	}
	return m, nil
}
