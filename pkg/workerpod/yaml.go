/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// YAML renders an API value as the lines a user would write, in the order of
// its Go fields and without empty objects. It is made for messages that show
// what is missing, so that they are built from the very values that are wanted.
func YAML(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return "" // API types always marshal; a message without its example still says what is wrong
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var lines []string
	lines = block(readNode(decoder), lines, "")
	return strings.Join(lines, "\n")
}

// member keeps the order that a map would lose.
type member struct {
	key   string
	value any
}

// readNode returns []member, []any or the text of a scalar.
func readNode(decoder *json.Decoder) any {
	token, _ := decoder.Token()
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			list := []any{}
			for decoder.More() {
				list = append(list, readNode(decoder))
			}
			_, _ = decoder.Token()
			return list
		}
		object := []member{}
		for decoder.More() {
			key, _ := decoder.Token()
			name, _ := key.(string)
			if value := readNode(decoder); !isEmpty(value) {
				object = append(object, member{name, value})
			}
		}
		_, _ = decoder.Token()
		return object
	case string:
		return scalar(t)
	case json.Number:
		return t.String()
	case bool:
		return strconv.FormatBool(t)
	}
	return "null"
}

func isEmpty(node any) bool {
	object, ok := node.([]member)
	return ok && len(object) == 0
}

func block(node any, lines []string, indent string) []string {
	switch n := node.(type) {
	case []member:
		for _, m := range n {
			head := indent + scalar(m.key) + ":"
			if inline, ok := inlined(m.value); ok {
				lines = append(lines, head+" "+inline)
				continue
			}
			deeper := indent + "  "
			if _, isList := m.value.([]any); isList {
				deeper = indent // as kubectl writes lists
			}
			lines = block(m.value, append(lines, head), deeper)
		}
	case []any:
		for _, item := range n {
			at := len(lines)
			if lines = block(item, lines, indent+"  "); len(lines) == at {
				lines = append(lines, indent+"  {}")
			}
			lines[at] = indent + "- " + lines[at][len(indent)+2:]
		}
	case string:
		lines = append(lines, indent+n)
	}
	return lines
}

// inlined renders scalars and lists of scalars, which read better on the line of their key.
func inlined(node any) (string, bool) {
	switch n := node.(type) {
	case string:
		return n, true
	case []any:
		items := make([]string, 0, len(n))
		for _, item := range n {
			text, ok := item.(string)
			if !ok {
				return "", false
			}
			items = append(items, text)
		}
		return "[" + strings.Join(items, ", ") + "]", true
	}
	return "", false
}

var (
	plainText = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9_./-]*$`)
	notText   = regexp.MustCompile(`(?i)^(true|false|null|yes|no|on|off|y|n)$`)
)

func scalar(text string) string {
	if plainText.MatchString(text) && !notText.MatchString(text) {
		return text
	}
	return strconv.Quote(text)
}
