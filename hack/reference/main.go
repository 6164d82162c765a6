/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command reference writes the tables of the site's reference whose facts the code has:
//
//	reference DIR PLUGIN    fills the tables of the pages in DIR; PLUGIN is the path of kubectl-jobset
//
// A table stands between the lines "<!-- table NAME, ... -->" and "<!-- /table -->". Its head stays. Its rows are the comments of
// constants (constants.go), the metrics that a manager registers (metrics.go), or the flags of the plugin (flags.go).
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// tables are the rows of each table, in cells.
type tables map[string][][]string

// add appends a row. A row whose first cell the table has already joins those, so that a reader finds them together.
func (t tables) add(name string, row ...string) {
	at := len(t[name])
	for i, other := range slices.Backward(t[name]) {
		if other[0] == row[0] {
			at = i + 1
			break
		}
	}
	t[name] = slices.Insert(t[name], at, row)
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: reference DIR PLUGIN")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(dir, plugin string) error {
	rows := tables{}
	if err := errors.Join(addConstants(rows), addMetrics(rows), addFlags(rows, plugin)); err != nil {
		return err
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fresh, err := filled(string(page), rows, used)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if fresh == string(page) {
			continue
		}
		if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
			return err
		}
	}
	for name := range rows {
		if !used[name] {
			return fmt.Errorf("no page has a table %s", name)
		}
	}
	return nil
}

// table finds the tables of a page: the line before it with its name, its head, and its rows.
var table = regexp.MustCompile(`(?m)^(<!-- table ([a-z-]+), .* -->\n(\|.*\n)\|.*\n)((?:\|.*\n)*)<!-- /table -->\n`)

// filled returns a page with fresh rows, and notes the tables that it has.
func filled(page string, rows tables, used map[string]bool) (string, error) {
	var wrong error
	page = table.ReplaceAllStringFunc(page, func(old string) string {
		parts := table.FindStringSubmatch(old)
		head, name := parts[1], parts[2]
		used[name] = true
		if len(rows[name]) == 0 {
			wrong = fmt.Errorf("nothing in the code is in the table %s", name)
		}
		var text strings.Builder
		for _, row := range rows[name] {
			if columns := strings.Count(parts[3], "|") - 1; len(row) != columns {
				wrong = fmt.Errorf("the table %s has %d columns, and a row has %d cells: %q", name, columns, len(row), row)
			}
			text.WriteString("| " + strings.Join(row, " | ") + " |\n")
		}
		return head + text.String() + "<!-- /table -->\n"
	})
	return page, wrong
}

// sentence returns a text as it stands in a cell: one line that begins with a capital letter and ends with a full stop.
func sentence(text string) string {
	text = strings.ReplaceAll(strings.TrimSuffix(strings.Join(strings.Fields(text), " "), "."), "|", `\|`)
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
