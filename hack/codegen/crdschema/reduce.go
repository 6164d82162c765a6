/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

// kept are the parts of a schema that decide how values merge, besides its children.
var kept = []string{
	"type",
	"x-kubernetes-list-type",
	"x-kubernetes-list-map-keys",
	"x-kubernetes-map-type",
	"x-kubernetes-preserve-unknown-fields",
}

// reduce leaves of a schema what merging looks at.
func reduce(schema map[string]any) map[string]any {
	if schema["x-kubernetes-int-or-string"] == true {
		return map[string]any{"type": "string", "format": "int-or-string"}
	}
	reduced := map[string]any{}
	for _, key := range kept {
		if value, ok := schema[key]; ok {
			reduced[key] = value
		}
	}
	switch schema["type"] {
	case "string":
		if format, ok := schema["format"]; ok {
			reduced["format"] = format
		}
		// A key of a list may be left out if it has a default.
		if value, ok := schema["default"]; ok {
			reduced["default"] = value
		}
	case "array":
		if items, ok := schema["items"].(map[string]any); ok {
			reduced["items"] = reduce(items)
		}
	case "object":
		if properties, ok := schema["properties"].(map[string]any); ok {
			children := map[string]any{}
			for name, child := range properties {
				children[name] = reduce(child.(map[string]any))
			}
			reduced["properties"] = children
		} else if values, ok := schema["additionalProperties"].(map[string]any); ok {
			reduced["additionalProperties"] = reduce(values)
		}
	}
	return reduced
}

// objectMeta is the schema of metadata, which is the same for all kinds.
func objectMeta() map[string]any {
	text := map[string]any{"type": "string"}
	number := map[string]any{"type": "integer"}
	flag := map[string]any{"type": "boolean"}
	moment := map[string]any{"type": "string", "format": "date-time"}
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties}
	}
	texts := map[string]any{"type": "object", "additionalProperties": text}

	owner := object(map[string]any{
		"apiVersion": text, "kind": text, "name": text, "uid": text,
		"blockOwnerDeletion": flag, "controller": flag,
	})
	owner["x-kubernetes-map-type"] = "atomic"
	manager := object(map[string]any{
		"apiVersion": text, "fieldsType": text, "manager": text, "operation": text, "subresource": text,
		"fieldsV1": map[string]any{"type": "object"}, "time": moment,
	})

	return object(map[string]any{
		"name": text, "generateName": text, "namespace": text,
		"uid": text, "resourceVersion": text, "selfLink": text, "generation": number,
		"creationTimestamp": moment, "deletionTimestamp": moment, "deletionGracePeriodSeconds": number,
		"labels": texts, "annotations": texts,
		"finalizers": map[string]any{"type": "array", "items": text, "x-kubernetes-list-type": "set"},
		"ownerReferences": map[string]any{
			"type": "array", "items": owner,
			"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"uid"},
		},
		"managedFields": map[string]any{"type": "array", "items": manager, "x-kubernetes-list-type": "atomic"},
	})
}
