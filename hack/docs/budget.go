/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	budgetsPath = "hack/docs/budgets.tsv"
	// totalBudget is the most words that all pages may have together, and holdTotal whether the check fails above it.
	totalBudget = 90_000
	holdTotal   = false
	// generatedPage has as many words as the API has fields, so it has no budget.
	generatedPage = "site/content/en/docs/reference/api.md"
)

// budget is a line of budgets.tsv, with the words of its pages.
type budget struct {
	most     int
	held     bool
	patterns []string
	pages    []string
	words    int
}

// parseBudgets reads the lines of budgets.tsv.
func parseBudgets(list string) ([]budget, error) {
	var budgets []budget
	for i, line := range strings.Split(list, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, "\t")
		if len(cells) != 3 || cells[1] != "held" && cells[1] != "wanted" {
			return nil, fmt.Errorf("%s:%d: want a number of words, held or wanted, and paths, separated by tabs", budgetsPath, i+1)
		}
		most, err := strconv.Atoi(cells[0])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", budgetsPath, i+1, err)
		}
		budgets = append(budgets, budget{most: most, held: cells[1] == "held", patterns: strings.Fields(cells[2])})
	}
	return budgets, nil
}

// has reports whether a line has the path of a page; * alone has every path.
func (b budget) has(path string) bool {
	return slices.ContainsFunc(b.patterns, func(pattern string) bool {
		matched, err := filepath.Match(pattern, path)
		return pattern == "*" || err == nil && matched
	})
}

// spend adds each page to the first line that has its path, and returns the pages that none has.
func spend(budgets []budget, words map[string]int) []string {
	var homeless []string
	for path, count := range words {
		i := slices.IndexFunc(budgets, func(b budget) bool { return b.has(path) })
		if i < 0 {
			homeless = append(homeless, path)
			continue
		}
		budgets[i].pages = append(budgets[i].pages, fmt.Sprintf("%s (%d)", path, count))
		budgets[i].words += count
	}
	for _, b := range budgets {
		slices.Sort(b.pages)
	}
	slices.Sort(homeless)
	return homeless
}

// overspent returns the lines and the total that have more words than they may.
func overspent(budgets []budget, holdTotal bool) []string {
	var problems []string
	total := 0
	for _, b := range budgets {
		total += b.words
		if len(b.pages) == 0 {
			problems = append(problems, fmt.Sprintf("%s: no page has the path %s", budgetsPath, strings.Join(b.patterns, " ")))
		}
		if b.held && b.words > b.most {
			problems = append(problems, fmt.Sprintf("%s: %d words, %d more than %s allows: shorten, or take as many from another line",
				strings.Join(b.pages, ", "), b.words, b.words-b.most, budgetsPath))
		}
	}
	if holdTotal && total > totalBudget {
		problems = append(problems, fmt.Sprintf("all pages: %d words, %d more than %d; go run ./hack/docs --words shows where",
			total, total-totalBudget, totalBudget))
	}
	return problems
}

// countWords returns the words of each page: those at the top, and those below docs, keps and the site's content.
func countWords(root string) (map[string]int, error) {
	words := map[string]int{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		top, _, below := strings.Cut(name, "/")
		paged := slices.Contains([]string{"docs", "keps", "site"}, top)
		switch {
		case entry.IsDir() && name != "." && (!paged || entry.Name() == "node_modules" || entry.Name()[0] == '.'):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".md" || name == generatedPage || below && !paged:
			return nil
		}
		text, err := os.ReadFile(path)
		words[name] = len(strings.Fields(string(text)))
		return err
	})
	return words, err
}

// readBudgets returns the lines with their pages, and the pages that no line has.
func readBudgets(root string) ([]budget, []string, error) {
	list, err := os.ReadFile(filepath.Join(root, budgetsPath))
	if err != nil {
		return nil, nil, err
	}
	budgets, err := parseBudgets(string(list))
	if err != nil {
		return nil, nil, err
	}
	words, err := countWords(root)
	if err != nil {
		return nil, nil, err
	}
	return budgets, spend(budgets, words), nil
}

// checkBudgets returns the pages that have more words than they may, and those without a budget.
func checkBudgets(root string) ([]string, error) {
	budgets, homeless, err := readBudgets(root)
	if err != nil {
		return nil, err
	}
	problems := overspent(budgets, holdTotal)
	for _, path := range homeless {
		problems = append(problems, fmt.Sprintf("%s: %s has no line for it", path, budgetsPath))
	}
	return problems, nil
}

// showBudgets returns a line for each budget: words, the most, and the pages.
func showBudgets(root string) ([]string, error) {
	budgets, _, err := readBudgets(root)
	if err != nil {
		return nil, err
	}
	var lines []string
	total := 0
	for _, b := range budgets {
		total += b.words
		lines = append(lines, fmt.Sprintf("%7d of %6d  %s", b.words, b.most, strings.Join(b.pages, ", ")))
	}
	return append(lines, fmt.Sprintf("%7d of %6d  all pages", total, totalBudget)), nil
}
