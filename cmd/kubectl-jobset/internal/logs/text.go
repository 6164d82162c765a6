/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Text is a table of epochs for a terminal.
func Text(epochs []Epoch) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "EPOCH\tSTARTED\tENDED\tWORKERS\tRUNNING\tFAILED\tFIRST TO FAIL")
	for i := range epochs {
		e := &epochs[i]
		name := strconv.Itoa(int(e.Epoch))
		if e.Epoch == 0 {
			name = "none" // P34
		}
		first := "-"
		if e.First != nil {
			first = fmt.Sprintf("%s, %s", e.First.worker(Section{e.Epoch, e.First.Rank}), e.First.How())
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%s\n", name, clock(e.Started), clock(e.Ended), e.Workers, e.Running, e.Failures, first)
	}
	_ = w.Flush()
	return out.String()
}

func clock(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// How says how a worker failed.
func (f *Failure) How() string {
	text := fmt.Sprintf("exit code %d", f.Code)
	if f.Signal != 0 {
		text = fmt.Sprintf("signal %d", f.Signal)
	}
	if f.Hung {
		text = "hung"
	}
	if f.OOMKilled {
		text += ", out of memory"
	}
	if f.Step > 0 {
		text += fmt.Sprintf(", at step %d", f.Step)
	}
	return text
}

// worker names a worker in a section.
func (l *Log) worker(s Section) string {
	rank := "no rank"
	if s.Rank != protocol.NoRank {
		rank = fmt.Sprintf("rank %d", s.Rank)
	}
	text := fmt.Sprintf("%s %s, Pod %s, container %s", l.ReplicatedJob, rank, l.Pod, l.Container)
	if l.Node != "" {
		text += ", node " + l.Node
	}
	return text
}

// Title is the line before a section.
func Title(epochs []Epoch, l *Log, s Section) string {
	epoch := fmt.Sprintf("epoch %d", s.Epoch)
	if s.Epoch == 0 {
		epoch = "no epoch"
	}
	text := epoch + ", " + l.worker(s)
	if l.Previous {
		text += ", before its container was restarted"
	}
	if f, first := IsFirst(epochs, l, s); first {
		text += "; the first to fail: " + f.How()
	}
	return "==> " + text + " <==\n"
}
