/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIDsIn(t *testing.T) {
	tests := map[string]struct {
		text, want string
	}{
		"one":                                  {"W45: a name", "W45"},
		"a list with commas":                   {"W45, W46: names", "W45 W46"},
		"a list with blanks":                   {"W84 W86 means", "W84 W86"},
		"in brackets":                          {"the defaults (O73, O76)", "O73 O76"},
		"a range with a dash":                  {"C345-C350: costs", "C345-C350"},
		"a range with dots":                    {"W59..W63", "W59-W63"},
		"a range with a long dash and blanks":  {"P10 – P13", "P10-P13"},
		"a range backwards is two ids":         {"W9-W7", "W7 W9"},
		"a range over two chapters is two ids": {"W9-C11", "W9 C11"},
		"one before a number":                  {"W1-64 characters", "W1"},
		"parts of words are none":              {"HTTP2 w45 W45x XW45 W1234", ""},
		"other letters are none":               {"Q7 K3", ""},
		"twice counts once":                    {"W1 W1", "W1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, compact(idsIn(tc.text))); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIDsInIdentifier(t *testing.T) {
	tests := map[string]struct {
		identifier, want string
	}{
		"at the end":                   {"TestDecideP14", "P14"},
		"in the middle":                {"TestC359CountsOnce", "C359"},
		"several":                      {"TestW45_W46AndW7", "W7 W45 W46"},
		"one behind another":           {"TestW1C2", "W1 C2"},
		"none in a word of capitals":   {"TestHTTP2", ""},
		"none without digits":          {"TestServerStops", ""},
		"none with four digits":        {"TestC2026", ""},
		"none in an empty name or one": {"C", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, compact(idsInIdentifier(tc.identifier))); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}
