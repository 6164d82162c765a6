/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSVGIsWellFormedAndFollowsTheMode(t *testing.T) {
	svg := SVG("a < b", ".---.\n| a |-->\n'---'\n")
	for _, part := range []string{"<title>a &lt; b</title>", "prefers-color-scheme: dark", "<rect ", "currentColor", "<path "} {
		if !strings.Contains(svg, part) {
			t.Errorf("the picture lacks %q:\n%s", part, svg)
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the picture is not XML: %v\n%s", err, svg)
		}
	}
}

func TestRun(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(t *testing.T, dir string)
		want   string
	}{
		"pictures that were just drawn are fresh": {change: func(*testing.T, string) {}},
		"a source that changed makes its picture stale": {
			change: func(t *testing.T, dir string) { write(t, dir, "a.txt", "<----") },
			want:   "make update-pictures",
		},
		"a picture that is missing is stale": {
			change: func(t *testing.T, dir string) {
				if err := os.Remove(filepath.Join(dir, "a.svg")); err != nil {
					t.Fatal(err)
				}
			},
			want: "make update-pictures",
		},
		"a picture without a source is found": {
			change: func(t *testing.T, dir string) { write(t, dir, "b.svg", "<svg/>") },
			want:   "has no source",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "a.txt", "---->")
			if err := run(dir, false); err != nil {
				t.Fatal(err)
			}
			tc.change(t, dir)
			err := run(dir, true)
			if tc.want == "" && err != nil {
				t.Errorf("unexpected: %v", err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want an error with %q", err, tc.want)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
