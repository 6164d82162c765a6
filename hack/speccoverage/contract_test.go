/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseContract(t *testing.T) {
	const lists = "\n## Ids without a test\n\n- W2: a reason\n"
	tests := map[string]struct {
		text string
		want []string
	}{
		"a page without a fault": {
			text: "## A\n| id | what |\n|---|---|\n| W1 | a |\n| W2-W4 | b |\n" + lists,
		},
		"an id that stands in two lines": {
			text: "| W1 | a |\n| W1 | b |\n",
			want: []string{"line 2: W1 stands in line 1 already"},
		},
		"an id that stands in a range already": {
			text: "| W1-W3 | a |\n| W2 | b |\n",
			want: []string{"line 2: W2 stands in line 1 already"},
		},
		"a first cell that is no id": {
			text: "| W1 and more | a |\n| W1 | a |\n",
			want: []string{`line 1: "W1 and more" in the first cell is neither an id nor a range`},
		},
		"a line that says nothing": {
			text: "| W1 | |\n",
			want: []string{"line 1: W1 says nothing"},
		},
		"a gap": {
			text: "| W1 | a |\n| W3 | a |\n| W7 | a |\n",
			want: []string{`no line for W2 W4-W6; if that is meant, list them under "Numbers that are not used"`},
		},
		"a gap that is listed": {
			text: "| W1 | a |\n| W4 | a |\n## Numbers that are not used\n- W2, W3: never given\n",
		},
		"a number that is listed as not used, and used": {
			text: "| W1 | a |\n## Numbers that are not used\n- W1: never given\n",
			want: []string{"line 1: W1 is listed as not used"},
		},
		"a reason for an id without a line": {
			text: "| W1 | a |\n" + lists,
			want: []string{"W2 has a reason to be without a test, and no line"},
		},
		"two reasons for one id": {
			text: "| W1 | a |\n## Ids without a test\n- W1: a\n- W1: b\n",
			want: []string{"line 4: W1 has a reason already"},
		},
		"an item without a reason": {
			text: "| W1 | a |\n## Ids without a test\n- W1:\n",
			want: []string{`line 3: want "- ids: reason", got "- W1:"`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, parseContract(tc.text).problems); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
