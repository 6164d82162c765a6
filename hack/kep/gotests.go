/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"

	"sigs.k8s.io/jobset/hack/testnames"
)

// packageTests are the tests of one directory.
type packageTests struct {
	functions map[string]bool
	// texts of the nodes of ginkgo.
	texts []string
}

// tells tells whether a text of ginkgo has these words.
func (p packageTests) tells(title string) bool {
	for _, text := range p.texts {
		if title != "" && strings.Contains(text, title) {
			return true
		}
	}
	return false
}

// readTests reads the Go files of a directory: test functions from *_test.go, texts
// of ginkgo from all, since stories that several suites tell are no test files.
func readTests(tree fs.FS, dir string) (packageTests, error) {
	found := packageTests{functions: map[string]bool{}}
	if !fs.ValidPath(dir) {
		return found, fmt.Errorf("%s is no path of the repository", dir)
	}
	files, err := fs.Glob(tree, path.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return found, fmt.Errorf("there is no package %s", dir)
	}
	for _, name := range files {
		source, err := fs.ReadFile(tree, name)
		if err != nil {
			return found, fmt.Errorf("reading tests: %w", err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
		if err != nil {
			return found, fmt.Errorf("reading tests: %w", err)
		}
		found.add(file, strings.HasSuffix(name, "_test.go"))
	}
	return found, nil
}

func (p *packageTests) add(file *ast.File, isTest bool) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			if isTest && node.Recv == nil && testnames.Function.MatchString(node.Name.Name) {
				p.functions[node.Name.Name] = true
			}
		case *ast.CallExpr:
			if name := testnames.GinkgoText(node); name != nil {
				if text := strings.Join(testnames.Texts(name), ""); text != "" {
					p.texts = append(p.texts, text)
				}
			}
		}
		return true
	})
}
