/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package setting is how the programs in a Pod, agent and supervisor, read their settings from the
// environment, and how they say which one is wrong.
package setting

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ExitCode is that of a program whose settings are wrong, which a restart does not fix.
const ExitCode = 64

// Error reports a wrong setting.
type Error struct {
	// Setting that is wrong, usually an environment variable.
	Setting string
	// Problem with it.
	Problem string
	// Fix says how to set it.
	Fix string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s; %s", e.Setting, e.Problem, e.Fix)
}

// Env looks up environment variables and collects what is wrong with them.
type Env struct {
	// Lookup is os.LookupEnv, or its like in a test.
	Lookup func(string) (string, bool)
	errs   []error
}

// Err joins one Error per wrong variable.
func (e *Env) Err() error { return errors.Join(e.errs...) }

// Reject adds an Error.
func (e *Env) Reject(variable, problem, fix string) {
	e.errs = append(e.errs, &Error{Setting: variable, Problem: problem, Fix: fix})
}

// Get reads a variable. Empty means unset: the downward API sets "" for a missing label.
func (e *Env) Get(variable string) string {
	value, _ := e.Lookup(variable)
	return value
}

// Number reads a whole number. An unset variable is the fallback.
func (e *Env) Number(variable string, fallback, lowest, highest int) int {
	text := e.Get(variable)
	if text == "" {
		return fallback
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < lowest || value > highest {
		e.Reject(variable, fmt.Sprintf("is %q", text),
			fmt.Sprintf("set a whole number from %d to %d, or leave it out for %d", lowest, highest, fallback))
		return fallback
	}
	return value
}

// Directory reads an absolute path that leaves room for a file whose path may have so many bytes at most. An
// unset variable is "".
func (e *Env) Directory(variable, file string, longest int, fix string) string {
	path := e.Get(variable)
	switch {
	case path == "":
	case !filepath.IsAbs(path):
		e.Reject(variable, fmt.Sprintf("is %q, which is not an absolute path", path), fix)
	case len(filepath.Join(path, file)) > longest:
		e.Reject(variable, fmt.Sprintf("has %d characters, and at most %d leave room for a socket in it", len(path), longest-len(file)-1), fix)
	}
	return path
}

// terminationLog is the file that a kubelet creates for each container. The kubelet copies its content
// into the status of the Pod when the process ends, where describe and the plugin show it.
const terminationLog = "/dev/termination-log"

// Tell writes why a program ends as one line to stderr and for the status of the Pod.
func Tell(stderr io.Writer, program string, err error) {
	line := program + ": " + oneLine(err)
	_, _ = fmt.Fprintln(stderr, line)
	TellPod(line)
}

// TellPod writes a line for the status of the Pod.
func TellPod(line string) { tell(terminationLog, line) }

// tell writes a file if it exists. Errors are ignored: stderr has the line too.
func tell(path, line string) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintln(file, line)
	_ = file.Close()
}

// oneLine formats an error, joined or not, as one line.
func oneLine(err error) string {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return strings.ReplaceAll(err.Error(), "\n", " ")
	}
	var parts []string
	for _, part := range joined.Unwrap() {
		parts = append(parts, oneLine(part))
	}
	return strings.Join(parts, " | ")
}
