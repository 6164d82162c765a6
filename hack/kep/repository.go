/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// repository is what proposals refer to.
type repository struct {
	tree fs.FS
	// dirs are the directories in the root, without those that are built or hidden.
	dirs []string
	// targets of make. One with a % stands for many.
	targets []string
	tests   map[string]packageTests
}

// look reads what all checks need.
func look(tree fs.FS) (*repository, error) {
	r := &repository{tree: tree, tests: map[string]packageTests{}}
	entries, err := fs.ReadDir(tree, ".")
	if err != nil {
		return nil, fmt.Errorf("reading the root of the repository: %w", err)
	}
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != "bin" && !strings.HasPrefix(entry.Name(), ".") {
			r.dirs = append(r.dirs, entry.Name())
		}
	}
	makefiles, err := fs.Glob(tree, "hack/make/*.mk")
	if err != nil {
		return nil, fmt.Errorf("looking for makefiles: %w", err)
	}
	for _, name := range append([]string{"Makefile"}, makefiles...) {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, fmt.Errorf("reading the targets of make: %w", err)
		}
		r.targets = append(r.targets, targetsIn(string(text))...)
	}
	return r, nil
}

var targetPattern = regexp.MustCompile(`(?m)^([A-Za-z0-9%][A-Za-z0-9%_. /-]*?)[ ]*::?(?:[^=:]|$)`)

func targetsIn(makefile string) []string {
	var targets []string
	for _, found := range targetPattern.FindAllStringSubmatch(makefile, -1) {
		targets = append(targets, strings.Fields(found[1])...)
	}
	return targets
}

func (r *repository) hasTarget(name string) bool {
	return slices.ContainsFunc(r.targets, func(target string) bool {
		before, after, isPattern := strings.Cut(target, "%")
		if !isPattern {
			return target == name
		}
		return len(name) > len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
	})
}

// has tells whether a path is there, or any that its * match.
func (r *repository) has(name string) bool {
	if name = path.Clean(name); !fs.ValidPath(name) {
		return false
	}
	found, err := fs.Glob(r.tree, name)
	return err == nil && len(found) > 0
}

func (r *repository) testsIn(dir string) (packageTests, error) {
	if tests, known := r.tests[dir]; known {
		return tests, nil
	}
	tests, err := readTests(r.tree, dir)
	if err == nil {
		r.tests[dir] = tests
	}
	return tests, err
}
