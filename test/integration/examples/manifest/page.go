/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manifest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var includeLine = regexp.MustCompile(`\{\{<\s*include\s+"([^"]+\.ya?ml)"\s*>\}\}`)

// Page is what a page of the site shows of YAML.
type Page struct {
	// Path from the root of the repository, with slashes.
	Path string
	// Includes are the manifests of the repository that it includes, by their paths.
	Includes []string
	// Fences are the YAML documents that it contains itself, without the indentation of their fence.
	Fences []string
}

// Pages reads all Markdown below a directory of the repository.
func Pages(root, dir string) ([]Page, error) {
	var pages []Page
	err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		pages = append(pages, page(filepath.ToSlash(name), string(text)))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the pages of %s: %w", dir, err)
	}
	return pages, nil
}

func page(path, text string) Page {
	page := Page{Path: path}
	for _, match := range includeLine.FindAllStringSubmatch(text, -1) {
		page.Includes = append(page.Includes, match[1])
	}
	slices.Sort(page.Includes)
	page.Includes = slices.Compact(page.Includes)
	page.Fences = fences(text)
	return page
}

// fences are the YAML documents between lines ```yaml and ```.
func fences(text string) []string {
	const none, other, inYAML = 0, 1, 2
	var found []string
	var document strings.Builder
	end := func() {
		if document.Len() > 0 {
			found = append(found, document.String())
		}
		document.Reset()
	}
	state, indentation := none, ""
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		language, isFence := strings.CutPrefix(bare, "```")
		switch {
		case isFence && state == none && (strings.HasPrefix(language, "yaml") || strings.HasPrefix(language, "yml")):
			state = inYAML
			indentation, _, _ = strings.Cut(line, "`")
		case isFence && state == none:
			state = other
		case isFence:
			end()
			state = none
		case state == inYAML && bare == "---":
			end()
		case state == inYAML:
			document.WriteString(strings.TrimPrefix(line, indentation))
		}
	}
	return found
}
