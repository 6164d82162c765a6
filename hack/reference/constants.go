/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// sources have constants whose comments say in which tables they are. Rows have the order of the files, and of the constants there.
var sources = []string{
	"api/jobset/v1alpha2/labels.go",
	"pkg/constants/constants.go",
	"pkg/constants/events.go",
	"pkg/constants/conditions.go",
	"api/jobset/v1alpha2/failure_policy_types.go",
	"pkg/placement/affinity.go",
	"pkg/placement/repair.go",
	"supervisor/protocol/protocol.go",
	"supervisor/protocol/pod.go",
	"agent/config.go",
	"supervisor/protocol/progress.go",
	"supervisor/protocol/warm_start.go",
	"pkg/workerpod/environment.go",
	"pkg/workerpod/jax.go",
	"pkg/features/features.go",
}

// marker begins the lines at the end of a comment that make rows: the name of a table, and cells. The constant is the first
// cell, or where a cell has `*`. The first paragraph of the comment is the cell that is ..., or the last one if none is a sentence.
//
//	// SuspendingReason: spec.suspend is true, and Jobs still run.
//	// +reference=conditions | `Suspended` | `*` | False
const marker = "\n+reference="

// addConstants adds the rows that comments of constants make.
func addConstants(rows tables) error {
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			if group, ok := decl.(*ast.GenDecl); ok && group.Tok == token.CONST {
				addGroup(rows, group)
			}
		}
	}
	return nil
}

func addGroup(rows tables, group *ast.GenDecl) {
	for _, spec := range group.Specs {
		spec := spec.(*ast.ValueSpec)
		doc := spec.Doc
		if !group.Lparen.IsValid() {
			doc = group.Doc
		}
		if len(spec.Values) != 1 || doc == nil {
			continue
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			continue
		}
		if value, err := strconv.Unquote(literal.Value); err == nil {
			addConstant(rows, spec.Names[0].Name, value, "\n"+doc.Text())
		}
	}
}

func addConstant(rows tables, name, value, comment string) {
	text, _, _ := strings.Cut(comment, marker)
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n\n")
	text = regexp.MustCompile(`^`+name+`(?: holds|:)? `).ReplaceAllString(text, "")
	for _, mark := range strings.Split(comment, marker)[1:] {
		cells := strings.Split(strings.Join(strings.Fields(mark), " "), " | ")
		table, cells := cells[0], cells[1:]
		if !slices.ContainsFunc(cells, func(cell string) bool { return strings.Contains(cell, "`*") }) {
			cells = slices.Insert(cells, 0, "`*`")
		}
		if !slices.Contains(cells, "...") && !strings.HasSuffix(cells[len(cells)-1], ".") {
			cells = append(cells, "...")
		}
		for i, cell := range cells {
			switch {
			case cell == "...":
				cells[i] = sentence(text)
			case strings.HasSuffix(cell, "."):
				cells[i] = sentence(cell)
			default:
				cells[i] = strings.Replace(cell, "`*", "`"+value, 1)
			}
		}
		rows.add(table, cells...)
	}
}
