/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"go/ast"
	"reflect"
	"strconv"
	"strings"
)

// field is a field of a struct as users write it.
type field struct {
	// goName is its name in Go, name the one in JSON.
	goName, name string
	// expr is its type in Go.
	expr ast.Expr
	// inline: its own fields stand where it would.
	inline   bool
	required bool
	comment  comment
}

// fieldsOf are the exported fields of a struct, in their order.
func fieldsOf(t *typeDecl) ([]field, error) {
	structType, ok := t.expr.(*ast.StructType)
	if !ok {
		return nil, nil
	}
	var fields []field
	for _, f := range structType.Fields.List {
		names := []string{typeName(f.Type)}
		if len(f.Names) > 0 {
			names = names[:0]
			for _, name := range f.Names {
				if name.IsExported() {
					names = append(names, name.Name)
				}
			}
		}
		for _, goName := range names {
			parsed, err := parseField(goName, f)
			if err != nil {
				return nil, fmt.Errorf("field %s of %s: %w", goName, t.name, err)
			}
			if parsed.name != "-" {
				fields = append(fields, parsed)
			}
		}
	}
	return fields, nil
}

func parseField(goName string, f *ast.Field) (field, error) {
	parsed := field{goName: goName, expr: f.Type, comment: parseComment(f.Doc)}
	if f.Tag == nil {
		return parsed, fmt.Errorf("it has no name for users; add a tag `json:\"...\"`")
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return parsed, fmt.Errorf("reading its tag: %w", err)
	}
	name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	parsed.name = name
	parsed.inline = strings.Contains(options, "inline")
	optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") || parsed.comment.has("optional")
	parsed.required = !optional || parsed.comment.has("required") || parsed.comment.has("kubebuilder:validation:Required")
	if name == "" && !parsed.inline {
		return parsed, fmt.Errorf("its tag gives no name for users; write `json:\"...\"`")
	}
	return parsed, nil
}

// typeName is the name of a type without its package; empty for what has none.
func typeName(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return typeName(expr.X)
	case *ast.ArrayType:
		return typeName(expr.Elt)
	case *ast.MapType:
		return typeName(expr.Value)
	case *ast.SelectorExpr:
		return expr.Sel.Name
	case *ast.Ident:
		return expr.Name
	}
	return ""
}

// show says a type to users: types of the page are linked to their section, those of other
// packages to their own documentation.
func (s *source) show(t *typeDecl, expr ast.Expr) (string, error) {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return s.show(t, expr.X)
	case *ast.ArrayType:
		of, err := s.show(t, expr.Elt)
		return "list of " + of, err
	case *ast.MapType:
		key, err := s.show(t, expr.Key)
		if err != nil {
			return "", err
		}
		value, err := s.show(t, expr.Value)
		return "map of " + key + " to " + value, err
	case *ast.SelectorExpr:
		return "[" + expr.Sel.Name + "](https://pkg.go.dev/" + t.imports[typeName(expr.X)] + "#" + expr.Sel.Name + ")", nil
	case *ast.Ident:
		if _, ours := s.types[expr.Name]; ours {
			return "[" + expr.Name + "](#" + strings.ToLower(expr.Name) + ")", nil
		}
		if !basic[expr.Name] {
			return "", fmt.Errorf("type %s is neither declared in %s nor basic", expr.Name, s.dir)
		}
		return expr.Name, nil
	}
	return "", fmt.Errorf("type %T cannot be shown; declare a type with a name", expr)
}

var basic = map[string]bool{"string": true, "bool": true, "int": true, "int32": true, "int64": true, "float32": true, "float64": true}
