/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command pictures draws each NAME.txt of a directory, a picture of characters in the
// notation of GoAT, as NAME.svg beside it.
//
//	pictures ../../../docs/pictures           writes
//	pictures -check ../../../docs/pictures    only says which are not fresh
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	check := flag.Bool("check", false, "write nothing, fail if a picture is not fresh")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: pictures [-check] DIRECTORY")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	sources, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return fmt.Errorf("looking for pictures: %w", err)
	}
	if len(sources) == 0 {
		return fmt.Errorf("%s has no *.txt", dir)
	}
	drawn := map[string]bool{}
	var problems []error
	for _, source := range sources {
		target := strings.TrimSuffix(source, ".txt") + ".svg"
		drawn[target] = true
		problems = append(problems, draw(source, target, check))
	}
	existing, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil {
		return fmt.Errorf("looking for pictures: %w", err)
	}
	for _, picture := range existing {
		if !drawn[picture] {
			problems = append(problems, fmt.Errorf("%s has no source: remove it or add %s.txt", picture, strings.TrimSuffix(picture, ".svg")))
		}
	}
	return errors.Join(problems...)
}

func draw(source, target string, check bool) error {
	text, err := os.ReadFile(source)
	if err != nil {
		return fmt.Errorf("reading a picture: %w", err)
	}
	title := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(source), ".txt"), "-", " ")
	want := []byte(SVG(title, string(text)))
	if !check {
		if err := os.WriteFile(target, want, 0o644); err != nil {
			return fmt.Errorf("writing a picture: %w", err)
		}
		return nil
	}
	if got, err := os.ReadFile(target); err != nil || !bytes.Equal(got, want) {
		return fmt.Errorf("%s is not what %s says; fix with: make update-pictures", target, source)
	}
	return nil
}
