/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package logs cuts the logs of workers in process mode by what their supervisors say in them (P129). A log may have any
// size and lines of any length: whatever is read here holds a window of it, and the marks.
package logs

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

const (
	// window is how much of a log is in memory.
	window = 64 << 10
	// longestMark is more than any line of a supervisor that has a mark.
	longestMark = 2 << 10
)

// Walk reads a log to its end. It passes each piece to text: a line, or a part of one that is longer than the window.
// A line with a mark goes to mark, and what a worker left before it to text, with a newline. The slices are valid until the function returns.
func Walk(log io.Reader, text func([]byte) error, mark func(protocol.Mark, []byte) error) error {
	reader := bufio.NewReaderSize(log, window)
	for {
		piece, err := next(reader)
		if len(piece) > 0 {
			if err := hand(piece, text, mark); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// next returns a line, or the beginning of one that does not fit: so much that a mark at its end stays whole.
func next(reader *bufio.Reader) ([]byte, error) {
	seen, err := reader.Peek(window)
	length := bytes.IndexByte(seen, '\n') + 1
	switch {
	case length > 0:
		err = nil
	case err != nil: // at the end of the log, too
		length = len(seen)
	default:
		length = window - longestMark
	}
	piece := seen[:length]
	if _, discarded := reader.Discard(length); discarded != nil {
		return nil, discarded
	}
	return piece, err
}

func hand(piece []byte, text func([]byte) error, mark func(protocol.Mark, []byte) error) error {
	m, at, ok := protocol.FindMark(piece)
	if !ok {
		return text(piece)
	}
	if at > 0 {
		if err := text(append(bytes.Clone(piece[:at]), '\n')); err != nil {
			return err
		}
	}
	return mark(m, piece[at:])
}

// Marks returns the marks of a log.
func Marks(log io.Reader) ([]protocol.Mark, error) {
	var marks []protocol.Mark
	err := Walk(log, func([]byte) error { return nil }, func(m protocol.Mark, _ []byte) error {
		marks = append(marks, m)
		return nil
	})
	return marks, err
}
