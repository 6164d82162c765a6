/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// figuresPath is the table of figures that pages cite: the last line of an id holds, earlier ones are its history.
const figuresPath = "docs/figures.tsv"

var (
	figureColumns = []string{"id", "value", "unit", "spread", "kind", "date", "commit", "machine", "command"}
	figureKinds   = []string{"measured", "simulated", "arithmetic"}
	figureID      = regexp.MustCompile(`^[a-z0-9.-]+$`)
	// citation finds a number and, behind it, the mark that says which figure it is: 0.22<!-- figure: kind.process.2 -->
	citation = regexp.MustCompile(`([0-9][0-9,]*(?:\.[0-9]+)?)?<!--\s*figure\b:?\s*([^>]*?)\s*-->`)
	// citations finds a list of marks that stands beside a table, which stays readable: <!-- figures: kind.process.2=0.22 -->
	citations = regexp.MustCompile(`<!--\s*figures:\s*([^>]*?)\s*-->`)
)

// parseFigures returns the value of each figure as it is written, and what is wrong with the table.
func parseFigures(table string) (map[string]string, []string) {
	values, problems := map[string]string{}, []string(nil)
	for i, line := range strings.Split(strings.TrimSuffix(table, "\n"), "\n") {
		cells := strings.Split(line, "\t")
		if i == 0 {
			if !slices.Equal(cells, figureColumns) {
				problems = append(problems, fmt.Sprintf("%s:1: want the columns %s", figuresPath, strings.Join(figureColumns, ", ")))
			}
			continue
		}
		if problem := figureProblem(cells); problem != "" {
			problems = append(problems, fmt.Sprintf("%s:%d: %s", figuresPath, i+1, problem))
			continue
		}
		values[cells[0]] = cells[1]
	}
	return values, problems
}

func figureProblem(cells []string) string {
	if len(cells) != len(figureColumns) {
		return fmt.Sprintf("want %d columns, got %d", len(figureColumns), len(cells))
	}
	for i, cell := range cells {
		if strings.TrimSpace(cell) == "" {
			return figureColumns[i] + " is empty; write - if there is none"
		}
	}
	if !figureID.MatchString(cells[0]) {
		return fmt.Sprintf("id %q: use a-z, 0-9, dots and dashes", cells[0])
	}
	if _, err := strconv.ParseFloat(cells[1], 64); err != nil {
		return fmt.Sprintf("value %q is no number", cells[1])
	}
	if !slices.Contains(figureKinds, cells[4]) {
		return fmt.Sprintf("kind %q is none of %s", cells[4], strings.Join(figureKinds, ", "))
	}
	return ""
}

// misquoted returns the citations of a page whose figure is unknown, or another number when it is
// rounded to as many digits as the page has.
func misquoted(path, page string, values map[string]string) []string {
	var problems []string
	note := func(line int, id, got string) {
		if problem := misquote(id, strings.ReplaceAll(got, ",", ""), values); problem != "" {
			problems = append(problems, fmt.Sprintf("%s:%d: %s", path, line, problem))
		}
	}
	for i, line := range strings.Split(page, "\n") {
		for _, match := range citation.FindAllStringSubmatch(line, -1) {
			note(i+1, match[2], match[1])
		}
	}
	shown := citations.ReplaceAllString(page, "")
	for _, at := range citations.FindAllStringSubmatchIndex(page, -1) {
		line := 1 + strings.Count(page[:at[0]], "\n")
		for _, item := range strings.Fields(page[at[2]:at[3]]) {
			id, got, _ := strings.Cut(item, "=")
			note(line, id, got)
			if !shows(shown, got) {
				problems = append(problems, fmt.Sprintf("%s:%d: the page does not show %q, which its list gives for figure %s", path, line, got, id))
			}
		}
	}
	return problems
}

// misquote returns what is wrong with a number that a page gives for a figure.
func misquote(id, got string, values map[string]string) string {
	value, known := values[id]
	switch want := rounded(value, got); {
	case !known:
		return fmt.Sprintf("%s has no figure %q", figuresPath, id)
	case got == "":
		return "no number right before the mark of figure " + id
	case got != want:
		return fmt.Sprintf("figure %s is %s, and the page says %s", id, want, got)
	}
	return ""
}

// shows reports whether a page has a number, and not only as a part of another one.
func shows(page, number string) bool {
	return regexp.MustCompile(`(^|[^0-9.,])` + regexp.QuoteMeta(number) + `($|[^0-9.,]|[.,]($|[^0-9]))`).MatchString(page)
}

// rounded writes a value with as many decimals as the number of a page, but no more than it has.
func rounded(value, like string) string {
	_, has, _ := strings.Cut(value, ".")
	_, wants, _ := strings.Cut(like, ".")
	number, err := strconv.ParseFloat(value, 64)
	if err != nil || len(wants) >= len(has) {
		return value
	}
	return strconv.FormatFloat(number, 'f', len(wants), 64)
}

// checkFigures compares all pages below root with the table of figures.
func checkFigures(root string) ([]string, error) {
	table, err := os.ReadFile(filepath.Join(root, figuresPath))
	if err != nil {
		return nil, err
	}
	values, problems := parseFigures(string(table))
	isPage := func(path string) bool { return strings.HasSuffix(path, ".md") }
	err = readFiles(root, "testdata", isPage, func(path, page string) {
		problems = append(problems, misquoted(path, page, values)...)
	})
	return problems, err
}
