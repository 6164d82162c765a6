/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// relativeLink is a link of Markdown into the repository.
var relativeLink = regexp.MustCompile(`\[([^\]]*)\]\((?:[a-zA-Z]+/|[A-Z]+\.md)[^):]*\)`)

// notes writes the section of a version. Links into the repository become plain text: the
// notes are read elsewhere.
func notes(o options) error {
	changelog, err := os.ReadFile(o.args[0])
	if err != nil {
		return fmt.Errorf("reading the changelog: %w", err)
	}
	text, err := sectionOf(string(changelog), o.version)
	if err != nil {
		return fmt.Errorf("%s: %w", o.args[0], err)
	}
	return os.WriteFile(o.out, []byte(text), 0o644)
}

// sectionOf returns what is below the heading of a version, without the heading.
func sectionOf(changelog, version string) (string, error) {
	var section []string
	found := false
	for line := range strings.SplitSeq(changelog, "\n") {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			if found {
				break
			}
			found = strings.Fields(heading)[0] == version
			continue
		}
		if found {
			section = append(section, line)
		}
	}
	text := strings.TrimSpace(strings.Join(section, "\n"))
	if text == "" {
		return "", fmt.Errorf("no text below a heading \"## %s\"; write what changed for users", version)
	}
	return relativeLink.ReplaceAllString(text, "$1") + "\n", nil
}
