/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"sigs.k8s.io/jobset/test/stories"
)

// outcomeTable shows what trainings came to that something happened to.
func outcomeTable(specs types.SpecReports) string {
	all := stories.Entries[outcome](specs, outcomeEntry)
	if len(all) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("## Trainings with PyTorch\n\n" +
		fmt.Sprintf("%d ranks, %d steps; twice is how many steps were computed a second time, away the seconds from the trouble to the next step.\n\n", ranks, steps) +
		"| trouble | checksum of the weights | restarts | twice | away |\n|---|---|---:|---:|---:|\n")
	for _, o := range all {
		away := "-"
		if o.Away > 0 {
			away = fmt.Sprintf("%.1f", o.Away.Seconds())
		}
		fmt.Fprintf(&out, "| %s | %.16s | %d | %d | %s |\n", o.Trouble, o.Checksum, o.Restarts, o.Twice, away)
	}
	return out.String()
}

// trainerTable shows what a restart costs a training, the ways side by side.
func trainerTable(specs types.SpecReports) string {
	all := stories.Entries[trainerPhases](specs, trainerPhasesEntry)
	if len(all) == 0 {
		return ""
	}
	ways := []string{processWay, warmWay, torchrunWay, containerWay, recreateWay}
	var out strings.Builder
	fmt.Fprintf(&out, "## Restarts of a training with PyTorch, in seconds: minimum / median / maximum\n\n"+
		"%d ranks, of which one is killed. With Recreate, stop is until the last new Pod has a node, and there is no barrier.\n"+
		"Start is from then until the last rank has started, with torchrun also its own imports.\n\n"+
		"| phase | %s |\n|---|%s\n", ranks, strings.Join(ways, " | "), strings.Repeat("---:|", len(ways)))
	for _, row := range []struct {
		name string
		of   func(trainerPhases) time.Duration
	}{
		{"detect", func(p trainerPhases) time.Duration { return p.Detect }},
		{"stop", func(p trainerPhases) time.Duration { return p.Stop }},
		{"barrier", func(p trainerPhases) time.Duration { return p.Barrier }},
		{"start", func(p trainerPhases) time.Duration { return p.Exec }},
		{"imports", func(p trainerPhases) time.Duration { return p.Imports }},
		{"rendezvous", func(p trainerPhases) time.Duration { return p.Rendezvous }},
		{"load", func(p trainerPhases) time.Duration { return p.Load }},
		{"step", func(p trainerPhases) time.Duration { return p.Step }},
		{"**failure to the next step**", trainerPhases.total},
	} {
		fmt.Fprintf(&out, "| %s |", row.name)
		for _, way := range ways {
			var values []time.Duration
			for _, p := range all {
				if p.Way == way {
					values = append(values, row.of(p))
				}
			}
			fmt.Fprintf(&out, " %s |", stories.MinMedianMax(values))
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}

// rejoinedTable shows what finding rank 0 again costs.
func rejoinedTable(specs types.SpecReports) string {
	all := stories.Entries[rejoined](specs, rejoinedEntry)
	if len(all) == 0 {
		return ""
	}
	var out strings.Builder
	out.WriteString("## Seconds until all ranks are connected after the Pod of rank 0 was deleted\n\n" +
		"| CoreDNS | rank 0 is found by | from the deletion | from the last import |\n|---|---|---:|---:|\n")
	for _, r := range all {
		fmt.Fprintf(&out, "| %s | %s | %.1f | %.1f |\n", r.DNS, r.By, r.All.Seconds(), r.Since.Seconds())
	}
	return out.String()
}
