/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// references checks what a page refers to outside of code fences: targets of make and paths
// of the repository in backticks, and links that are no addresses.
func (c *checker) references() {
	for _, s := range c.page.spans(0, len(c.page.prose)) {
		words := strings.Fields(s.text)
		if len(words) > 1 && words[0] == "make" {
			c.makeTargets(s.line, words[1:])
		}
		for _, word := range words {
			c.repositoryPath(s.line, word)
		}
	}
	for i, line := range c.page.prose {
		for _, link := range linksIn(line) {
			c.link(i, link)
		}
	}
}

// makeTargets checks the words after "make": neither options nor variables.
func (c *checker) makeTargets(line int, words []string) {
	for _, word := range words {
		if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		if !c.repo.hasTarget(word) {
			c.problem(line, "there is no target %s in Makefile or hack/make/*.mk; `make help` lists them", word)
		}
	}
}

// repositoryPath checks a word that has a slash and begins with a directory of the root.
func (c *checker) repositoryPath(line int, word string) {
	name := strings.TrimRight(strings.TrimPrefix(word, "./"), "/,;:)")
	name = strings.TrimSuffix(strings.TrimSuffix(name, "/..."), "/**")
	first, _, slash := strings.Cut(strings.TrimPrefix(word, "./"), "/")
	if slash && slices.Contains(c.repo.dirs, first) && !c.repo.has(name) {
		c.problem(line, "there is no %s in the repository; name a path from its root", name)
	}
}

var (
	linkPattern  = regexp.MustCompile(`\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)`)
	schemeOfLink = regexp.MustCompile(`^[a-z][a-z0-9+.-]*:|^//`)
)

func linksIn(line string) []string {
	var links []string
	for _, found := range linkPattern.FindAllStringSubmatch(spanPattern.ReplaceAllString(line, ""), -1) {
		links = append(links, found[1])
	}
	return links
}

// link checks that a relative link leads somewhere: to a file, and to a heading if it says one.
func (c *checker) link(line int, link string) {
	if schemeOfLink.MatchString(link) {
		return
	}
	target, anchor, _ := strings.Cut(link, "#")
	headings := c.page.headings
	if target != "" {
		file := path.Join(path.Dir(c.path), target)
		if path.IsAbs(target) || !c.repo.has(file) {
			c.problem(line, "the link %s leads nowhere; write it relative to %s", link, path.Dir(c.path))
			return
		}
		if path.Ext(file) != ".md" {
			return // lines of code and the like
		}
		text, err := fs.ReadFile(c.repo.tree, file)
		if err != nil {
			c.problem(line, "the link %s cannot be read: %v", link, err)
			return
		}
		headings = parsePage(string(text)).headings
	}
	if anchor == "" {
		return
	}
	if !slices.ContainsFunc(headings, func(h heading) bool { return h.anchor == anchor }) {
		c.problem(line, "the link %s leads to no heading; its anchor must be one of those that GitHub makes", link)
	}
}
