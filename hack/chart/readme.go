/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The table of values stands between these lines.
const (
	tableBegin = "<!-- The table is made from values.yaml by `make update-chart`. DO NOT EDIT. -->\n"
	tableEnd   = "<!-- End of the table. -->\n"
)

// setting is a row of the table.
type setting struct {
	path, comment, value string
}

// renderReadme returns the README with a table that says what values.yaml says.
func renderReadme(readme, values string) ([]byte, error) {
	text, err := os.ReadFile(readme)
	if err != nil {
		return nil, fmt.Errorf("reading: %w", err)
	}
	settings, err := readSettings(values)
	if err != nil {
		return nil, err
	}
	before, rest, ok := bytes.Cut(text, []byte(tableBegin))
	_, after, ok2 := bytes.Cut(rest, []byte(tableEnd))
	if !ok || !ok2 {
		return nil, fmt.Errorf("it needs the lines %q and %q", tableBegin, tableEnd)
	}
	var out bytes.Buffer
	out.Write(before)
	out.WriteString(tableBegin + "\n| value | default | what it does |\n|---|---|---|\n")
	escape := strings.NewReplacer("|", `\|`)
	for _, s := range settings {
		fmt.Fprintf(&out, "| `%s` | `%s` | %s |\n", s.path, escape.Replace(s.value), escape.Replace(s.comment))
	}
	out.WriteString("\n" + tableEnd)
	out.Write(after)
	return out.Bytes(), nil
}

// readSettings reads the rows: a value with a comment of its own is one row, and
// one without is a group of others. A value in no row is an error.
func readSettings(file string) ([]setting, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the values: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("reading the values: %w", err)
	}
	if len(document.Content) != 1 {
		return nil, fmt.Errorf("%s is not one document", file)
	}
	return collectSettings("", document.Content[0])
}

func collectSettings(prefix string, node *yaml.Node) ([]setting, error) {
	var settings []setting
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		path := prefix + key.Value
		comment := commentOf(key)
		switch {
		case comment != "":
			text, err := inline(value)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			settings = append(settings, setting{path: path, comment: comment, value: text})
		case value.Kind == yaml.MappingNode && len(value.Content) > 0:
			members, err := collectSettings(path+".", value)
			if err != nil {
				return nil, err
			}
			settings = append(settings, members...)
		default:
			return nil, fmt.Errorf("%s has no comment above it that says what it does", path)
		}
	}
	return settings, nil
}

// commentOf is the paragraph right above a key, as one line.
func commentOf(key *yaml.Node) string {
	paragraphs := strings.Split(key.HeadComment, "\n\n")
	lines := strings.Split(paragraphs[len(paragraphs)-1], "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(strings.TrimPrefix(line, "#"))
	}
	return strings.TrimSpace(strings.Join(lines, " "))
}

// inline is a value in one line of JSON, which is YAML as well.
func inline(node *yaml.Node) (string, error) {
	var value any
	if err := node.Decode(&value); err != nil {
		return "", fmt.Errorf("reading the default: %w", err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("writing the default: %w", err)
	}
	return string(text), nil
}
