/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
)

// testName is a name of a test that holds ids.
type testName struct {
	pos token.Pos
	ids []id
}

// ginkgoNodes are the functions of ginkgo whose first argument is a name. Their
// pending forms (PIt, XIt, ...) prove nothing and are left out.
var ginkgoNodes = map[string]bool{
	"Describe": true, "FDescribe": true, "Context": true, "FContext": true, "When": true, "FWhen": true,
	"It": true, "FIt": true, "Specify": true, "FSpecify": true,
	"DescribeTable": true, "FDescribeTable": true, "DescribeTableSubtree": true, "FDescribeTableSubtree": true,
	"Entry": true, "FEntry": true,
}

var testFunction = regexp.MustCompile(`^(Test|Benchmark|Fuzz)([^a-z]|$)`)

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
		for _, text := range textsIn(expr) {
			if ids := idsIn(text); len(ids) > 0 {
				names = append(names, testName{expr.Pos(), ids})
			}
		}
	}
	for _, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				if node.Recv == nil && testFunction.MatchString(node.Name.Name) {
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

// textsIn returns the string literals that an expression is put together from.
func textsIn(expr ast.Expr) []string {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(expr.Value); err == nil && expr.Kind == token.STRING {
			return []string{text}
		}
	case *ast.BinaryExpr:
		return append(textsIn(expr.X), textsIn(expr.Y)...)
	case *ast.ParenExpr:
		return textsIn(expr.X)
	case *ast.CallExpr: // fmt.Sprintf("W45: %d", n)
		if called(expr) == "Sprintf" && len(expr.Args) > 0 {
			return textsIn(expr.Args[0])
		}
	}
	return nil
}

// called is the name of the function or method that a call names, without what stands before it.
func called(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}
