/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command mutants puts mistakes into the code that decides, one at a time, and looks
// whether the search of package sequence finds each, or the test that is named beside it. The sources are not touched: the build
// sees changed copies of them (go test -overlay).
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	only := flag.String("run", "", "only mutants whose name matches this expression")
	verbose := flag.Bool("v", false, "show the schedule that finds each")
	flag.Parse()
	survived, err := runAll(regexp.MustCompile(*only), *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
	if survived > 0 {
		fmt.Fprintf(os.Stderr, "mutants: %d were not found\n", survived)
		os.Exit(1)
	}
}

// sideBySide is how many mutants are tried at a time: compiling one is a chain that keeps one core busy.
const sideBySide = 2

func runAll(only *regexp.Regexp, verbose bool) (survived int, err error) {
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return 0, fmt.Errorf("making a directory for the copies: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	fmt.Printf("%-50s %-8s %-12s %6s %7s\n", "mutant", "where", "found by", "steps", "time")
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(sideBySide)
	for i, m := range all() {
		if !only.MatchString(m.name) {
			continue
		}
		group.Go(func() error {
			began := time.Now()
			out, err := m.run(filepath.Join(dir, fmt.Sprint(i)))
			if err != nil {
				return fmt.Errorf("mutant %q: %w", m.name, err)
			}
			mu.Lock()
			defer mu.Unlock()
			by, steps := verdict(out)
			if by != "" && m.by != "" {
				by = "its test"
			}
			if by == "" {
				by = "NOTHING"
				survived++
			}
			fmt.Printf("%-50s %-8s %-12s %6s %6.1fs\n", m.name, m.where(), by, steps, time.Since(began).Seconds())
			if verbose {
				fmt.Println(out)
			}
			return nil
		})
	}
	err = group.Wait() // before survived is read
	return survived, err
}

func (m *mutant) where() string {
	if m.twist != "" {
		return "model"
	}
	return strings.FieldsFunc(strings.TrimPrefix(m.at, "pkg/"), func(r rune) bool { return r == '/' || r == '.' })[0]
}

func (m *mutant) level() string {
	if m.full {
		return "full"
	}
	return "bounded"
}

// run searches with the mutant in place and returns what go test printed.
func (m *mutant) run(dir string) (string, error) {
	args := []string{"test", "./test/sequence", "-count=1", "-vet=off", "-timeout=30m", "-run=^(TestEverySchedule|TestStories)$", "-v"}
	if m.by != "" {
		args = []string{"test", m.in, "-count=1", "-vet=off", "-timeout=30m", "-run=^" + m.by}
	}
	flags := []string{"-sequence.level=" + m.level(), "-sequence.case=" + m.scenarios}
	if m.twist != "" {
		flags = append(flags, "-sequence.twist="+m.twist)
	} else {
		overlay, err := m.overlay(dir)
		if err != nil {
			return "", err
		}
		args = append(args, "-overlay="+overlay)
	}
	if m.by != "" {
		flags = nil
	}
	var out bytes.Buffer
	cmd := exec.Command("go", append(args, flags...)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	text := out.String()
	if err != nil && !strings.Contains(text, "--- FAIL: ") {
		return "", fmt.Errorf("it does not build: %w\n%s", err, text)
	}
	return text, nil
}

// overlay writes a changed copy of a file, and what go needs to know to take it instead.
func (m *mutant) overlay(dir string) (string, error) {
	file, changed, err := m.mutate()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making a directory for the copy: %w", err)
	}
	copied := filepath.Join(dir, filepath.Base(file))
	if err := os.WriteFile(copied, []byte(changed), 0o600); err != nil {
		return "", fmt.Errorf("writing the copy: %w", err)
	}
	original, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("finding the source: %w", err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: copied}})
	if err != nil {
		return "", fmt.Errorf("encoding the overlay: %w", err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return "", fmt.Errorf("writing the overlay: %w", err)
	}
	return path, nil
}

var (
	propertyLine = regexp.MustCompile(`property (\d+)`)
	stepsLine    = regexp.MustCompile(`in (\d+) steps`)
)

// verdict reads which property failed, and after how many steps. A mistake that breaks a rule
// but no property shows in the stories only.
func verdict(out string) (by, steps string) {
	if !strings.Contains(out, "--- FAIL") {
		return "", ""
	}
	switch found := propertyLine.FindStringSubmatch(out); {
	case !strings.Contains(out, "--- FAIL: TestEverySchedule"):
		return "a story", ""
	case found != nil:
		by = "property " + found[1]
	default:
		by = "an error"
	}
	if found := stepsLine.FindStringSubmatch(out); found != nil {
		steps = found[1]
	}
	return by, steps
}
