/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package setting

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatIsWrongIsOneLine(t *testing.T) {
	t.Parallel()
	env := Env{Lookup: func(string) (string, bool) { return "x\ny", true }}
	env.Number("A", 1, 0, 9)
	env.Directory("B", "socket", 107, "fix it")
	var stderr strings.Builder
	Tell(&stderr, "program", fmt.Errorf("starting: %w", env.Err()))
	want := `program: A is "x\ny"; set a whole number from 0 to 9, or leave it out for 1 | B is "x\ny", which is not an absolute path; fix it` + "\n"
	if stderr.String() != want {
		t.Errorf("got  %s\nwant %s", stderr.String(), want)
	}
}

func TestTheTerminationLog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "termination-log")
	tell(path, "nobody made the file")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("P37: the file was made: %v", err)
	}
	if err := os.WriteFile(path, []byte("a longer line of the process before this one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tell(path, "jobset-agent: X is wrong; set it")
	got, err := os.ReadFile(path)
	if want := "jobset-agent: X is wrong; set it\n"; err != nil || string(got) != want {
		t.Errorf("P37: the file holds %q, %v; want %q", got, err, want)
	}
}
