/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func figureLines(lines ...string) string {
	table := strings.Join(figureColumns, "\t") + "\n"
	for _, line := range lines {
		table += strings.ReplaceAll(line, " ", "\t") + "\n"
	}
	return table
}

func TestTheTableOfFigures(t *testing.T) {
	values, problems := parseFigures(figureLines(
		"a 1.25 s - measured 2026-11-21 abc two-cores make",
		"a 1.5 s - measured 2026-11-22 abd two-cores make",
		"B 1 s - measured 2026-11-21 abc two-cores make",
		"c x s - measured 2026-11-21 abc two-cores make",
		"d 1 s - guessed 2026-11-21 abc two-cores make",
		"e 1 s"))
	if diff := cmp.Diff(map[string]string{"a": "1.5"}, values); diff != "" {
		t.Errorf("the last line of an id holds (-want +got):\n%s", diff)
	}
	want := []string{
		`docs/figures.tsv:4: id "B": use a-z, 0-9, dots and dashes`,
		`docs/figures.tsv:5: value "x" is no number`,
		`docs/figures.tsv:6: kind "guessed" is none of measured, simulated, arithmetic`,
		`docs/figures.tsv:7: want 9 columns, got 3`,
	}
	if diff := cmp.Diff(want, problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestPagesQuoteTheTableOfFigures(t *testing.T) {
	values := map[string]string{"time": "38.11", "writes": "1356"}
	tests := map[string]struct {
		page string
		want []string
	}{
		"the same number":         {"**38.11<!-- figure: time -->** s", nil},
		"rounded":                 {"38<!-- figure: time --> s", nil},
		"separated by thousands":  {"1,356<!-- figure: writes -->", nil},
		"another number":          {"\n38.12<!-- figure: time --> s", []string{"p:2: figure time is 38.11, and the page says 38.12"}},
		"more digits than it has": {"38.110<!-- figure: time --> s", []string{"p:1: figure time is 38.11, and the page says 38.110"}},
		"an unknown figure":       {"1<!-- figure: other -->", []string{`p:1: docs/figures.tsv has no figure "other"`}},
		"no number before":        {"so <!-- figure: time -->", []string{"p:1: no number right before the mark of figure time"}},
		"a list of figures":       {"| 38.11 | 1,356 |\n<!-- figures: time=38.11\nwrites=1,356 -->", nil},
		"another number, listed":  {"| 38.12 |\n<!-- figures: time=38.12 -->", []string{"p:2: figure time is 38.11, and the page says 38.12"}},
		"unknown, listed":         {"| 1 |\n<!-- figures: other=1 -->", []string{`p:2: docs/figures.tsv has no figure "other"`}},
		"listed, and not shown":   {"| 138.11 |\n<!-- figures: time=38.11 -->", []string{`p:2: the page does not show "38.11", which its list gives for figure time`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, misquoted("p", tc.page, values)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
