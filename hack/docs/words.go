/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// stylePath is the page with the table of banned words, and wordsHeading the section that holds it.
const (
	stylePath    = "docs/style.md"
	wordsHeading = "## Banned words"
)

// bannedWords returns what to write in the place of each banned word, by that word in lower case.
func bannedWords(page string) (map[string]string, error) {
	_, section, found := strings.Cut(page, "\n"+wordsHeading+"\n")
	if !found {
		return nil, fmt.Errorf("%s has no section %q", stylePath, wordsHeading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	words := map[string]string{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 4 || strings.HasPrefix(cells[1], "-") || strings.TrimSpace(cells[1]) == "banned" {
			continue
		}
		for word := range strings.SplitSeq(cells[1], ",") {
			words[strings.ToLower(strings.Trim(word, " `"))] = strings.TrimSpace(cells[2])
		}
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("the section %q of %s bans no words", wordsHeading, stylePath)
	}
	return words, nil
}

// wordsPattern finds each of the words, in any case, also right behind an escape of a Go string.
func wordsPattern(words map[string]string) *regexp.Regexp {
	var quoted []string
	for word := range words {
		quoted = append(quoted, strings.ReplaceAll(regexp.QuoteMeta(word), " ", `\s`))
	}
	slices.Sort(quoted)
	return regexp.MustCompile(`(?i)(?:\b|\\[nt])(` + strings.Join(quoted, "|") + `)\b`)
}

// misworded returns the banned words of a file.
func misworded(path, text string, pattern *regexp.Regexp, words map[string]string) []string {
	var problems []string
	for i, line := range strings.Split(text, "\n") {
		for _, found := range pattern.FindAllStringSubmatch(line, -1) {
			problems = append(problems, fmt.Sprintf("%s:%d: %q is banned by %s; write: %s", path, i+1, found[1], stylePath, words[strings.ToLower(found[1])]))
		}
	}
	return problems
}

// checkWords looks for banned words in code, manifests, scripts and pages below root.
func checkWords(root string) ([]string, error) {
	page, err := os.ReadFile(filepath.Join(root, stylePath))
	if err != nil {
		return nil, err
	}
	words, err := bannedWords(string(page))
	if err != nil {
		return nil, err
	}
	pattern, problems := wordsPattern(words), []string(nil)
	checked := func(path string) bool {
		return slices.Contains([]string{".go", ".md", ".yaml", ".sh", ".html", ".js"}, filepath.Ext(path)) &&
			path != stylePath && path != "hack/docs/words_test.go"
	}
	err = readFiles(root, "node_modules", checked, func(path, text string) {
		problems = append(problems, misworded(path, text, pattern, words)...)
	})
	return problems, err
}
