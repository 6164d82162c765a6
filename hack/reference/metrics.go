/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/metrics" //nolint:depguard // a generator reads what the package registers
)

// addMetrics adds the metrics of JobSet as a scrape of a manager shows them: with all labels, and the values that these have from
// the start.
func addMetrics(rows tables) error {
	metrics.ObserveJobSets(func() ([]*jobset.JobSet, []*facts.Member, bool) { return nil, nil, true }, gates.Set{}, nil)
	metrics.JobSetCompleted(types.NamespacedName{})
	metrics.JobSetFailed(types.NamespacedName{})
	families, err := ctrlmetrics.Registry.Gather()
	for _, family := range families {
		if !strings.HasPrefix(family.GetName(), "jobset_") {
			continue
		}
		var labels, bounds []string
		values := map[string][]string{}
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName())
				values[label.GetName()] = append(values[label.GetName()], label.GetValue())
			}
			for _, bucket := range metric.GetHistogram().GetBucket() {
				bounds = append(bounds, strconv.FormatFloat(bucket.GetUpperBound(), 'g', -1, 64))
			}
		}
		labels = slices.Compact(slices.Sorted(slices.Values(labels)))
		for i, name := range labels {
			labels[i] = "`" + name + "`"
			if of := slices.Compact(slices.Sorted(slices.Values(values[name]))); len(of) > 1 {
				labels[i] += ": `" + strings.Join(of, "`, `") + "`"
			}
		}
		if len(bounds) > 0 {
			labels = append(labels, "buckets: "+strings.Join(bounds, ", "))
		}
		help, _, _ := strings.Cut(family.GetHelp(), ". Take the max()")
		rows.add("metrics", "`"+family.GetName()+"`", strings.ToLower(family.GetType().String()), strings.Join(labels, "; "), quoted(sentence(help)))
	}
	return err
}

// identifier finds names of fields and metrics, and paths of fields.
var identifier = regexp.MustCompile(`\b(?:[a-z]+[A-Z]\w*(?:\.\w+)*|[a-z]\w+\.[a-z]\w+|[a-z]+_[a-z_]+)\b`)

// quoted marks the identifiers of a text that is shown without Markdown elsewhere.
func quoted(text string) string { return identifier.ReplaceAllString(text, "`$0`") }
