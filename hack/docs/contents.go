/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// The table of contents stands between these two lines.
const contentsBegin, contentsEnd = "<!-- toc -->\n", "<!-- /toc -->"

var (
	fences  = regexp.MustCompile("(?s)\n```.*?\n```")
	heading = regexp.MustCompile(`(?m)^(#{2,4}) (.*)$`)
	links   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	spans   = regexp.MustCompile("`(\"[^`\"]+\"|(?:Test|Fuzz|Benchmark)[A-Za-z0-9_]+)`")
)

// withContents returns a page with a fresh table of contents; a page without a place for one stays as it is.
func withContents(page string) string {
	before, rest, found := strings.Cut(page, contentsBegin)
	_, after, closed := strings.Cut(rest, contentsEnd)
	if !found || !closed {
		return page
	}
	var lines strings.Builder
	seen := map[string]int{}
	for _, match := range heading.FindAllStringSubmatch(fences.ReplaceAllString(after, ""), -1) {
		title := strings.ReplaceAll(links.ReplaceAllString(match[2], "$1"), "`", "")
		anchor := anchorOf(title)
		if seen[anchor]++; seen[anchor] > 1 {
			anchor = fmt.Sprintf("%s-%d", anchor, seen[anchor]-1)
		}
		fmt.Fprintf(&lines, "%s- [%s](#%s)\n", strings.Repeat("  ", len(match[1])-2), title, anchor)
	}
	return before + contentsBegin + lines.String() + contentsEnd + after
}

// anchorOf is the anchor that GitHub gives to a heading.
func anchorOf(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// missingTests returns the tests that a page names in backticks and that no file holds: functions
// by their name, other tests by their text, or a part of it, in quotes.
func missingTests(path, page string, tests map[string]string) []string {
	var problems []string
	var all strings.Builder
	for _, text := range tests {
		all.WriteString(text)
	}
	for _, match := range spans.FindAllStringSubmatch(page, -1) {
		want := "func " + match[1] + "("
		if text, quoted := strings.CutPrefix(match[1], `"`); quoted {
			want = strings.Join(strings.Fields(strings.TrimSuffix(text, `"`)), " ")
		}
		if !strings.Contains(all.String(), want) {
			problems = append(problems, fmt.Sprintf("%s names %s, and there is no such test", path, match[1]))
		}
	}
	return problems
}
