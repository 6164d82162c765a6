/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// source is a package as it is written: its types and constants with their comments.
type source struct {
	// dir is where it is, relative to the root of the repository.
	dir    string
	types  map[string]*typeDecl
	consts []*constDecl
}

// typeDecl is a type and its comment.
type typeDecl struct {
	name    string
	comment comment
	expr    ast.Expr
	// imports are the import paths of its file, by the name they have in it.
	imports map[string]string
}

// constDecl is a constant and its comment.
type constDecl struct {
	name string
	// typ is the name of its type, empty if it is written without one.
	typ     string
	comment comment
	// value is unknown for what this package does not evaluate.
	value constant.Value
}

// text is the value of a constant that is a string, and the empty string for others.
func (c *constDecl) text() string {
	if c.value.Kind() != constant.String {
		return ""
	}
	return constant.StringVal(c.value)
}

// readSource parses the Go files of a directory, but for tests and generated ones.
func readSource(root, dir string) (*source, error) {
	entries, err := os.ReadDir(filepath.Join(root, dir))
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", dir, err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "zz_generated") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, dir, name))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", path.Join(dir, name), err)
		}
		files[path.Join(dir, name)] = string(text)
	}
	return parseSource(dir, files)
}

// parseSource parses files, given by name.
func parseSource(dir string, files map[string]string) (*source, error) {
	src := &source{dir: dir, types: map[string]*typeDecl{}}
	set := token.NewFileSet()
	for _, name := range sortedKeys(files) {
		file, err := parser.ParseFile(set, name, files[name], parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("parsing: %w", err)
		}
		imports := importsOf(file)
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok {
				src.add(decl, imports)
			}
		}
	}
	return src, nil
}

func importsOf(file *ast.File) map[string]string {
	imports := map[string]string{}
	for _, spec := range file.Imports {
		importPath := strings.Trim(spec.Path.Value, `"`)
		name := path.Base(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = importPath
	}
	return imports
}

func (s *source) add(decl *ast.GenDecl, imports map[string]string) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			doc := spec.Doc
			if doc == nil && !decl.Lparen.IsValid() {
				doc = decl.Doc
			}
			s.types[spec.Name.Name] = &typeDecl{name: spec.Name.Name, comment: parseComment(doc), expr: spec.Type, imports: imports}
		case *ast.ValueSpec:
			if decl.Tok == token.CONST {
				s.addConsts(decl, spec)
			}
		}
	}
}

func (s *source) addConsts(decl *ast.GenDecl, spec *ast.ValueSpec) {
	doc := spec.Doc
	if doc == nil {
		doc = spec.Comment
	}
	if doc == nil && !decl.Lparen.IsValid() {
		doc = decl.Doc
	}
	typ := ""
	switch expr := spec.Type.(type) {
	case *ast.Ident:
		typ = expr.Name
	case *ast.SelectorExpr:
		typ = expr.Sel.Name
	}
	for i, name := range spec.Names {
		c := &constDecl{name: name.Name, typ: typ, comment: parseComment(doc), value: constant.MakeUnknown()}
		if i < len(spec.Values) {
			c.value = s.eval(spec.Values[i])
		}
		s.consts = append(s.consts, c)
	}
}

// constant finds a constant by its name; nil if there is none.
func (s *source) constant(name string) *constDecl {
	for _, c := range s.consts {
		if c.name == name {
			return c
		}
	}
	return nil
}

// nanoseconds are the constants of package time that durations are written with.
var nanoseconds = map[string]int64{
	"Millisecond": 1e6, "Second": 1e9, "Minute": 60e9, "Hour": 3600e9,
}

// eval evaluates literals, constants of the package, units of time, and what is computed from them.
func (s *source) eval(expr ast.Expr) constant.Value {
	switch expr := expr.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(expr.Value, expr.Kind, 0)
	case *ast.Ident:
		if c := s.constant(expr.Name); c != nil {
			return c.value
		}
	case *ast.SelectorExpr:
		if unit, ok := nanoseconds[expr.Sel.Name]; ok {
			return constant.MakeInt64(unit)
		}
	case *ast.BinaryExpr:
		x, y := s.eval(expr.X), s.eval(expr.Y)
		switch {
		case x.Kind() == constant.Unknown || y.Kind() == constant.Unknown:
		case expr.Op == token.SHL:
			if n, exact := constant.Uint64Val(y); exact {
				return constant.Shift(x, token.SHL, uint(n))
			}
		case expr.Op == token.ADD || expr.Op == token.MUL:
			return constant.BinaryOp(x, expr.Op, y)
		}
	}
	return constant.MakeUnknown()
}
