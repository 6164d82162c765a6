/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"go/ast"
	"strings"
)

// typeSections renders sections of a page, one for each type that can be reached from the roots.
type typeSections struct {
	src *source
	// apiVersion is what objects of the root types are written with.
	apiVersion string
	// defaults are those that code sets and no marker names, by TYPE.FIELD in Go names.
	defaults map[string]string
}

// render returns the sections: the roots, and then types in the order in which fields name them.
func (p typeSections) render(roots ...string) (string, error) {
	var sections []string
	queue, seen := roots, map[string]bool{}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		decl := p.src.types[name]
		if decl == nil || seen[name] {
			continue
		}
		seen[name] = true
		text, uses, err := p.section(decl)
		if err != nil {
			return "", err
		}
		sections = append(sections, text)
		queue = append(queue, uses...)
	}
	return strings.Join(sections, "\n\n"), nil
}

// section is one type, and the types that it names.
func (p typeSections) section(t *typeDecl) (text string, uses []string, err error) {
	if t.comment.text() == "" {
		return "", nil, fmt.Errorf("%s: type %s has no comment; add a comment that says what it is", p.src.dir, t.name)
	}
	parts := []string{"## " + t.name}
	for _, paragraph := range t.comment.paragraphs {
		parts = append(parts, escape(paragraph))
	}
	rules, err := t.comment.rules()
	if err != nil {
		return "", nil, fmt.Errorf("%s: type %s: %w", p.src.dir, t.name, err)
	}
	if _, isStruct := t.expr.(*ast.StructType); !isStruct {
		values, err := p.values(t)
		return strings.Join(append(parts, values), "\n\n"), nil, err
	}
	fields, uses, err := p.fields(t)
	if err != nil {
		return "", nil, err
	}
	parts = append(parts, fields)
	for _, rule := range rules {
		parts = append(parts, upperFirst(rule)+".")
	}
	if columns := printColumns(t.comment); columns != "" {
		parts = append(parts, "`kubectl get` shows:", columns)
	}
	return strings.Join(parts, "\n\n"), uses, nil
}

// values is the table of an enumeration.
func (p typeSections) values(t *typeDecl) (string, error) {
	values := table{head: []string{"value", "meaning"}}
	for _, c := range p.src.consts {
		if c.typ != t.name {
			continue
		}
		if c.comment.text() == "" {
			return "", fmt.Errorf("%s: constant %s has no comment; add a comment that says what the value means", p.src.dir, c.name)
		}
		values.add(code(c.text()), escape(c.comment.about(c.name)))
	}
	if len(values.rows) == 0 {
		return "", fmt.Errorf("%s: type %s has no constants; declare those that users may write", p.src.dir, t.name)
	}
	return values.String(), nil
}

// fields is the table of a struct, and the types that it names.
func (p typeSections) fields(t *typeDecl) (string, []string, error) {
	fields, err := fieldsOf(t)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", p.src.dir, err)
	}
	rows := table{head: []string{"field", "type", "rules", "meaning"}}
	var uses []string
	for _, f := range fields {
		if f.inline {
			rows.add("`apiVersion`, `kind`", "string", "required", code(p.apiVersion)+", "+code(t.name))
			continue
		}
		shown, err := p.src.show(t, f.expr)
		if err != nil {
			return "", nil, fmt.Errorf("%s: field %s of %s: %w", p.src.dir, f.goName, t.name, err)
		}
		rules, err := p.rules(t, f)
		if err != nil {
			return "", nil, fmt.Errorf("%s: field %s of %s: %w", p.src.dir, f.goName, t.name, err)
		}
		meaning, err := p.meaning(t, f)
		if err != nil {
			return "", nil, err
		}
		rows.add(code(f.name), shown, strings.Join(rules, "; "), meaning)
		uses = append(uses, typeName(f.expr))
	}
	return rows.String(), uses, nil
}

// rules are required or optional, what the markers of the field and of its enumeration say, and the default.
func (p typeSections) rules(t *typeDecl, f field) ([]string, error) {
	rules := []string{"optional"}
	if f.required {
		rules[0] = "required"
	}
	markers, err := f.comment.rules()
	if err != nil {
		return nil, err
	}
	rules = append(rules, markers...)
	if decl := p.src.types[typeName(f.expr)]; decl != nil {
		if _, isStruct := decl.expr.(*ast.StructType); !isStruct {
			of, err := decl.comment.rules()
			if err != nil {
				return nil, err
			}
			rules = append(rules, of...)
		}
	}
	if value, ok := p.defaults[t.name+"."+f.goName]; ok {
		rules = append(rules, "default "+value)
	}
	if isImmutable(f.comment) {
		rules = append(rules, "immutable")
	}
	return rules, nil
}

// isImmutable goes by the comment: immutability is held by the webhook, not by a marker.
func isImmutable(c comment) bool {
	for _, paragraph := range c.paragraphs {
		if paragraph == "Immutable." || strings.HasSuffix(paragraph, " Immutable.") || strings.Contains(paragraph, " Immutable. ") {
			return true
		}
	}
	return false
}

// meaning is the comment of a field. Those that every object has, such as spec, may leave it to their type.
func (p typeSections) meaning(t *typeDecl, f field) (string, error) {
	if text := f.comment.about(f.name); text != "" {
		return escape(text), nil
	}
	if t.comment.has("kubebuilder:object:root") {
		if decl := p.src.types[typeName(f.expr)]; decl != nil {
			return escape(decl.comment.about(decl.name)), nil
		}
		if f.name == "metadata" {
			return "As in every object of Kubernetes.", nil
		}
	}
	return "", fmt.Errorf("%s: field %s of %s is exported and has no comment; add a comment that says what it means", p.src.dir, f.goName, t.name)
}

// printColumns is the table of what kubectl get shows beside the name.
func printColumns(c comment) string {
	columns := table{head: []string{"column", "shows", "meaning"}}
	for _, m := range c.markers {
		if m.name != "kubebuilder:printcolumn" {
			continue
		}
		arguments, err := parseArguments(m.value)
		if err != nil {
			continue // the generator of the CRD refuses it
		}
		columns.add(strings.ToUpper(arguments["name"]), code(arguments["JSONPath"]), escape(arguments["description"]))
	}
	if len(columns.rows) == 0 {
		return ""
	}
	return columns.String()
}
