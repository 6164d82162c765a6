/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package testnames reads the names of tests out of Go sources.
package testnames

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
)

// Function matches the names of the functions that `go test` runs.
var Function = regexp.MustCompile(`^(Test|Benchmark|Fuzz)([^a-z]|$)`)

// ginkgoNodes are the functions of ginkgo whose first argument is a text. Their
// pending forms (PIt, XIt, ...) prove nothing and are left out.
var ginkgoNodes = map[string]bool{
	"Describe": true, "FDescribe": true, "Context": true, "FContext": true, "When": true, "FWhen": true,
	"It": true, "FIt": true, "Specify": true, "FSpecify": true,
	"DescribeTable": true, "FDescribeTable": true, "DescribeTableSubtree": true, "FDescribeTableSubtree": true,
	"Entry": true, "FEntry": true,
}

// GinkgoText is the expression that names a node of ginkgo; nil if the call makes none.
func GinkgoText(call *ast.CallExpr) ast.Expr {
	if !ginkgoNodes[Called(call)] || len(call.Args) == 0 {
		return nil
	}
	return call.Args[0]
}

// Texts returns the string literals that an expression is put together from, in order.
func Texts(expr ast.Expr) []string {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(expr.Value); err == nil && expr.Kind == token.STRING {
			return []string{text}
		}
	case *ast.BinaryExpr:
		return append(Texts(expr.X), Texts(expr.Y)...)
	case *ast.ParenExpr:
		return Texts(expr.X)
	case *ast.CallExpr: // fmt.Sprintf("W45: %d", n)
		if Called(expr) == "Sprintf" && len(expr.Args) > 0 {
			return Texts(expr.Args[0])
		}
	}
	return nil
}

// Called is the name of the function or method that a call names, without what stands before it.
func Called(call *ast.CallExpr) string {
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		return fun.Name
	case *ast.SelectorExpr:
		return fun.Sel.Name
	}
	return ""
}
