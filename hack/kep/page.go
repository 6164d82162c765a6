/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"regexp"
	"strings"
)

// page is a Markdown page. Lines are counted from 0.
type page struct {
	// prose are the lines of the page, those of code fences empty.
	prose    []string
	headings []heading
}

type heading struct {
	level, line int
	// text without the marks of code and links.
	text, anchor string
}

var (
	fencePattern   = regexp.MustCompile("^ {0,3}(`{3,}|~{3,})(.*)$")
	headingPattern = regexp.MustCompile(`^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$`)
	linkInHeading  = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

func parsePage(text string) page {
	var p page
	anchors := anchors{}
	fence := ""
	for i, line := range strings.Split(text, "\n") {
		mark := fencePattern.FindStringSubmatch(line)
		switch {
		case fence == "" && mark != nil:
			fence = mark[1]
			line = ""
		case fence != "":
			if len(mark) > 0 && strings.HasPrefix(mark[1], fence) && strings.TrimSpace(mark[2]) == "" {
				fence = ""
			}
			line = ""
		}
		p.prose = append(p.prose, line)
		if found := headingPattern.FindStringSubmatch(line); found != nil {
			title := strings.ReplaceAll(linkInHeading.ReplaceAllString(found[2], "$1"), "`", "")
			p.headings = append(p.headings, heading{len(found[1]), i, title, anchors.of(title)})
		}
	}
	return p
}

// section is the lines below a heading, up to the next one of its level or above.
func (p *page) section(level int, title string) (from, to int, ok bool) {
	for i, h := range p.headings {
		if h.level != level || !strings.EqualFold(h.text, title) {
			continue
		}
		for _, next := range p.headings[i+1:] {
			if next.level <= level {
				return h.line + 1, next.line, true
			}
		}
		return h.line + 1, len(p.prose), true
	}
	return 0, 0, false
}

// span is what stands between two backticks.
type span struct {
	text string
	line int
}

var (
	spanPattern = regexp.MustCompile("`([^`]+)`")
	blanks      = regexp.MustCompile(`\s+`)
)

// spans are the code spans of some lines. One may go on in the next line of its paragraph.
func (p *page) spans(from, to int) []span {
	var found []span
	for first := from; first < to; first++ {
		last := first
		for last < to && strings.TrimSpace(p.prose[last]) != "" {
			last++
		}
		text := strings.Join(p.prose[first:last], "\n")
		for _, at := range spanPattern.FindAllStringSubmatchIndex(text, -1) {
			found = append(found, span{
				text: strings.TrimSpace(blanks.ReplaceAllString(text[at[2]:at[3]], " ")),
				line: first + strings.Count(text[:at[0]], "\n"),
			})
		}
		first = last
	}
	return found
}
