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

func TestIDsIn(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"a list":                      {"S1, W45 W46: names (O73)", "S1 W45 W46 O73"},
		"a range":                     {"C345-C347 and P10..P12", "C345 C346 C347 P10 P11 P12"},
		"a range backwards":           {"S9-S7", "S9 S7"},
		"a rule beside another":       {"P45b, P24a: late", "P45b P24a"},
		"a range over two chapters":   {"S9-C11", "S9 C11"},
		"words and names are no ids":  {"HTTP2 s45 S45x elliptic.P256 W1234 Q7", ""},
		"an id before a range is one": {"S1-64 characters", "S1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, strings.Join(idsIn(tc.text), " ")); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}

const page = `## A chapter
| id | what holds |
|---|---|
| S1 | one (differs: see docs/differences.md) |
| S3-S4 | two |
| S3 | again |
| S6 | |
## Ids without a test
- S4: cannot be seen
- S9: gone
## Numbers that are not used
- S5: never given
`

func TestTheContractIsChecked(t *testing.T) {
	c := parseContract(page)
	want := []string{
		`docs/behaviour.md:6: S3 is given twice`,
		`docs/behaviour.md:7: want an id and a text, got " S6 " and " "`,
		`docs/behaviour.md: S2 needs either a row or a place under "Numbers that are not used"`,
		`docs/behaviour.md: S9 has a reason to be without a test, and no row`,
		`docs/behaviour.md: S1 points to docs/differences.md, which has no row for it`,
		`a_test.go: S8 is no id of docs/behaviour.md`,
	}
	got := append(c.problems, c.unlisted("| S6 | here | why |")...)
	got = append(got, c.unknown(map[string]string{"a_test.go": `"S1, S5: known" "S8: not"`})...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if got := c.unlisted("| Q1, S1 | here | why |"); len(got) > 0 {
		t.Errorf("S1 is listed, and it is reported: %v", got)
	}
}

func TestLongRowsAreReported(t *testing.T) {
	long := strings.Repeat("word ", rowWords)
	c := parseContract("|S1|" + long + "|\n| S2 | " + long + "more |\n")
	want := []string{`docs/behaviour.md:2: S2 has 61 words, of at most 60: say what holds, not why`}
	if diff := cmp.Diff(want, c.problems); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestCoverage(t *testing.T) {
	var out strings.Builder
	missing := parseContract(page).coverage(&out, map[string]string{"a_test.go": "S1, S6: both"})
	if diff := cmp.Diff([]string{"S3 is carried by no test and has no reason to be without one"}, missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	if want := "4 ids: 2 are carried by tests, 1 have a reason to be without one, 1 are missing\n"; out.String() != want {
		t.Errorf("report is %q, want %q", out.String(), want)
	}
}

func TestTheTableOfContents(t *testing.T) {
	got := withContents("# KEP\n<!-- toc -->\nold\n<!-- /toc -->\n## A `b`, [c](d)\n```\n## no heading\n```\n### Same\n### Same\n")
	want := "# KEP\n<!-- toc -->\n- [A b, c](#a-b-c)\n  - [Same](#same)\n  - [Same](#same-1)\n<!-- /toc -->\n" +
		"## A `b`, [c](d)\n```\n## no heading\n```\n### Same\n### Same\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
}

func TestAListNamesTestsThatExist(t *testing.T) {
	tests := map[string]string{"a_test.go": "func TestA(t *testing.T) {\n\tt.Run(\"one\", nil)"}
	got := missingTests("k", "`TestA`, `TestB`, `\"one\"`, `\"two\nthree\"`, `other`", tests)
	want := []string{"k names TestB, and there is no such test", "k names \"two\nthree\", and there is no such test"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
