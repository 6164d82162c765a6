/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// allowed are the licences that a module of a release may have. They ask for nothing more than
// that their text and copyright go with the binaries, which THIRD-PARTY-LICENSES does.
var allowed = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT"}

// phrases are sentences that only one licence has.
var phrases = []struct{ licence, phrase string }{
	{"Apache-2.0", "apache license version 2.0, january 2004"},
	{"Apache-2.0", "licensed under the apache license, version 2.0"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"MPL-2.0", "mozilla public license, version 2.0"},
	{"GPL", "gnu general public license"},
	{"AGPL", "gnu affero general public license"},
	{"LGPL", "gnu lesser general public license"},
	{"CC-BY-SA", "creative commons attribution-sharealike"},
	{"EPL", "eclipse public license"},
	{"BUSL", "business source license"},
	{"SSPL", "server side public license"},
}

const (
	bsd           = "redistribution and use in source and binary forms, with or without modification, are permitted provided that the following conditions are met"
	bsdNoApproval = "may be used to endorse or promote products derived from this software without specific prior written permission"
)

var (
	spaces       = regexp.MustCompile(`[\s*#/]+`)
	licenceFiles = regexp.MustCompile(`(?i)^(li[cs]en[cs]e|copying)([-.].*)?$`)
	noticeFiles  = regexp.MustCompile(`(?i)^(notice|patents)([-.].*)?$`)
)

// plain makes texts comparable that differ in capitals, line breaks and marks of comments.
func plain(text string) string { return spaces.ReplaceAllString(strings.ToLower(text), " ") }

// recognise returns the licences in a text, sorted. None means that it has no known one.
func recognise(text string) []string {
	text = plain(text)
	var found []string
	for _, p := range phrases {
		if strings.Contains(text, plain(p.phrase)) {
			found = append(found, p.licence)
		}
	}
	switch {
	case !strings.Contains(text, bsd):
	case strings.Contains(text, bsdNoApproval):
		found = append(found, "BSD-3-Clause")
	default:
		found = append(found, "BSD-2-Clause")
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// terms are the licences of a module, and the texts that must go with it.
type terms struct {
	licences []string
	texts    []string
}

// expression is how SPDX writes that all of the licences apply.
func (t terms) expression() string { return strings.Join(t.licences, " AND ") }

// readTerms reads the files in the root of a module. A part of a module that has a licence
// of its own in a directory of its own is not seen.
func readTerms(directory string) (terms, error) {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return terms{}, fmt.Errorf("looking for a licence: %w", err)
	}
	var t terms
	for _, entry := range entries {
		licence := licenceFiles.MatchString(entry.Name())
		if entry.IsDir() || !licence && !noticeFiles.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(directory, entry.Name()))
		if err != nil {
			return terms{}, fmt.Errorf("reading a licence: %w", err)
		}
		t.texts = append(t.texts, strings.TrimRight(string(text), "\n"))
		if !licence {
			continue
		}
		found := recognise(string(text))
		if len(found) == 0 {
			return terms{}, fmt.Errorf("the licence in %s is not known; add a phrase of it to hack/release/licences.go", filepath.Join(directory, entry.Name()))
		}
		t.licences = append(t.licences, found...)
	}
	if len(t.licences) == 0 {
		return terms{}, fmt.Errorf("%s has no licence file", directory)
	}
	slices.Sort(t.licences)
	t.licences = slices.Compact(t.licences)
	return t, nil
}

// check fails if a licence is not allowed.
func (t terms) check() error {
	for _, licence := range t.licences {
		if !slices.Contains(allowed, licence) {
			return fmt.Errorf("the licence %s is not allowed; allowed are %s: remove the dependency, or add the licence to hack/release/licences.go after review",
				licence, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// licences checks the licences of all modules in some binaries and writes their texts, or lists them.
func licences(o options) error {
	_, modules, err := readBuilds(o.args)
	if err != nil {
		return err
	}
	from, err := findSources()
	if err != nil {
		return err
	}
	var texts strings.Builder
	var errs []error
	for _, m := range modules {
		t, err := readTerms(from.directory(m))
		if err == nil {
			err = t.check()
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", m, err))
			continue
		}
		if o.out == "" {
			fmt.Fprintf(os.Stdout, "%-30s %s\n", t.expression(), m)
		}
		fmt.Fprintf(&texts, "==== %s\n==== %s\n\n%s\n\n", m, t.expression(), strings.Join(t.texts, "\n\n"))
	}
	if len(errs) > 0 || o.out == "" {
		return errors.Join(errs...)
	}
	return os.WriteFile(o.out, []byte(texts.String()), 0o644)
}
