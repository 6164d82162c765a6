/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/stories"
)

// The suite ends with what was told, and how long restarts took.
var _ = ReportAfterSuite("table of stories and phases", func(report Report) {
	var text string
	for _, table := range []func(types.SpecReports) string{storyTable, phaseTable, outcomeTable, trainerTable, costTable, rejoinedTable, stories.HangTable, lossTable} {
		text += table(report.SpecReports) + "\n"
	}
	fmt.Print("\n" + text)
	file := os.Getenv(reportVariable)
	if file == "" {
		return
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		fmt.Println("the report is not written:", err)
		return
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // for people to read
		fmt.Println("the report is not written:", err)
	}
})

func storyTable(specs types.SpecReports) string {
	out := strings.Builder{}
	out.WriteString("# End-to-end stories\n\n| story | result | seconds |\n|---|---|---:|\n")
	inOrder := slices.Clone(specs)
	slices.SortStableFunc(inOrder, func(a, b types.SpecReport) int {
		return cmp.Or(cmp.Compare(a.FileName(), b.FileName()), cmp.Compare(a.LineNumber(), b.LineNumber()))
	})
	for _, spec := range inOrder {
		if spec.LeafNodeType != types.NodeTypeIt || spec.State.Is(types.SpecStatePending) || spec.State.Is(types.SpecStateSkipped) && spec.RunTime == 0 {
			continue
		}
		fmt.Fprintf(&out, "| %s | %s | %.1f |\n", spec.FullText(), spec.State, spec.RunTime.Seconds())
	}
	return out.String()
}

// phaseTable shows strategies and modes side by side.
func phaseTable(specs types.SpecReports) string {
	all := phasesOf(specs)
	if len(all) == 0 {
		return ""
	}
	var sizes []int
	for _, p := range all {
		sizes = append(sizes, p.Workers)
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	var out strings.Builder
	out.WriteString("## Phases of restarts, in seconds: minimum / median / maximum\n\n")
	out.WriteString("One worker exits with 1. With Recreate, break is the full restart being decided, back is the last new Pod\n" +
		"having a node, and there is no lift. Times of processes are by the clocks of their nodes.\n\n" +
		"| phase | workers | process mode | process mode, watched for hangs | container mode | Recreate |\n|---|---:|---:|---:|---:|---:|\n")
	rows := []struct {
		name string
		of   func(stories.Phases) time.Duration
	}{
		{"failure to break", func(p stories.Phases) time.Duration { return p.Break }},
		{"break to last one back", func(p stories.Phases) time.Duration { return p.Back }},
		{"back to lift", func(p stories.Phases) time.Duration { return p.Lift }},
		{"lift to last worker started", func(p stories.Phases) time.Duration { return p.Run }},
		{"**failure to last worker started**", stories.Phases.Total},
	}
	for _, size := range sizes {
		for _, row := range rows {
			fmt.Fprintf(&out, "| %s | %d |", row.name, size)
			for _, is := range columns {
				text, _ := spread(all, size, is, row.of)
				fmt.Fprintf(&out, " %s |", text)
			}
			fmt.Fprintln(&out)
		}
		fmt.Fprintf(&out, "| creation to last worker started, once for a group | %d |", size)
		for _, is := range columns {
			text, _ := spread(firstOfGroups(all), size, is, func(p stories.Phases) time.Duration { return p.FirstStart })
			fmt.Fprintf(&out, " %s |", text)
		}
		fmt.Fprintln(&out)
		fmt.Fprintf(&out, "| restarts measured | %d |", size)
		for _, is := range columns {
			_, n := spread(all, size, is, stories.Phases.Total)
			fmt.Fprintf(&out, " %d |", n)
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}

// phasesOf are the restarts of the comparison, or all if it did not run.
func phasesOf(specs types.SpecReports) (all []stories.Phases) {
	var others []stories.Phases
	for _, p := range stories.Entries[stories.Phases](specs, stories.PhasesEntry) {
		if p.Measured {
			all = append(all, p)
		} else {
			others = append(others, p)
		}
	}
	if len(all) == 0 {
		return others
	}
	return all
}

// firstOfGroups are the first restarts of groups, which also say how long their start took.
func firstOfGroups(all []stories.Phases) []stories.Phases {
	return slices.DeleteFunc(slices.Clone(all), func(p stories.Phases) bool { return p.FirstStart == 0 })
}

// columns are what is compared.
var columns = []func(stories.Phases) bool{
	func(p stories.Phases) bool { return p.Process && !p.Watched },
	func(p stories.Phases) bool { return p.Process && p.Watched },
	func(p stories.Phases) bool { return p.Strategy == jobset.InPlaceRestart && !p.Process },
	func(p stories.Phases) bool { return p.Strategy == jobset.Recreate },
}

func spread(all []stories.Phases, size int, is func(stories.Phases) bool, of func(stories.Phases) time.Duration) (text string, n int) {
	var values []time.Duration
	for _, p := range all {
		if p.Workers == size && is(p) {
			values = append(values, of(p))
		}
	}
	return stories.MinMedianMax(values), len(values)
}
