/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// plain are Go types whose objects stay dictionaries: they belong to other APIs, which have models of their own, and
// their descriptions would be most of the module.
var plain = map[string]string{
	"ObjectMeta":            "As in all kinds: name, namespace, labels, annotations.",
	"JobTemplateSpec":       "As in batch/v1, with metadata and spec of the Jobs.",
	"PersistentVolumeClaim": "As in v1, with metadata and spec.",
}

// class is a dataclass.
type class struct {
	name, doc string
	fields    []field
}

// field is one of a dataclass.
type field struct {
	json, python, kind, doc string
	required                bool
	// value is the default, None if it is empty.
	value string
}

// collector makes classes, each once.
type collector struct {
	types   map[string]goType
	seen    map[string]bool
	classes []class
}

// collect adds the class of an object, and then those that its fields need.
func (c *collector) collect(name string, s schema) error {
	if c.seen[name] {
		return nil
	}
	c.seen[name] = true
	of, known := c.types[name]
	if !known { // of another API, such as a condition: it has scalars only
		of.doc = s.Description
		for _, property := range slices.Sorted(maps.Keys(s.Properties)) {
			of.fields = append(of.fields, goField{property, ""})
		}
	}
	result := class{name: name, doc: of.doc}
	at := len(c.classes)
	c.classes = append(c.classes, result)
	if len(of.fields) != len(s.Properties) {
		return fmt.Errorf("the CRD has %d fields of %s, the Go type %d; run hack/update-generated.sh first", len(s.Properties), name, len(of.fields))
	}
	for _, property := range of.fields {
		f, err := c.field(property, s)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, property.json, err)
		}
		result.fields = append(result.fields, f)
	}
	// Python wants those without a default first.
	slices.SortStableFunc(result.fields, func(a, b field) int {
		switch {
		case a.required == b.required:
			return 0
		case a.required:
			return -1
		}
		return 1
	})
	c.classes[at] = result
	return nil
}

func (c *collector) field(property goField, object schema) (field, error) {
	s, ok := object.Properties[property.json]
	if !ok {
		return field{}, fmt.Errorf("the CRD has no such field; run hack/update-generated.sh first")
	}
	kind, err := c.kind(property.kind, s)
	if err != nil {
		return field{}, err
	}
	name := snake(property.json)
	if slices.Contains(keywords, name) {
		return field{}, fmt.Errorf("%q is a word of Python; give the attribute another name in hack/codegen/pymodels", name)
	}
	return field{
		json: property.json, python: name, kind: kind, required: slices.Contains(object.Required, property.json),
		doc: strings.TrimSpace(s.Description + "\n\n" + notes(property, s)),
	}, nil
}

// kind returns the Python type of a field.
func (c *collector) kind(goKind string, s schema) (string, error) {
	switch s.Type {
	case "integer":
		return "int", nil
	case "boolean":
		return "bool", nil
	case "string":
		if len(s.Enum) > 0 {
			return fmt.Sprintf("typing.Literal[%s]", strings.Join(quoted(s.Enum), ", ")), nil
		}
		return "str", nil
	case "array":
		item, err := c.kind(goKind, *s.Items)
		return fmt.Sprintf("typing.List[%s]", item), err
	case "object":
		if plain[goKind] != "" {
			return "typing.Dict[str, typing.Any]", nil
		}
		if s.Values != nil {
			value, err := c.kind("", *s.Values)
			return fmt.Sprintf("typing.Dict[str, %s]", value), err
		}
		if goKind == "" {
			return "", fmt.Errorf("an object without a name; add its type to the plain ones in hack/codegen/pymodels")
		}
		return goKind, c.collect(goKind, s)
	}
	return "", fmt.Errorf("no Python type for schema type %q", s.Type)
}

func quoted(words []string) []string {
	var all []string
	for _, word := range words {
		all = append(all, fmt.Sprintf("%q", word))
	}
	return all
}

// notes are what a schema says of a field outside of its description: unit, bounds and default.
func notes(property goField, s schema) string {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	of := s
	if s.Items != nil {
		of = *s.Items
	}
	switch {
	case strings.Contains(property.json, "Seconds"):
		add("Unit: seconds.")
	case property.kind == "Duration":
		add("Unit: none, a duration such as 1h2m3.5s.")
	case of.Format == "date-time":
		add("A time of RFC 3339, such as 2026-01-31T12:00:00Z.")
	}
	switch {
	case of.Minimum != nil && of.Maximum != nil:
		add("From %d to %d.", *of.Minimum, *of.Maximum)
	case of.Minimum != nil:
		add("At least %d.", *of.Minimum)
	case of.Maximum != nil:
		add("At most %d.", *of.Maximum)
	}
	if s.MaxItems != nil {
		add("At most %d of them.", *s.MaxItems)
	}
	if s.Default != nil {
		add("Default: %v.", s.Default)
	}
	if text := plain[property.kind]; text != "" {
		add("%s", text)
	}
	return strings.Join(all, " ")
}

var (
	acronym = regexp.MustCompile(`([A-Z]+)([A-Z][a-z])`)
	hump    = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// snake turns enableDNSHostnames into enable_dns_hostnames.
func snake(name string) string {
	return strings.ToLower(hump.ReplaceAllString(acronym.ReplaceAllString(name, "${1}_$2"), "${1}_$2"))
}

// keywords of Python that could be the name of a field.
var keywords = strings.Fields("and as assert async await break class continue def del elif else except finally for from global if import in is lambda " +
	"nonlocal not or pass raise return try while with yield")
