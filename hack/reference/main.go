/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command reference writes the pages of the site's reference that follow from the code: API,
// configuration, labels and annotations, conditions, events, metrics and the agent.
//
//	reference            writes the pages
//	reference --check    writes nothing, and fails if a page is not what the code makes of it
//
// What a page says around its tables stands in pages/NAME.md, a text/template with [[ ]] as
// delimiters, since {{ }} belongs to the site. A table that the code does not hold whole, such as
// when an event is sent, stands in reasons.go, labels.go or agent.go, and the command fails if
// it misses a constant of the code, or names one that is gone.
package main

import (
	"bytes"
	"embed"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/template"
)

// directory is where the pages are, relative to the root of the repository.
const directory = "site/content/en/docs/reference"

//go:embed pages/*.md
var templates embed.FS

// page is one page: the name of its file, and what its template needs.
type page struct {
	file string
	data func(root string) (map[string]string, error)
}

var pages = []page{
	{"api.md", apiPage},
	{"configuration.md", configurationPage},
	{"labels-and-annotations.md", labelsPage},
	{"conditions.md", conditionsPage},
	{"events.md", eventsPage},
	{"metrics.md", metricsPage},
	{"agent.md", agentPage},
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process: it returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("reference", flag.ContinueOnError)
	flags.SetOutput(stderr)
	root := flags.String("root", ".", "root of the repository")
	check := flags.Bool("check", false, "write nothing, fail if a page is stale")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	status := 0
	for _, p := range pages {
		text, err := p.render(*root)
		if err == nil && *check {
			err = compare(*root, p.file, text)
		} else if err == nil {
			err = write(*root, p.file, text)
		}
		if err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", filepath.Join(directory, p.file), err)
			status = 1
		}
	}
	if status == 0 && !*check {
		fmt.Fprintf(stdout, "%d pages are in %s\n", len(pages), directory)
	}
	return status
}

// render is the page as the code makes it now.
func (p page) render(root string) ([]byte, error) {
	parsed, err := template.New(p.file).Delims("[[", "]]").Option("missingkey=error").ParseFS(templates, "pages/"+p.file)
	if err != nil {
		return nil, fmt.Errorf("reading the template: %w", err)
	}
	data, err := p.data(root)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := parsed.Execute(&text, data); err != nil {
		return nil, fmt.Errorf("filling in the template: %w", err)
	}
	return text.Bytes(), nil
}

func write(root, file string, text []byte) error {
	if err := os.MkdirAll(filepath.Join(root, directory), 0o755); err != nil {
		return fmt.Errorf("making the directory: %w", err)
	}
	if err := os.WriteFile(filepath.Join(root, directory, file), text, 0o644); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// compare fails if a page is not the text, and shows the first line that differs.
func compare(root, file string, text []byte) error {
	have, err := os.ReadFile(filepath.Join(root, directory, file))
	if err != nil {
		return fmt.Errorf("reading the page: %w", err)
	}
	if bytes.Equal(have, text) {
		return nil
	}
	is, want := bytes.Split(have, []byte("\n")), bytes.Split(text, []byte("\n"))
	line := 0
	for line < len(is) && line < len(want) && bytes.Equal(is[line], want[line]) {
		line++
	}
	return fmt.Errorf("the page is not what the code says, from line %d on:\n- %s\n+ %s", line+1, lineOf(is, line), lineOf(want, line))
}

func lineOf(lines [][]byte, line int) []byte {
	if line < len(lines) {
		return lines[line]
	}
	return []byte("(the end)")
}
