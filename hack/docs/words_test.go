/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const stylePage = "# Style\n\n## Banned words\n\nWhy.\n\n| banned | write |\n|---|---|\n| mend, mends | fix |\n| for ever | indefinitely |\n| `lookAgain` | requeueAfter |\n\n## Next\n\n| other | table |\n"

func TestThePageOfStyleBansWords(t *testing.T) {
	words, err := bannedWords(stylePage)
	want := map[string]string{"mend": "fix", "mends": "fix", "for ever": "indefinitely", "lookagain": "requeueAfter"}
	if diff := cmp.Diff(want, words); err != nil || diff != "" {
		t.Errorf("error %v; words (-want +got):\n%s", err, diff)
	}
	for _, page := range []string{"# Style\n", "\n## Banned words\n\n| banned | write |\n|---|---|\n"} {
		if _, err := bannedWords(page); err == nil {
			t.Errorf("a page that bans nothing would check nothing:\n%s", page)
		}
	}
}

func TestBannedWordsAreFound(t *testing.T) {
	words, err := bannedWords(stylePage)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		text string
		want []string
	}{
		"none":                    {"a fix", nil},
		"a word":                  {"\nit mends", []string{`p:2: "mends" is banned by docs/style.md; write: fix`}},
		"at the start of a line":  {"Mend it", []string{`p:1: "Mend" is banned by docs/style.md; write: fix`}},
		"two words":               {"waits for ever.", []string{`p:1: "for ever" is banned by docs/style.md; write: indefinitely`}},
		"a part of a longer word": {"amended, for every", nil},
		"behind an escape":        {`"\nmend: %s"`, []string{`p:1: "mend" is banned by docs/style.md; write: fix`}},
		"an identifier":           {"return lookAgain(left)", []string{`p:1: "lookAgain" is banned by docs/style.md; write: requeueAfter`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, misworded("p", tc.text, wordsPattern(words), words)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
