/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// The table of contents stands between these two lines.
const (
	contentsBegin = "<!-- toc -->"
	contentsEnd   = "<!-- /toc -->"
)

// Levels of headings that it lists.
const (
	highestLevel = 2
	lowestLevel  = 4
)

const mendContents = "mend with: make update-kep"

// contents checks that the table of contents is the one that the headings make.
func (c *checker) contents(text string) {
	updated, err := withContents(text)
	if err != nil {
		c.problem(0, "%v", err)
		return
	}
	if updated == text {
		return
	}
	was, is := strings.Split(text, "\n"), strings.Split(updated, "\n")
	line := 0
	for line < min(len(was), len(is)) && was[line] == is[line] {
		line++
	}
	c.problem(min(line, len(was)-1), "the table of contents is not up to date; %s", mendContents)
}

// withContents returns a page with a fresh table of contents.
func withContents(text string) (string, error) {
	lines := strings.Split(text, "\n")
	p := parsePage(text)
	begin, end, err := contentsMarks(p.prose)
	if err != nil {
		return "", err
	}
	updated := append([]string{}, lines[:begin+1]...)
	for _, h := range p.headings {
		if h.level >= highestLevel && h.level <= lowestLevel {
			indent := strings.Repeat("  ", h.level-highestLevel)
			updated = append(updated, fmt.Sprintf("%s- [%s](#%s)", indent, h.text, h.anchor))
		}
	}
	return strings.Join(append(updated, lines[end:]...), "\n"), nil
}

func contentsMarks(prose []string) (begin, end int, err error) {
	begin, end = -1, -1
	for i, line := range prose {
		switch line {
		case contentsBegin:
			if begin >= 0 {
				return 0, 0, fmt.Errorf("%s stands in lines %d and %d; remove one", contentsBegin, begin+1, i+1)
			}
			begin = i
		case contentsEnd:
			if end >= 0 {
				return 0, 0, fmt.Errorf("%s stands in lines %d and %d; remove one", contentsEnd, end+1, i+1)
			}
			end = i
		}
	}
	if begin < 0 || end < begin {
		return 0, 0, errors.New("there is no place for the table of contents; below the title, add the lines " +
			contentsBegin + " and " + contentsEnd + ", then " + mendContents)
	}
	return begin, end, nil
}

// anchors makes the anchors that GitHub gives to the headings of one page.
type anchors map[string]int

// of keeps letters, digits, hyphens and underscores, and makes hyphens of blanks. The
// second heading of one name gets -1, the third -2, unless another one has that already.
func (a anchors) of(title string) string {
	base := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(title))
	anchor := base
	for {
		if _, taken := a[anchor]; !taken {
			a[anchor] = 0
			return anchor
		}
		a[base]++
		anchor = fmt.Sprintf("%s-%d", base, a[base])
	}
}
