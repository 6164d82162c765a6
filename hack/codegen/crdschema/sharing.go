/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// sharing replaces structures that occur more than once by a reference to one
// definition. A name is that of the first property that has the structure, in
// the order of names, so that equal schemas give equal documents.
type sharing struct {
	occurrences map[string]int
	names       map[string]string
	definitions map[string]any
}

// count counts the structures below and including a schema.
func (s *sharing) count(schema map[string]any) {
	if isStructure(schema) {
		s.occurrences[identity(schema)]++
	}
	for _, child := range children(schema) {
		s.count(child.schema)
	}
}

// replaceIn returns a schema with references in the place of shared structures below it.
func (s *sharing) replaceIn(schema map[string]any) map[string]any {
	result := maps.Clone(schema)
	properties := map[string]any{}
	for _, child := range children(schema) {
		switch child.key {
		case "properties":
			properties[child.name] = s.replace(child.name, child.schema)
			result["properties"] = properties
		default:
			result[child.key] = s.replace("", child.schema)
		}
	}
	return result
}

// replace returns a reference to the schema if it is shared. The elements of a
// list have the name of the list.
func (s *sharing) replace(name string, schema map[string]any) map[string]any {
	if items, ok := schema["items"].(map[string]any); ok {
		result := maps.Clone(schema)
		result["items"] = s.replace(name, items)
		return result
	}
	id := identity(schema)
	if !isStructure(schema) || s.occurrences[id] < 2 {
		return s.replaceIn(schema)
	}
	definition, known := s.names[id]
	if !known {
		definition = s.freeName(name)
		s.names[id] = definition
		s.definitions[definition] = s.replaceIn(schema)
	}
	return map[string]any{"$ref": "#/definitions/" + definition}
}

func (s *sharing) freeName(property string) string {
	name := root + "." + property
	for i := 2; s.definitions[name] != nil; i++ {
		name = fmt.Sprintf("%s.%s%d", root, property, i)
	}
	s.definitions[name] = struct{}{} // taken
	return name
}

// part is a schema inside of another, with where it stands.
type part struct {
	key, name string
	schema    map[string]any
}

// children are the schemas directly below a schema, in a fixed order.
func children(schema map[string]any) []part {
	var parts []part
	if properties, ok := schema["properties"].(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			parts = append(parts, part{"properties", name, properties[name].(map[string]any)})
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if child, ok := schema[key].(map[string]any); ok {
			parts = append(parts, part{key, "", child})
		}
	}
	return parts
}

func isStructure(schema map[string]any) bool {
	return schema["properties"] != nil
}

// identity is equal for equal schemas: encoding sorts the keys.
func identity(schema map[string]any) string {
	encoded, err := json.Marshal(schema)
	if err != nil {
		panic(err) // cannot be: made of maps, slices and scalars
	}
	return string(encoded)
}
