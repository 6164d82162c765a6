/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Site is a built site and what its links may lead to.
type Site struct {
	// Base is the address that the site is published at, with a slash at the end.
	Base string
	// Repository is the address of the source, without a slash at the end.
	Repository string
	// Pages are the HTML files by their path below Base; Files are all files.
	Pages map[string]Page
	Files map[string]bool
	// InRepository says whether the repository has a file or directory of this path.
	InRepository func(path string) bool
}

// Finding is one thing that is wrong.
type Finding struct {
	Page, Text string
}

// Check returns all that is wrong, by page. It reads nothing but its argument.
func Check(site Site) []Finding {
	var findings []Finding
	for _, at := range slices.Sorted(maps.Keys(site.Pages)) {
		page := site.Pages[at]
		texts := slices.Concat(structure(page), page.Nameless, site.links(at, page), site.loads(at, page))
		for _, text := range texts {
			findings = append(findings, Finding{Page: at, Text: text})
		}
	}
	return findings
}

// structure looks at what every page has.
func structure(page Page) []string {
	var texts []string
	if page.Title == "" {
		texts = append(texts, "the page has no title")
	}
	if page.Language == "" {
		texts = append(texts, "the page names no language: <html lang=...>")
	}
	if page.Mains != 1 {
		texts = append(texts, fmt.Sprintf("the page has %d main elements, it should have 1", page.Mains))
	}
	for _, id := range slices.Sorted(maps.Keys(page.IDs)) {
		if count := page.IDs[id]; count > 1 {
			texts = append(texts, fmt.Sprintf("id %q is there %d times", id, count))
		}
	}
	previous := 0
	for _, level := range page.Headings {
		if level > previous+1 {
			texts = append(texts, fmt.Sprintf("a heading of level %d follows one of level %d", level, previous))
		}
		previous = level
	}
	if count := len(slices.DeleteFunc(slices.Clone(page.Headings), func(level int) bool { return level != 1 })); count != 1 {
		texts = append(texts, fmt.Sprintf("the page has %d headings of level 1, it should have 1", count))
	}
	return texts
}

func (s Site) links(at string, page Page) []string {
	var texts []string
	for _, href := range unique(page.Links) {
		if text := s.link(at, href); text != "" {
			texts = append(texts, fmt.Sprintf("link %q: %s", href, text))
		}
	}
	return texts
}

// link says what is wrong with a link, or nothing. Other hosts are not asked.
func (s Site) link(at, href string) string {
	if rest, ok := strings.CutPrefix(href, s.Repository+"/"); ok {
		return s.repositoryLink(rest)
	}
	target, err := s.resolve(at, href)
	if err != nil {
		return err.Error()
	}
	if target == nil {
		return ""
	}
	file := fileOf(target.Path)
	if !s.Files[file] {
		if s.Files[file+"/index.html"] {
			return "it lacks the slash at its end"
		}
		return "there is no such page"
	}
	if target.Fragment == "" {
		return ""
	}
	if other, isPage := s.Pages[file]; isPage && other.IDs[target.Fragment] == 0 {
		return fmt.Sprintf("that page has no section #%s", target.Fragment)
	}
	return ""
}

// repositoryLink looks at links to files, on the main branch, by the checkout.
func (s Site) repositoryLink(rest string) string {
	parts := strings.SplitN(rest, "/", 3)
	if len(parts) < 3 || !slices.Contains([]string{"blob", "tree", "edit"}, parts[0]) {
		return ""
	}
	if parts[1] != "main" {
		return "it does not lead to the main branch"
	}
	target, err := url.Parse(parts[2])
	if err != nil {
		return err.Error()
	}
	if !s.InRepository(target.Path) {
		return fmt.Sprintf("the repository has no %s", target.Path)
	}
	return ""
}

// loads looks at what a browser fetches: it is there, and on this host.
func (s Site) loads(at string, page Page) []string {
	var texts []string
	for _, href := range unique(page.Loads) {
		target, err := s.resolve(at, href)
		switch {
		case err != nil:
			texts = append(texts, fmt.Sprintf("%q: %v", href, err))
		case target == nil:
			texts = append(texts, fmt.Sprintf("%q is fetched from another host", href))
		case !s.Files[fileOf(target.Path)]:
			texts = append(texts, fmt.Sprintf("%q: there is no such file", href))
		}
	}
	return texts
}

// resolve returns where a reference on a page leads, with its path below Base. It is nil on other hosts.
func (s Site) resolve(at, href string) (*url.URL, error) {
	base, err := url.Parse(s.Base)
	if err != nil {
		return nil, err
	}
	reference, err := url.Parse(href)
	if err != nil {
		return nil, err
	}
	address := strings.TrimSuffix("/"+at, "index.html")
	target := base.ResolveReference(&url.URL{Path: path.Join(base.Path, address) + slashOf(address)}).ResolveReference(reference)
	if target.Host != base.Host || (target.Scheme != "http" && target.Scheme != "https") {
		return nil, nil
	}
	below, ok := strings.CutPrefix(target.Path, base.Path)
	if !ok {
		return nil, fmt.Errorf("it leads out of %s", s.Base)
	}
	target.Path = below
	return target, nil
}

func slashOf(address string) string {
	if address != "/" && strings.HasSuffix(address, "/") {
		return "/"
	}
	return ""
}

// fileOf is the file that a server sends for a path.
func fileOf(below string) string {
	if below == "" || strings.HasSuffix(below, "/") {
		return below + "index.html"
	}
	return below
}

func unique(values []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(values)))
}
