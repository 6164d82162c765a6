/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// escapes keeps what Go comments say from being read as Markdown, as HTML or as the site's own language.
var escapes = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "<", "&lt;", ">", "&gt;", "{{", "&#123;&#123;", "}}", "&#125;&#125;",
)

func escape(text string) string { return escapes.Replace(text) }

// code shows a value as it is typed. A bar would end the cell of a table even here.
func code(text string) string {
	text = strings.ReplaceAll(text, "|", `\|`)
	if strings.Contains(text, "`") {
		return "`` " + text + " ``"
	}
	return "`" + text + "`"
}

func codes(values []string) string {
	shown := make([]string, len(values))
	for i, value := range values {
		shown[i] = code(value)
	}
	return strings.Join(shown, ", ")
}

// table is a table in Markdown.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) String() string {
	var b strings.Builder
	line := func(cells []string) {
		b.WriteString("|")
		for _, cell := range cells {
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
	}
	line(t.head)
	b.WriteString("|" + strings.Repeat("---|", len(t.head)) + "\n")
	for _, row := range t.rows {
		line(row)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
