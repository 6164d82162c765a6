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
	killed  = protocol.Exit{Code: 137, Signal: 9, OOMKilled: true}
	stopped = protocol.Exit{Code: 143, Signal: 15, Stopped: true}
)

func hungAt(step int64) protocol.Mark {
	m := end(8, 1, 0, protocol.Exit{Code: 137, Signal: 9, Stopped: true})
	m.Hung, m.Step = true, step
	return m
}

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

func TestTheFirstToFailIsFound(t *testing.T) {
	log := func(pod string, marks ...protocol.Mark) Log {
		return Log{ReplicatedJob: "workers", Pod: pod, Container: "worker", Marks: marks}
	}
	restarted := log("b", start(1, 1, 1))
	restarted.Previous, restarted.Ended = true, &protocol.Exit{Code: 137, OOMKilled: true, Time: noon.Add(7 * time.Second)}
	deleted := restarted
	deleted.Ended = &protocol.Exit{Code: 137, Stopped: true, Time: noon.Add(7 * time.Second)}
	for name, tc := range map[string]struct {
		logs []Log
		want string
	}{
		"P129: by time, not by rank": {
			[]Log{log("a", start(1, 1, 0), end(9, 1, 0, failed)), log("b", start(2, 1, 1), end(8, 1, 1, killed)), log("c", start(1, 1, 2), end(10, 1, 2, stopped))},
			"1 12:00:01-12:00:10 3/0/2 b rank 1: signal 9, out of memory",
		},
		"P129: in each epoch": {
			[]Log{log("a", start(1, 1, 0), end(2, 1, 0, failed), start(3, 2, 0), end(4, 2, 0, stopped)), log("b", start(1, 1, 1), end(3, 1, 1, stopped), start(3, 2, 1), end(4, 2, 1, failed))},
			"1 12:00:01-12:00:03 2/0/1 a rank 0: exit code 1, 2 12:00:03-12:00:04 2/0/1 b rank 1: exit code 1",
		},
		"P129: none in an epoch that runs": {
			[]Log{log("a", start(1, 1, 0)), log("b", start(1, 1, 1), end(5, 1, 1, protocol.Exit{}))}, "1 12:00:01- 2/1/0 -",
		},
		"P129: a supervisor that was killed with its worker, by the status of the container": {
			[]Log{log("a", start(1, 1, 0), end(8, 1, 0, stopped)), restarted, log("b", start(9, 2, 1))},
			"1 12:00:01-12:00:08 2/0/1 b rank 1: exit code 137, out of memory, 2 12:00:09- 1/1/0 -",
		},
		"P129 P133: one that hung and was killed, with its step": {
			[]Log{log("a", start(1, 1, 0), hungAt(400)), log("b", start(1, 1, 1), end(9, 1, 1, stopped))}, "1 12:00:01-12:00:09 2/0/1 a rank 0: hung, at step 400",
		},
		"P129: not one whose Pod was deleted": {
			[]Log{log("a", start(1, 1, 0), end(8, 1, 0, stopped)), deleted}, "1 12:00:01-12:00:08 2/0/0 -",
		},
		"P129: an end that was not announced is no failure": {
			[]Log{log("a", start(1, 1, 0), start(4, 2, 0))}, "1 12:00:01-12:00:04 1/0/0 -, 2 12:00:04- 1/1/0 -",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range Epochs(tc.logs) {
				short := func(t *time.Time) string {
					if t == nil {
						return ""
					}
					return t.Format("15:04:05")
				}
				text := fmt.Sprintf("%d %s-%s %d/%d/%d -", e.Epoch, short(e.Started), short(e.Ended), e.Workers, e.Running, e.Failures)
				if f := e.First; f != nil {
					text = fmt.Sprintf("%s%s rank %d: %s", strings.TrimSuffix(text, "-"), f.Pod, f.Rank, f.How())
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("(-want, +got):\n%s", diff)
			}
		})
	}
}

func TestEpochsAreShown(t *testing.T) {
	logs := []Log{
		{ReplicatedJob: "workers", Pod: "train-workers-0-0-x", Node: "node-1", Container: "worker", Marks: []protocol.Mark{start(1, 1, 0), end(62, 1, 0, stopped), start(63, 2, 0)}},
		{ReplicatedJob: "workers", Pod: "train-workers-0-1-y", Node: "node-2", Container: "worker", Marks: []protocol.Mark{start(1, 1, 1), end(61, 1, 1, failed), start(63, 2, 1)}},
	}
	epochs := Epochs(logs)
	want := `EPOCH  STARTED                   ENDED                     WORKERS  RUNNING  FAILED  FIRST TO FAIL
1      2026-03-14T12:00:01.000Z  2026-03-14T12:01:02.000Z  2        0        1       workers rank 1, Pod train-workers-0-1-y, container worker, node node-2, exit code 1
2      2026-03-14T12:01:03.000Z  -                         2        2        0       -
`
	if diff := cmp.Diff(want, Text(epochs)); diff != "" {
		t.Errorf("P129 (-want, +got):\n%s", diff)
	}
	want = "==> epoch 1, workers rank 1, Pod train-workers-0-1-y, container worker, node node-2; the first to fail: exit code 1 <==\n" +
		"==> epoch 2, workers rank 1, Pod train-workers-0-1-y, container worker, node node-2 <==\n" +
		"==> epoch 1, workers rank 0, Pod train-workers-0-0-x, container worker, node node-1 <==\n"
	got := Title(epochs, &logs[1], Section{1, 1}) + Title(epochs, &logs[1], Section{2, 1}) + Title(epochs, &logs[0], Section{1, 0})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("P129 (-want, +got):\n%s", diff)
	}
}
