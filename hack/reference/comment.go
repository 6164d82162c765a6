/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"strconv"
	"strings"
)

// comment is a Go comment: what it says to people, in paragraphs, and its markers.
type comment struct {
	paragraphs []string
	markers    []marker
}

// marker is a line of a comment that speaks to generators: +name or +name=value.
type marker struct{ name, value string }

// parseComment splits a comment. Lines that begin with + are markers.
func parseComment(group *ast.CommentGroup) comment {
	var c comment
	var paragraph []string
	flush := func() {
		if len(paragraph) > 0 {
			c.paragraphs = append(c.paragraphs, strings.Join(paragraph, " "))
			paragraph = nil
		}
	}
	for line := range strings.Lines(group.Text()) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			flush()
		case strings.HasPrefix(line, "+"):
			// The first = or :=, after the colons of the name.
			name, value, _ := strings.Cut(line[1:], "=")
			if i := strings.Index(name, "XValidation:"); i >= 0 {
				name, value, _ = strings.Cut(line[1:], "XValidation:")
				name += "XValidation"
			}
			if i := strings.Index(name, "printcolumn:"); i >= 0 {
				name, value, _ = strings.Cut(line[1:], "printcolumn:")
				name += "printcolumn"
			}
			c.markers = append(c.markers, marker{name, value})
		default:
			paragraph = append(paragraph, line)
		}
	}
	flush()
	return c
}

// text is the comment in one line.
func (c comment) text() string { return strings.Join(c.paragraphs, " ") }

// about is the comment in one line, without the name of what it is about, which stands beside it:
// "qps is how many" becomes "How many", "JobKey holds the" becomes "Holds the".
func (c comment) about(name string) string {
	text := c.text()
	first, rest, _ := strings.Cut(text, " ")
	verb, object, _ := strings.Cut(rest, " ")
	switch {
	case first == name+":" || first == name+",":
		text = rest
	case first != name:
	case verb == "is" || verb == "are":
		text = object
	case strings.HasSuffix(strings.TrimSuffix(verb, ","), "s"):
		text = rest
	}
	return upperFirst(text)
}

func upperFirst(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

func (c comment) has(name string) bool {
	for _, m := range c.markers {
		if m.name == name {
			return true
		}
	}
	return false
}

// limits are the markers of the schema that mean a limit, and how people say it.
var limits = map[string]string{
	"Minimum":   "at least %s",
	"Maximum":   "at most %s",
	"MinItems":  "at least %s items",
	"MaxItems":  "at most %s items",
	"MinLength": "at least %s bytes",
	"MaxLength": "at most %s bytes",
	"Pattern":   "must match %s",
}

// rules says what the markers of a field, or of a type, demand of its values. A marker of the
// schema that this does not know is an error: the page would miss a rule.
func (c comment) rules() ([]string, error) {
	var rules []string
	for _, m := range c.markers {
		kind, isSchema := strings.CutPrefix(m.name, "kubebuilder:validation:")
		switch {
		case m.name == "kubebuilder:default":
			rules = append(rules, "default "+code(m.value))
		case m.name == "listMapKey":
			rules = append(rules, "unique by "+code(m.value))
		case !isSchema, kind == "Optional", kind == "Required":
		case kind == "Enum":
			rules = append(rules, "one of "+codes(strings.Split(m.value, ";")))
		case kind == "XValidation":
			rule, err := validationRule(m.value)
			if err != nil {
				return nil, err
			}
			rules = append(rules, rule)
		case limits[kind] != "":
			rules = append(rules, fmt.Sprintf(limits[kind], code(strings.Trim(m.value, "`"))))
		default:
			return nil, fmt.Errorf("marker +%s is not known; teach it to limits in hack/reference/comment.go", m.name)
		}
	}
	return rules, nil
}

// validationRule says an XValidation by its message, and immutability by its name.
func validationRule(value string) (string, error) {
	arguments, err := parseArguments(value)
	if err != nil {
		return "", fmt.Errorf("marker XValidation: %w", err)
	}
	switch {
	case arguments["rule"] == "self == oldSelf":
		return "immutable", nil
	case arguments["message"] == "":
		return "", errors.New("marker XValidation has no message; add message=\"...\", which users are shown")
	}
	return "refused otherwise: " + code(arguments["message"]), nil
}

// parseArguments parses name=value,name="value", the arguments of a marker.
func parseArguments(text string) (map[string]string, error) {
	arguments := map[string]string{}
	for text != "" {
		name, rest, found := strings.Cut(text, "=")
		if !found {
			return nil, fmt.Errorf("%q is not name=value", text)
		}
		var value string
		if strings.HasPrefix(rest, `"`) {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return nil, fmt.Errorf("the value of %s is not a string that ends: %w", name, err)
			}
			if value, err = strconv.Unquote(quoted); err != nil {
				return nil, fmt.Errorf("the value of %s: %w", name, err)
			}
			rest = strings.TrimPrefix(rest[len(quoted):], ",")
		} else {
			value, rest, _ = strings.Cut(rest, ",")
		}
		arguments[strings.TrimSpace(name)] = value
		text = rest
	}
	return arguments, nil
}
