/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
)

// carried are the ids in names of tests, each with the places it stands in.
type carried map[id][]string

// carriedIn reads the Go tests below root, and all of test/, where stories live.
func carriedIn(root string) (carried, error) {
	files := token.NewFileSet()
	packages := map[string][]*ast.File{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skip(root, path, entry)
		}
		relative, err := filepath.Rel(root, path)
		if err != nil || !holdsTests(relative) {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err // names its file and line
		}
		packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], file)
		return nil
	})
	if err != nil {
		return nil, err
	}
	found := carried{}
	for _, parsed := range packages {
		for _, name := range namesOfTests(parsed) {
			place := files.Position(name.pos)
			if relative, err := filepath.Rel(root, place.Filename); err == nil {
				place.Filename = relative
			}
			place.Column = 0
			for _, of := range name.ids {
				found[of] = append(found[of], place.String())
			}
		}
	}
	return found, nil
}

// skip leaves out what is built, what is no source, and test data of tests like ours.
func skip(root, path string, entry fs.DirEntry) error {
	name := entry.Name()
	if path != root && (name == "bin" || name == "testdata" || name == "node_modules" || strings.HasPrefix(name, ".")) {
		return fs.SkipDir
	}
	return nil
}

func holdsTests(path string) bool {
	slashed := filepath.ToSlash(path)
	return strings.HasSuffix(slashed, "_test.go") || strings.HasPrefix(slashed, "test/") && strings.HasSuffix(slashed, ".go")
}
