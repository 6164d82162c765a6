/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package compare

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/jobset/pkg/phases"
)

func restart(milliseconds ...time.Duration) phases.Restart {
	for i := range milliseconds {
		milliseconds[i] *= time.Millisecond
	}
	return phases.Restart{Break: milliseconds[0], Back: milliseconds[1], Lift: milliseconds[2], Run: milliseconds[3]}
}

func results() []Result {
	return []Result{
		{Strategy: Strategies[0], JobSet: "compare-a", Workers: 4, Nodes: 2, FirstStart: 6500 * time.Millisecond,
			Restarts: []phases.Restart{restart(100, 200, 50, 150), restart(100, 300, 50, 250), restart(100, 100, 50, 50)}},
		{Strategy: Strategies[1], Refused: "the API server is below 1.36"},
		{Strategy: Strategies[2], JobSet: "compare-c", Workers: 4, Nodes: 2, FirstStart: 6 * time.Second, Failed: "interrupted",
			Restarts: []phases.Restart{restart(1000, 3000, 0, 500)}},
	}
}

func TestTheTable(t *testing.T) {
	report := Of(results(), Rate{})
	report.Failure = "A worker failed because its Pod was deleted."
	want := `STRATEGY                  WORKERS  FIRST START  RESTARTS  BREAK  BACK  LIFT  RUN   TOTAL  LEAST-MOST
InPlaceRestart Process    4        6.50         3         0.10   0.20  0.05  0.15  0.50   0.30-0.70
InPlaceRestart Container  -        -            0         -      -     -     -     -      -
Recreate                  4        6.00         1         1.00   3.00  -     0.50  4.50   4.50-4.50

Seconds from a failure until all workers run again; medians. A worker failed because its Pod was deleted.
InPlaceRestart Container was refused: the API server is below 1.36
Recreate was not measured to the end: interrupted
`
	if diff := cmp.Diff(want, report.Text()); diff != "" {
		t.Errorf("P128 (-want, +got):\n%s", diff)
	}
}

func TestTheTableWithARate(t *testing.T) {
	report := Of(results(), Rate{FailuresPerDay: 36, Nodes: 500})
	report.Failure, report.Notes = "A worker failed because of `kill`.", []string{"a name"}
	want := `STRATEGY                  WORKERS  FIRST START  RESTARTS  BREAK  BACK  LIFT  RUN   TOTAL  LEAST-MOST  NODE HOURS A DAY  SAVED
InPlaceRestart Process    4        6.50         3         0.10   0.20  0.05  0.15  0.50   0.30-0.70   2.50              20.00
InPlaceRestart Container  -        -            0         -      -     -     -     -      -           -                 -
Recreate                  4        6.00         1         1.00   3.00  -     0.50  4.50   4.50-4.50   22.50             -

Seconds from a failure until all workers run again; medians. A worker failed because of ` + "`kill`" + `.
Node hours: 36 failures a day, in each of which 500 nodes wait. The work since the last checkpoint has to be repeated in addition, with each strategy.
InPlaceRestart Container was refused: the API server is below 1.36
Recreate was not measured to the end: interrupted
Note: a name
`
	if diff := cmp.Diff(want, report.Text()); diff != "" {
		t.Errorf("P128 (-want, +got):\n%s", diff)
	}
}

func TestNodeHours(t *testing.T) {
	for name, tc := range map[string]struct {
		rate    Rate
		restart time.Duration
		want    float64
	}{
		"P128: failures, times nodes, times hours":    {Rate{FailuresPerDay: 2, Nodes: 100}, 90 * time.Second, 5},
		"P128: a failure every ten days":              {Rate{FailuresPerDay: 0.1, Nodes: 1000}, 36 * time.Second, 1},
		"P128: none without failures":                 {Rate{Nodes: 100}, time.Minute, 0},
		"P128: a slower restart saves less than none": {Rate{FailuresPerDay: 1, Nodes: 60}, -time.Minute, -1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.rate.NodeHours(tc.restart); got-tc.want > 1e-9 || tc.want-got > 1e-9 {
				t.Errorf("got %g, want %g", got, tc.want)
			}
		})
	}
	if report := Of(results(), Rate{FailuresPerDay: 1}); report.Nodes != 2 {
		t.Errorf("P128: %d nodes wait, want the 2 that the copies ran on", report.Nodes)
	}
	nothing := Of(results()[:1], Rate{FailuresPerDay: 1})
	if row := nothing.Rows[0]; row.NodeHours == nil || row.Saved != nil {
		t.Errorf("P128: without Recreate nothing says what is saved: %+v", row)
	}
}
