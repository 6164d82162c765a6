/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestBudgets(t *testing.T) {
	budgets, err := parseBudgets("# words\n10\theld\tdocs/a.md docs/sub/*.md\n5\twanted\tb.md\n3\theld\tgone.md\n")
	if err != nil {
		t.Fatal(err)
	}
	homeless := spend(budgets, map[string]int{"docs/a.md": 8, "docs/sub/c.md": 4, "b.md": 90_000, "new.md": 1})
	if diff := cmp.Diff([]string{"new.md"}, homeless); diff != "" {
		t.Errorf("pages without a budget (-want +got):\n%s", diff)
	}
	want := []string{
		"docs/a.md (8), docs/sub/c.md (4): 12 words, 2 more than hack/docs/budgets.tsv allows: shorten, or take as many from another line",
		"hack/docs/budgets.tsv: no page has the path gone.md",
		"all pages: 90012 words, 12 more than 90000; go run ./hack/docs --words shows where",
	}
	if diff := cmp.Diff(want, overspent(budgets, true)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want[:2], overspent(budgets, false)); diff != "" {
		t.Errorf("problems without the total (-want +got):\n%s", diff)
	}
}

func TestBudgetsThatCannotBeRead(t *testing.T) {
	for _, list := range []string{"ten\theld\ta.md", "10\tmaybe\ta.md", "10 held a.md"} {
		if _, err := parseBudgets(list); err == nil || !strings.HasPrefix(err.Error(), "hack/docs/budgets.tsv:1: ") {
			t.Errorf("parseBudgets(%q) returns %v", list, err)
		}
	}
}

func TestWordsAreCounted(t *testing.T) {
	root := t.TempDir()
	for path, text := range map[string]string{
		"README.md": "one two", "docs/a.md": "| x |\n", "docs/figures.tsv": "no page", "pkg/b.md": "no page", "bin/c.md": "no page",
		"site/node_modules/d.md": "no page", "site/content/e.md": "one", generatedPage: "no budget",
	} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	words, err := countWords(root)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"README.md": 2, "docs/a.md": 3, "site/content/e.md": 1}, words); diff != "" {
		t.Errorf("words (-want +got):\n%s", diff)
	}
}
