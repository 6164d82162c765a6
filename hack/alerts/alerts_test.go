/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package alerts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/rulefmt"
)

// well is a manager for which nothing is wrong, for an hour.
var well = []string{
	`jobset_in_place_restarts_total{pod="a"} 0x120`,
	`jobset_in_place_assembling_seconds{pod="a"} 0x120`,
	`jobset_restart_budget_nearly_spent{pod="a"} 0x120`,
}

// fill adds, for each metric of which there is no series, that of a manager for which nothing is wrong.
func fill(t *testing.T, series []string) *memory {
	t.Helper()
	given := load(t, series...).names()
	for _, usual := range well {
		if name, _, _ := strings.Cut(usual, "{"); !slices.Contains(given, name) {
			series = append(slices.Clone(series), usual)
		}
	}
	return load(t, series...)
}

// play evaluates all rules for an hour and tells when each fires, as "NAME from 5m30s to 8m0s".
func play(t *testing.T, rules []rulefmt.Rule, m *memory) []string {
	t.Helper()
	var told []string
	for _, rule := range rules {
		a := alert{rule: rule}
		var from time.Time
		for at := start; at.Sub(start) <= time.Hour; at = at.Add(interval) {
			found, err := m.query(t.Context(), rule.Expr, at)
			if err != nil {
				t.Fatalf("%s: %v", rule.Alert, err)
			}
			if len(found) > 1 {
				t.Fatalf("%s is sent %d times at %s: %v", rule.Alert, len(found), at.Sub(start), found)
			}
			was := a.firing
			a.next(len(found) > 0, at)
			switch {
			case a.firing && !was:
				from = at
			case was && !a.firing:
				told = append(told, fmt.Sprintf("%s from %s to %s", rule.Alert, from.Sub(start), at.Sub(start)))
			}
		}
		if a.firing {
			told = append(told, fmt.Sprintf("%s from %s", rule.Alert, from.Sub(start)))
		}
	}
	return told
}

// Series have a sample every 30 seconds: 0+30x10 are the seconds of five minutes.
func TestAlerts(t *testing.T) {
	rules := readRules(t)
	tests := map[string]struct {
		series []string
		want   []string
	}{
		"a manager for which all is well raises no alert": {},

		"JobSetControllerDown: a manager that goes away is missed ten minutes later": {
			series: []string{`jobset_in_place_restarts_total{pod="a"} 0x20 stale`},
			want:   []string{"JobSetControllerDown from 20m30s"},
		},
		"JobSetControllerDown: a manager that never was is missed ten minutes after the start": {
			series: []string{`jobset_in_place_restarts_total{pod="a"} _x120`},
			want:   []string{"JobSetControllerDown from 10m0s"},
		},
		"JobSetControllerDown: it ends when a new manager comes": {
			series: []string{`jobset_in_place_restarts_total{pod="a"} 0x20 stale`, `jobset_in_place_restarts_total{pod="b"} _x60 0x60`},
			want:   []string{"JobSetControllerDown from 20m30s to 30m0s"},
		},
		"JobSetControllerDown: a restart of the manager within ten minutes is no reason": {
			series: []string{`jobset_in_place_restarts_total{pod="a"} 0x20 stale`, `jobset_in_place_restarts_total{pod="b"} _x40 0x80`},
		},
		"JobSetControllerDown: one of two managers is enough": {
			series: []string{`jobset_in_place_restarts_total{pod="a"} 0x20 stale`, `jobset_in_place_restarts_total{pod="b"} 0x120`},
		},

		"JobSetGroupNotTogether: a group has assembled for more than five minutes, and comes together": {
			series: []string{`jobset_in_place_assembling_seconds{pod="a"} 0+30x14 0x100`},
			want:   []string{"JobSetGroupNotTogether from 5m30s to 13m30s"}, // 7m30s, and six minutes
		},
		"JobSetGroupNotTogether: a group that needed just five minutes is no reason": {
			series: []string{`jobset_in_place_assembling_seconds{pod="a"} 0+30x10 0x100`},
		},
		"JobSetGroupNotTogether: many groups, one after the other, are no reason": {
			series: []string{`jobset_in_place_assembling_seconds{pod="a"} 0+30x9 0+30x9 0+30x9 0+30x9 0+30x9`},
		},
		"JobSetGroupNotTogether: a clock that starts over each ten minutes is one alert": {
			series: []string{`jobset_in_place_assembling_seconds{pod="a"} 0+30x19 0+30x19 0+30x19 0+30x19 0+30x19 0+30x19`},
			want:   []string{"JobSetGroupNotTogether from 5m30s"},
		},
		"JobSetGroupNotTogether: two managers that report the same raise it once": {
			series: []string{`jobset_in_place_assembling_seconds{pod="a"} 0+30x120`, `jobset_in_place_assembling_seconds{pod="b"} 0+30x120`},
			want:   []string{"JobSetGroupNotTogether from 5m30s"},
		},
		"JobSetGroupNotTogether: half the time in each of two managers is not the whole": {
			series: []string{`jobset_in_place_assembling_seconds{pod="a"} 200x120`, `jobset_in_place_assembling_seconds{pod="b"} 200x120`},
		},
		"JobSetGroupNotTogether: a manager that has not read all JobSets yet hides nothing": {
			series: []string{`jobset_in_place_assembling_seconds{pod="a"} 0+30x120`, `jobset_in_place_assembling_seconds{pod="b"} _x120`},
			want:   []string{"JobSetGroupNotTogether from 5m30s"},
		},

		"JobSetRestartBudgetNearlySpent: five minutes after a JobSet has nearly no restarts left": {
			series: []string{`jobset_restart_budget_nearly_spent{pod="a"} 0x9 1x110`},
			want:   []string{"JobSetRestartBudgetNearlySpent from 10m0s"},
		},
		"JobSetRestartBudgetNearlySpent: it ends when the JobSet does": {
			series: []string{`jobset_restart_budget_nearly_spent{pod="a"} 0x9 1x29 0x80`},
			want:   []string{"JobSetRestartBudgetNearlySpent from 10m0s to 20m0s"},
		},
		"JobSetRestartBudgetNearlySpent: a JobSet that fails at once is too late to warn of": {
			series: []string{`jobset_restart_budget_nearly_spent{pod="a"} 0x9 1x4 0x100`},
		},
		"JobSetRestartBudgetNearlySpent: three JobSets, reported by two managers, raise it once": {
			series: []string{`jobset_restart_budget_nearly_spent{pod="a"} 3x120`, `jobset_restart_budget_nearly_spent{pod="b"} 3x120`},
			want:   []string{"JobSetRestartBudgetNearlySpent from 5m0s"},
		},

		"JobSetRestartLoop: a restart every three minutes": {
			series: []string{`jobset_in_place_restarts_total{pod="a"} ` + steps(6, 120)},
			want:   []string{"JobSetRestartLoop from 15m0s"},
		},
		"JobSetRestartLoop: a restart every four minutes is no loop": {
			series: []string{`jobset_in_place_restarts_total{pod="a"} ` + steps(8, 120)},
		},
		"JobSetRestartLoop: it ends when the restarts do": {
			series: []string{`jobset_in_place_restarts_total{pod="a"} 0x9 1 2 3 4 5 6 6x110`},
			want:   []string{"JobSetRestartLoop from 7m0s to 25m0s"},
		},
		"JobSetRestartLoop: a leader that changes counts from 0 and is no restart": {
			series: []string{
				`jobset_in_place_restarts_total{pod="a"} 1000x20 stale`, `jobset_in_place_restarts_total{pod="b"} 0x120`,
				`jobset_in_place_restarts_total{pod="c"} _x20 0x100`,
			},
		},
		"JobSetRestartLoop: a manager that restarts in its Pod counts from 0, and loses nothing": {
			series: []string{`jobset_in_place_restarts_total{pod="a"} 0x9 1 2 3 0 1 2 2x110`},
			want:   []string{"JobSetRestartLoop from 7m30s to 24m30s"},
		},
		"JobSetRestartLoop: restarts of two leaders are added": {
			series: []string{`jobset_in_place_restarts_total{pod="a"} 0x9 1 2 3 3x110`, `jobset_in_place_restarts_total{pod="b"} 0x13 1 2 3 3x110`},
			want:   []string{"JobSetRestartLoop from 7m30s to 25m0s"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, play(t, rules, fill(t, tc.series))); diff != "" {
				t.Errorf("alerts (-want +got):\n%s", diff)
			}
		})
	}
}

// steps is a counter that grows by one each so many samples.
func steps(each, samples int) string {
	var values []string
	for i := range samples + 1 {
		values = append(values, fmt.Sprint(i/each))
	}
	return strings.Join(values, " ")
}
