/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	mit  = "Copyright (c) A\n\nPermission is hereby granted, free of charge, to any person obtaining a copy\nof this software and associated documentation files (the \"Software\"), ..."
	bsd2 = "Redistribution and use in source and binary forms, with or without\nmodification, are permitted provided that the following conditions are met:\n"
	bsd3 = bsd2 + "// * Neither the name of A nor the names of its contributors may be used to\n// endorse or promote products derived from this software without\n// specific prior written permission.\n"
	isc  = "Permission to use, copy, modify, and/or distribute this software for any\npurpose with or without fee is hereby granted, provided that ...\n"
	gpl  = "                    GNU GENERAL PUBLIC LICENSE\n                       Version 3, 29 June 2007\n"
)

func TestLicencesAreKnownByTheirSentences(t *testing.T) {
	apache := contents(t, "../../LICENSE")
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"our own":                   {apache, []string{"Apache-2.0"}},
		"MIT":                       {mit, []string{"MIT"}},
		"two clauses of BSD":        {bsd2, []string{"BSD-2-Clause"}},
		"three clauses, as comment": {bsd3, []string{"BSD-3-Clause"}},
		"ISC":                       {isc, []string{"ISC"}},
		"the short form of Apache":  {"Licensed under the Apache License, Version 2.0 (the \"License\");", []string{"Apache-2.0"}},
		"two in one file":           {mit + apache, []string{"Apache-2.0", "MIT"}},
		"one that is not allowed":   {gpl, []string{"GPL"}},
		"none":                      {"All rights reserved.", nil},
	} {
		if got := recognise(test.text); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestAModuleWithoutAKnownAndAllowedLicenceIsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  string // of the error; empty: none
	}{
		"a licence and a notice":     {files: map[string]string{"LICENSE.md": mit, "NOTICE": "by A"}},
		"two licences, both allowed": {files: map[string]string{"LICENSE": mit, "LICENSE-libyaml": bsd2}},
		"none":                       {files: map[string]string{"README.md": mit}, want: "no licence file"},
		"an unknown one":             {files: map[string]string{"LICENSE": "mine"}, want: "add a phrase of it"},
		"an unknown one beside MIT":  {files: map[string]string{"COPYING": "mine", "LICENSE": mit}, want: "add a phrase of it"},
		"one that is not allowed":    {files: map[string]string{"LICENSE": gpl}, want: "GPL is not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range test.files {
				write(t, 0o644, text, dir, file)
			}
			read, err := readTerms(dir)
			if err == nil {
				err = read.check()
			}
			switch {
			case test.want == "" && (err != nil || len(read.texts) != len(test.files)):
				t.Errorf("%d texts, %v", len(read.texts), err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if _, err := readTerms(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a module that is not there was accepted")
	}
}
