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
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// place is where a declaration is.
type place struct {
	file     string
	from, to int
}

// mutate returns the file that has the declaration, and its text with the mistake in it.
func (m *mutant) mutate() (file, changed string, err error) {
	base := strings.LastIndexByte(m.at, '/') + 1
	dir, name, _ := strings.Cut(m.at[base:], ".")
	declared, err := declarations(m.at[:base] + dir)
	if err != nil {
		return "", "", err
	}
	places := declared[name]
	if len(places) != 1 {
		return "", "", fmt.Errorf("%s is declared %d times, not once; bring test/sequence/mutants up to date", m.at, len(places))
	}
	at := places[0]
	source, err := os.ReadFile(at.file)
	if err != nil {
		return "", "", fmt.Errorf("reading the source: %w", err)
	}
	text := string(source)
	if n := strings.Count(text[at.from:at.to], m.old); n != 1 {
		return "", "", fmt.Errorf("the text\n\t%s\nis in %s, %s, %d times, not once; bring test/sequence/mutants up to date", m.old, m.at, at.file, n)
	}
	return at.file, text[:at.from] + strings.Replace(text[at.from:at.to], m.old, m.new, 1) + text[at.to:], nil
}

var (
	parsed   = map[string]map[string][]place{}
	parsedMu sync.Mutex
)

// declarations returns the functions, methods and variables of the packages below a directory, from the root of the repository.
func declarations(dir string) (map[string][]place, error) {
	parsedMu.Lock()
	defer parsedMu.Unlock()
	if parsed[dir] != nil {
		return parsed[dir], nil
	}
	found := map[string][]place{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parsing %s: %w", path, err)
		}
		for _, decl := range file.Decls {
			for _, name := range namesOf(decl) {
				found[name] = append(found[name], place{path, set.Position(decl.Pos()).Offset, set.Position(decl.End()).Offset})
			}
		}
		return nil
	})
	parsed[dir] = found
	return found, err
}

// namesOf returns what a declaration declares: a method as Type.Method.
func namesOf(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			receiver := d.Recv.List[0].Type
			if pointer, ok := receiver.(*ast.StarExpr); ok {
				receiver = pointer.X
			}
			name = fmt.Sprint(receiver) + "." + name
		}
		return []string{name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if values, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range values.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}
