/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"fmt"
	"io"
	"slices"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Log is the log of one container, from its start to its end.
type Log struct {
	ReplicatedJob, Pod, Node, Container string
	// Previous: the container has been started again since.
	Previous bool
}

// Title is the line before a section.
func (l *Log) Title(s Section) string {
	epoch, rank := "no epoch", "no rank"
	if s.Epoch != 0 {
		epoch = fmt.Sprintf("epoch %d", s.Epoch)
	}
	if s.Rank != protocol.NoRank {
		rank = fmt.Sprintf("rank %d", s.Rank)
	}
	text := fmt.Sprintf("%s, %s %s, Pod %s, container %s", epoch, l.ReplicatedJob, rank, l.Pod, l.Container)
	if l.Node != "" {
		text += ", node " + l.Node
	}
	if l.Previous {
		text += ", before its container was restarted"
	}
	return "==> " + text + " <==\n"
}

// Section is what one run of a worker printed: everything from its start to the next one, since processes that it
// left behind may print after its end.
type Section struct {
	// Epoch is 0 outside of all epochs (P34), and before the first mark where nothing tells.
	Epoch int32
	// Rank is protocol.NoRank if the worker was told none.
	Rank int32
}

// First returns the section of what is read before the first mark, by the marks of the log. A log of which the beginning is
// missing, because it was rotated, may begin in the middle of a run.
func First(marks []protocol.Mark) Section {
	if len(marks) > 0 && marks[0].Run == protocol.RunEnd {
		return of(marks[0])
	}
	return Section{Rank: protocol.NoRank}
}

func of(m protocol.Mark) Section { return Section{m.Epoch, m.Rank} }

// Filter says which sections are wanted.
type Filter struct {
	// Epoch and Rank are nil for all.
	Epoch, Rank *int32
}

func (f Filter) takes(s Section) bool {
	return (f.Epoch == nil || *f.Epoch == s.Epoch) && (f.Rank == nil || *f.Rank == s.Rank)
}

// Takes reports whether a log with these marks has a section that is wanted.
func (f Filter) Takes(marks []protocol.Mark) bool {
	return f.takes(First(marks)) || slices.ContainsFunc(marks, func(m protocol.Mark) bool { return f.takes(of(m)) })
}

// Cut copies the sections that are wanted from a log to out, each behind the line that title returns for it.
// It reports whether there were any: what stands before the first mark may be nothing.
func Cut(log io.Reader, out io.Writer, first Section, filter Filter, title func(Section) string) (found bool, err error) {
	section, titled := first, false
	write := func(text []byte) error {
		if !filter.takes(section) {
			return nil
		}
		if !titled {
			titled, found = true, true
			if _, err := io.WriteString(out, title(section)); err != nil {
				return err
			}
		}
		_, err := out.Write(text)
		return err
	}
	err = Walk(log, write, func(m protocol.Mark, line []byte) error {
		if m.Run == protocol.RunStart {
			section, titled = of(m), false
		}
		return write(line)
	})
	return found, err
}
