/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"sigs.k8s.io/jobset/test/phases"
)

// HangTable shows how soon hangs were found and over: the least, the median and the most, and how often the right worker was told.
func HangTable(specs types.SpecReports) string {
	byKind := map[string][]Hang{}
	for _, h := range Entries[Hang](specs, hangEntry) {
		byKind[h.Kind] = append(byKind[h.Kind], h)
	}
	if len(byKind) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprint(&out, "## Hangs, in seconds: minimum / median / maximum\n\n"+
		"| what hung | workers | times | limit to break | break to last start | said last |\n|---|---:|---:|---:|---:|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		all := byKind[kind]
		fmt.Fprintf(&out, "| %s | %d | %d | %s | %s | %s |\n", kind, all[0].Workers, len(all),
			of(all, func(h Hang) time.Duration { return h.Detect }), of(all, func(h Hang) time.Duration { return h.Restart }), all[len(all)-1].Said)
	}
	return out.String()
}

func of(all []Hang, what func(Hang) time.Duration) string {
	var values []time.Duration
	for _, h := range all {
		values = append(values, what(h))
	}
	return MinMedianMax(values)
}

// Entries are the report entries of a name, of all processes.
func Entries[T any](specs types.SpecReports, name string) (all []T) {
	for _, spec := range specs {
		for _, entry := range spec.ReportEntries {
			if entry.Name != name {
				continue
			}
			value, ok := entry.GetRawValue().(T)
			if !ok && json.Unmarshal([]byte(entry.Value.AsJSON), &value) != nil {
				continue
			}
			all = append(all, value)
		}
	}
	return all
}

// MinMedianMax are the least, the median and the most of some times, in seconds.
func MinMedianMax(values []time.Duration) string {
	if len(values) == 0 {
		return "-"
	}
	least, median, most := phases.Spread(values)
	return fmt.Sprintf("%.2f / %.2f / %.2f", least.Seconds(), median.Seconds(), most.Seconds())
}
