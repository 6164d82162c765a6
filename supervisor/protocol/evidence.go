/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"fmt"
	"slices"
	"strings"
)

// MaxEvidence bounds a digest in bytes.
const MaxEvidence = 160

// Evidence is the digest of what the processes of a worker that gave no sign did (P134): where each of them stood, without
// pids, times and counts, so that workers that do the same have the same digest. Each place is named once, in order:
//
//	S futex_wait_queue futex; T do_signal_stop
//
// A place is the state of the process (a letter, as in proc(5)), the function of the kernel in which it sleeps, and its system call
// with the kind of file that it waits for: read(fifo). What could not be read is "-".
type Evidence string

// NewEvidence returns the digest of places, each as Evidence has it. Of too many it keeps the first.
func NewEvidence(places []string) Evidence {
	sorted := slices.Clone(places)
	slices.Sort(sorted)
	var digest string
	for _, place := range slices.Compact(sorted) {
		text := place
		if digest != "" {
			text = digest + "; " + place
		}
		if len(text) > MaxEvidence || !isPlace(place) {
			continue
		}
		digest = text
	}
	return Evidence(digest)
}

// Places returns the places of a digest.
func (e Evidence) Places() []string {
	if e == "" {
		return nil
	}
	return strings.Split(string(e), "; ")
}

// Has reports whether a process is in a state: 'T' is stopped, 'D' sleeps and cannot be killed.
func (e Evidence) Has(state byte) bool {
	return slices.ContainsFunc(e.Places(), func(place string) bool { return place[0] == state })
}

// check refuses what is no digest: whoever may patch Pods can write it, and it is shown to people.
func (e Evidence) check() error {
	if len(e) > MaxEvidence {
		return fmt.Errorf("seen has %d bytes, at most %d are allowed", len(e), MaxEvidence)
	}
	for _, place := range e.Places() {
		if !isPlace(place) {
			return fmt.Errorf("seen has %q, which is no place of a process, such as \"S pipe_read read(fifo)\"", place)
		}
	}
	return nil
}

// isPlace reports whether a text is a letter, alone or with words of such characters as kernels use in names.
func isPlace(text string) bool {
	for i, c := range []byte(text) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		switch {
		case i == 0 && !letter, i == 1 && c != ' ':
			return false
		case !letter && (c < '0' || c > '9') && !strings.ContainsRune(" _-.()", rune(c)):
			return false
		}
	}
	return text != ""
}
