/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package reference

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Reasons, with the type of their events where the same statement names it.
var (
	warnings = regexp.MustCompile(`(?:\b[wW]arning\(|\.warn\(\w+, |EventTypeWarning, )constants\.(\w+)`)
	normals  = regexp.MustCompile(`(?:\b[nN]ormal\(|EventTypeNormal, )constants\.(\w+)`)
)

func TestTheReferenceHasTheTypesOfEvents(t *testing.T) {
	page, err := os.ReadFile(pages + "events.md")
	if err != nil {
		t.Fatal(err)
	}
	reasons := constantsOf(t, "pkg/constants")
	compared := 0
	compare := func(source string, calls *regexp.Regexp, want string) {
		for _, call := range calls.FindAllStringSubmatch(source, -1) {
			_, row, listed := strings.Cut(string(page), "\n| `"+reasons[call[1]]+"` | ")
			if !listed {
				continue // the reason of a condition
			}
			compared++
			if got, _, _ := strings.Cut(row, " |"); got != want {
				t.Errorf("the comment of %s says that it is %s, and the code records a %s event", call[1], got, want)
			}
		}
	}
	err = filepath.WalkDir(repository+"/pkg", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		compare(string(source), warnings, "Warning")
		compare(string(source), normals, "Normal")
		return err
	})
	if err != nil || compared < 20 {
		t.Errorf("compared the types of %d events (%v)", compared, err)
	}
}
