/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"go/ast"

	"sigs.k8s.io/jobset/hack/testnames"
)

// helpers are functions of a package that hand one of their parameters on as
// the name of a test, each with the position of that parameter:
//
//	func bubble(t *testing.T, name string, test func(*testing.T)) { t.Run(name, ...) }
type helpers map[string]int

// findHelpers looks again until it finds no more, since a helper may call another.
func findHelpers(files []*ast.File) helpers {
	known := helpers{}
	for {
		before := len(known)
		for _, file := range files {
			ast.Inspect(file, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.FuncDecl:
					if node.Recv == nil && node.Body != nil {
						known.learn(node.Name.Name, node.Type, node.Body)
					}
				case *ast.AssignStmt: // check := func(name string) { t.Run(name, ...) }
					for i, value := range node.Rhs {
						name, ok := nameOf(node.Lhs, i)
						if literal, isFunc := value.(*ast.FuncLit); ok && isFunc {
							known.learn(name, literal.Type, literal.Body)
						}
					}
				}
				return true
			})
		}
		if len(known) == before {
			return known
		}
	}
}

func nameOf(left []ast.Expr, i int) (string, bool) {
	if i >= len(left) {
		return "", false
	}
	name, ok := left[i].(*ast.Ident)
	if !ok {
		return "", false
	}
	return name.Name, true
}

// learn remembers a function if it hands a parameter on as a name.
func (h helpers) learn(name string, signature *ast.FuncType, body *ast.BlockStmt) {
	if _, known := h[name]; known {
		return
	}
	positions := map[string]int{}
	position := 0
	for _, field := range signature.Params.List {
		for _, parameter := range field.Names {
			positions[parameter.Name] = position
			position++
		}
	}
	ast.Inspect(body, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok {
			return true
		}
		argument := h.nameArgument(call)
		if argument == nil {
			return true
		}
		ast.Inspect(argument, func(node ast.Node) bool {
			if used, ok := node.(*ast.Ident); ok {
				if at, isParameter := positions[used.Name]; isParameter {
					h[name] = at
				}
			}
			return true
		})
		return true
	})
}

// nameArgument is the argument of a call that is the name of a test, nil if there is none.
func (h helpers) nameArgument(call *ast.CallExpr) ast.Expr {
	name := testnames.Called(call)
	at, known := h[name]
	_, plain := call.Fun.(*ast.Ident)
	switch {
	case known && plain:
	case testnames.GinkgoText(call) != nil:
		at = 0
	case name == "Run" && !plain && len(call.Args) == 2: // t.Run and b.Run
		at = 0
	default:
		return nil
	}
	if at >= len(call.Args) {
		return nil
	}
	return call.Args[at]
}
