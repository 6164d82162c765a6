/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func start(second int, epoch, rank int32) protocol.Mark {
	return protocol.Mark{Time: noon.Add(time.Duration(second) * time.Second), Run: protocol.RunStart, Epoch: epoch, Rank: rank}
}

func end(second int, epoch, rank int32, exit protocol.Exit) protocol.Mark {
	m := start(second, epoch, rank)
	m.Run, m.Exit = protocol.RunEnd, exit
	return m
}

var (
	failed  = protocol.Exit{Code: 1}
	stopped = protocol.Exit{Code: 143, Signal: 15, Stopped: true}
)

// line is how a supervisor prints a mark.
func line(m protocol.Mark) string {
	var out strings.Builder
	at := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			a.Value = slog.TimeValue(m.Time)
		}
		return a
	}
	slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: at})).Info(protocol.LogPrefix+"the worker", m.Words()...)
	return out.String()
}

func TestLogsAreCutByEpochAndRank(t *testing.T) {
	s1, e1, s2, e2, s3 := start(1, 1, 0), end(2, 1, 0, failed), start(3, 2, 0), end(4, 2, 0, stopped), start(5, 3, 1)
	whole := "kubelet\n" + line(s1) + "a\nb\n" + line(e1) + "late\n" + line(s2) + "c 10%\r" + line(e2) + line(s3) + "no newline"
	for name, tc := range map[string]struct {
		log    string
		filter Filter
		want   string
	}{
		"P129: all of it, without a filter": {whole, Filter{},
			"[0 -1]kubelet\n[1 0]" + line(s1) + "a\nb\n" + line(e1) + "late\n[2 0]" + line(s2) + "c 10%\r\n" + line(e2) + "[3 1]" + line(s3) + "no newline"},
		"P129: an epoch has its start, its end, and what was printed until the next start": {whole, Filter{Epoch: ptr.To[int32](1)},
			"[1 0]" + line(s1) + "a\nb\n" + line(e1) + "late\n"},
		"P129: a mark behind text without a newline begins a line": {whole, Filter{Epoch: ptr.To[int32](2)},
			"[2 0]" + line(s2) + "c 10%\r\n" + line(e2)},
		"P129: a rank is that of the worker in the epoch": {whole, Filter{Rank: ptr.To[int32](1)}, "[3 1]" + line(s3) + "no newline"},
		"P129: both":                        {whole, Filter{Epoch: ptr.To[int32](3), Rank: ptr.To[int32](0)}, ""},
		"P129: no epoch is what came first": {whole, Filter{Epoch: ptr.To[int32](0)}, "[0 -1]kubelet\n"},
		"P129: nothing came first":          {line(s1) + "a\n", Filter{Epoch: ptr.To[int32](0)}, ""},
		"P129: a log whose beginning is missing belongs to the epoch that ends first": {"b\n" + line(e1) + line(s2), Filter{Epoch: ptr.To[int32](1)},
			"[1 0]b\n" + line(e1)},
		"P129: an empty log": {"", Filter{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			marks, err := Marks(strings.NewReader(tc.log))
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			title := func(s Section) string { return fmt.Sprintf("[%d %d]", s.Epoch, s.Rank) }
			found, err := Cut(strings.NewReader(tc.log), &out, First(marks), tc.filter, title)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("(-want, +got):\n%s", diff)
			}
			if found != (tc.want != "") || found && !tc.filter.Takes(marks) {
				t.Errorf("Cut reports %t, Takes %t", found, tc.filter.Takes(marks))
			}
		})
	}
}

// endless is a log of so many bytes without a newline, and a mark.
func endless(size int64, m protocol.Mark) io.Reader {
	return io.MultiReader(io.LimitReader(dots{}, size), strings.NewReader(line(m)))
}

type dots struct{}

func (dots) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '.'
	}
	return len(p), nil
}

func TestLongLinesAreReadInParts(t *testing.T) {
	want := []protocol.Mark{start(1, 1, 0)}
	for size := int64(window - 4*longestMark); size < window+4*longestMark; size += 13 {
		got, err := Marks(endless(size, want[0]))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("P129: behind %d bytes without a newline: %v (-want, +got):\n%s", size, err, diff)
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var copied count
	if _, err := Cut(endless(64<<20, want[0]), &copied, Section{}, Filter{}, func(Section) string { return "" }); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if copied < 64<<20 {
		t.Errorf("P129: %d bytes are copied of 64 MiB", copied)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("P129: a line of 64 MiB takes %d bytes of memory, want less than 1 MiB", grown)
	}
}

type count int64

func (c *count) Write(p []byte) (int, error) { *c += count(len(p)); return len(p), nil }

func TestAnErrorOfTheLogIsTold(t *testing.T) {
	broken := io.MultiReader(bytes.NewReader([]byte("a\nb")), io.LimitReader(failing{}, 1))
	if _, err := Marks(broken); err == nil || err.Error() != "the connection broke" {
		t.Errorf("P129: got %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, fmt.Errorf("the connection broke") }

func TestTheTitleOfASection(t *testing.T) {
	log := Log{ReplicatedJob: "workers", Pod: "p", Node: "n", Container: "worker"}
	before := Log{ReplicatedJob: "workers", Pod: "p", Container: "worker", Previous: true}
	for want, got := range map[string]string{
		"==> epoch 3, workers rank 1, Pod p, container worker, node n <==\n":                               log.Title(Section{3, 1}),
		"==> no epoch, workers no rank, Pod p, container worker, before its container was restarted <==\n": before.Title(Section{0, protocol.NoRank}),
	} {
		if got != want {
			t.Errorf("P129: %q, want %q", got, want)
		}
	}
}
