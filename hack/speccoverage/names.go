/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"go/ast"
	"go/token"

	"sigs.k8s.io/jobset/hack/testnames"
)

// testName is a name of a test that holds ids.
type testName struct {
	pos token.Pos
	ids []id
}

// namesOfTests finds the names of tests in the files of one package that hold
// ids. A name is
//
//   - the name of a test function,
//   - the first argument of t.Run and b.Run,
//   - the text of a node of ginkgo,
//   - a string that is a key of a map: the tables of this repository are maps,
//   - an argument of a helper that hands it on as one of the above.
//
// What stands in comments, in messages of failures or elsewhere is none.
func namesOfTests(files []*ast.File) []testName {
	known := findHelpers(files)
	var names []testName
	add := func(expr ast.Expr) {
		for _, text := range testnames.Texts(expr) {
			if ids := idsIn(text); len(ids) > 0 {
				names = append(names, testName{expr.Pos(), ids})
			}
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				if node.Recv == nil && testnames.Function.MatchString(node.Name.Name) {
					if ids := idsInIdentifier(node.Name.Name); len(ids) > 0 {
						names = append(names, testName{node.Pos(), ids})
					}
				}
			case *ast.CallExpr:
				if name := known.nameArgument(node); name != nil {
					add(name)
				}
			case *ast.CompositeLit:
				for _, element := range node.Elts {
					if entry, ok := element.(*ast.KeyValueExpr); ok {
						add(entry.Key)
					}
				}
			}
			return true
		})
	}
	return names
}
