/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"context"
	"log/slog"
	"slices"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// newLog returns a logger that writes to a descriptor, and never waits long for whoever reads it: the
// worker may have filled the same pipe, and must be stopped and reaped all the same.
func newLog(descriptor int) *slog.Logger {
	w := &patientWriter{lines: make(chan line, 16)}
	go w.write(descriptor)
	return slog.New(prefixed{slog.NewTextHandler(w, nil)})
}

// logWait is how long the supervisor waits until a line is written.
const logWait = 100 * time.Millisecond

type line struct {
	text    []byte
	written chan struct{}
}

type patientWriter struct{ lines chan line }

// Write returns when the line is written, or after some time without. Lines that are not read are dropped.
func (w *patientWriter) Write(text []byte) (int, error) {
	l := line{text: slices.Clone(text), written: make(chan struct{})}
	select {
	case w.lines <- l:
	default:
		return len(text), nil
	}
	select {
	case <-l.written:
	case <-time.After(logWait):
	}
	return len(text), nil
}

// write uses the system call, because a failure of os.Stderr ends the process.
func (w *patientWriter) write(descriptor int) {
	for l := range w.lines {
		for len(l.text) > 0 {
			n, err := syscall.Write(descriptor, l.text)
			if err != nil && err != syscall.EINTR {
				break
			}
			l.text = l.text[max(n, 0):]
		}
		close(l.written)
	}
}

// prefixed tells the lines of a supervisor from those of its worker.
type prefixed struct{ slog.Handler }

func (h prefixed) Handle(ctx context.Context, r slog.Record) error {
	r.Message = protocol.LogPrefix + r.Message
	return h.Handler.Handle(ctx, r)
}
