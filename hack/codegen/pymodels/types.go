/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// goType is a struct of the API.
type goType struct {
	doc    string
	fields []goField
}

// goField is a field of it: its name in JSON, and the name of its type without pointers, lists and packages.
type goField struct{ json, kind string }

// parseTypes returns the structs of a directory by their names.
func parseTypes(dir string) (map[string]goType, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	types := map[string]goType{}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "zz_generated") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, declaration := range file.Decls {
			group, ok := declaration.(*ast.GenDecl)
			if !ok || group.Tok != token.TYPE {
				continue
			}
			for _, spec := range group.Specs {
				spec := spec.(*ast.TypeSpec)
				if object, ok := spec.Type.(*ast.StructType); ok {
					types[spec.Name.Name] = goType{describe(group.Doc, spec.Doc), fieldsOf(object)}
				}
			}
		}
	}
	return types, nil
}

// describe returns a comment without the markers of generators.
func describe(comments ...*ast.CommentGroup) string {
	var lines []string
	for _, comment := range comments {
		for line := range strings.Lines(comment.Text()) {
			if !strings.HasPrefix(line, "+") {
				lines = append(lines, line)
			}
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}

func fieldsOf(object *ast.StructType) []goField {
	var fields []goField
	for _, field := range object.Fields.List {
		if field.Tag == nil {
			continue
		}
		tag := reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json")
		switch name, options, _ := strings.Cut(tag, ","); {
		case options == "inline": // metav1.TypeMeta
			fields = append(fields, goField{"apiVersion", "string"}, goField{"kind", "string"})
		case name != "":
			fields = append(fields, goField{name, kindOf(field.Type)})
		}
	}
	return fields
}

func kindOf(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.StarExpr:
		return kindOf(e.X)
	case *ast.ArrayType:
		return kindOf(e.Elt)
	}
	return ""
}
