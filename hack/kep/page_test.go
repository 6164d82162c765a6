/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAnchors(t *testing.T) {
	tests := map[string]struct {
		titles, want []string
	}{
		"blanks become hyphens and capitals small letters":   {[]string{"Test Plan"}, []string{"test-plan"}},
		"marks go, and the blanks around them stay":          {[]string{"Upgrade / Downgrade Strategy"}, []string{"upgrade--downgrade-strategy"}},
		"digits, hyphens and underscores stay":               {[]string{"e2e tests: P10-P44 (a_b)"}, []string{"e2e-tests-p10-p44-a_b"}},
		"letters of other alphabets stay":                    {[]string{"Größe"}, []string{"größe"}},
		"the second of one name gets -1, the third -2":       {[]string{"Alpha", "Alpha", "alpha"}, []string{"alpha", "alpha-1", "alpha-2"}},
		"a number that another heading has already is taken": {[]string{"A", "A 1", "A"}, []string{"a", "a-1", "a-2"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			all := anchors{}
			var got []string
			for _, title := range tc.titles {
				got = append(got, all.of(title))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("anchors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHeadings(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"each level is one more mark":                    {"# A\n## B\n### C", []string{"1 A", "2 B", "3 C"}},
		"marks of code and links are no part of it":      {"## The `D` of [all](x.md)", []string{"2 The D of all"}},
		"closing marks are no part of it":                {"## A ##", []string{"2 A"}},
		"what stands in a code fence is none":            {"```\n# no\n```\n## A", []string{"2 A"}},
		"a fence ends with as many marks as it has":      {"````text\n```\n# no\n````\n## A", []string{"2 A"}},
		"a fence of tildes is not ended by backticks":    {"~~~\n```\n# no\n~~~\n## A", []string{"2 A"}},
		"a fence that says its language ends no other":   {"```\n```go\n# no\n```\n## A", []string{"2 A"}},
		"a mark without a blank, and indented code, too": {"#no\n    # no\n## A", []string{"2 A"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := parsePage(tc.text)
			var got []string
			for _, h := range p.headings {
				got = append(got, fmt.Sprint(h.level, " ", h.text))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("headings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithContents(t *testing.T) {
	tests := map[string]struct {
		text, want, err string
	}{
		"levels 2 to 4 are listed, each two blanks further in": {
			text: "# T\n<!-- toc -->\nold\n<!-- /toc -->\n## A\n### B\n#### C\n##### D\n## A",
			want: "# T\n<!-- toc -->\n- [A](#a)\n  - [B](#b)\n    - [C](#c)\n- [A](#a-1)\n<!-- /toc -->\n## A\n### B\n#### C\n##### D\n## A",
		},
		"the title counts among headings of one name": {
			text: "# A\n<!-- toc -->\n<!-- /toc -->\n## A",
			want: "# A\n<!-- toc -->\n- [A](#a-1)\n<!-- /toc -->\n## A",
		},
		"marks in a code fence are none": {
			text: "```\n<!-- toc -->\n```\n## A",
			err:  "there is no place for the table of contents",
		},
		"a page without the marks":        {text: "## A", err: "there is no place for the table of contents"},
		"a page that ends before it does": {text: "<!-- /toc -->\n<!-- toc -->", err: "there is no place for the table of contents"},
		"a page with two":                 {text: "<!-- toc -->\n<!-- toc -->\n<!-- /toc -->", err: "stands in lines 1 and 2; remove one"},
		"a page with two ends":            {text: "<!-- toc -->\n<!-- /toc -->\n<!-- /toc -->", err: "stands in lines 2 and 3; remove one"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := withContents(tc.text)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("page (-want +got):\n%s", diff)
			}
			if (err != nil) != (tc.err != "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			if again, err := withContents(got); tc.err == "" && (err != nil || again != got) {
				t.Errorf("written twice, the page changes: %v\n%s", err, cmp.Diff(got, again))
			}
		})
	}
}
