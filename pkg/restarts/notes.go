/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"fmt"
)

// Notes are what the reader of a report must know to read the rest.
type Notes []string

// Add adds one.
func (n *Notes) Add(format string, args ...any) { *n = append(*n, fmt.Sprintf(format, args...)) }

// Text is all of them for a terminal, behind an empty line.
func (n Notes) Text() string {
	var text string
	for _, note := range n {
		text += "Note: " + OneLine(note) + ".\n"
	}
	if text != "" {
		text = "\n" + text
	}
	return text
}
