/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMarksAreFoundAsTheyWerePrinted(t *testing.T) {
	for name, mark := range map[string]Mark{
		"P129: a start":                            {Run: RunStart, Epoch: 3, Rank: 7},
		"P129: a start at rank 0":                  {Run: RunStart, Epoch: 1},
		"P129: a start without a rank":             {Run: RunStart, Epoch: 1, Rank: NoRank},
		"P34 P129: a start outside of all epochs":  {Run: RunStart, Rank: NoRank},
		"P129: an exit with 0":                     {Run: RunEnd, Epoch: 2, Rank: 1},
		"P129: a signal, and the memory was spent": {Run: RunEnd, Epoch: 2, Rank: 1, Exit: Exit{Code: 137, Signal: 9, OOMKilled: true}},
		"P129 P133: a hang, and its step":          {Run: RunEnd, Epoch: 2, Rank: 1, Exit: Exit{Code: 137, Signal: 9}, Hung: true, Step: 1 << 40},
		"P129: an end that was asked for":          {Run: RunEnd, Epoch: 2, Rank: 1, Exit: Exit{Code: 1, Stopped: true}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			slog.New(slog.NewTextHandler(&out, nil)).Info(LogPrefix+`the "worker"`, mark.Words()...)
			got, at, ok := FindMark(out.Bytes())
			if !ok || at != 0 {
				t.Fatalf("got %t at %d in %q", ok, at, out.String())
			}
			if time.Since(got.Time) > time.Minute {
				t.Errorf("got time %s", got.Time)
			}
			got.Time = time.Time{}
			if diff := cmp.Diff(mark, got); diff != "" {
				t.Errorf("(-printed, +found):\n%s", diff)
			}
		})
	}
}

func TestMarksAreToldFromOtherText(t *testing.T) {
	const start = `time=2026-11-22T21:41:42.136Z level=INFO msg="jobset-supervisor: starting the worker of epoch 1" run=start epoch=1 rank=0`
	for name, tc := range map[string]struct {
		line string
		at   int
		ok   bool
	}{
		"P129: a line of its own":                         {start + "\n", 0, true},
		"P129: behind a worker's text without a newline":  {"step 10 of 20\rtime=soon " + start + "\n", 24, true},
		"P129: with a key of a later version":             {start + " phase=warm\n", 0, true},
		"P129: with a value of that key in quotes":        {start + ` note="a b"` + "\n", 0, true},
		"P129: another line of the supervisor":            {strings.Replace(start, " run=start", "", 1), 0, false},
		"P129: an event of a later version":               {strings.Replace(start, "run=start", "run=pause", 1), 0, false},
		"P129: an epoch that is no number":                {strings.Replace(start, "epoch=1 rank", "epoch=x rank", 1), 0, false},
		"P129: no time":                                   {strings.Replace(start, "2026-", "", 1), 0, false},
		"P129: a line that was cut":                       {start[:60], 0, false},
		"P129: a line of the worker":                      {`level=INFO msg="starting" run=start epoch=1`, 0, false},
		"P129: a worker that quotes only the end of it":   {start[30:], 0, false},
		"P129: an empty line":                             {"", 0, false},
		"P129: one of a supervisor that knows no marks":   {strings.TrimSuffix(start, " run=start epoch=1 rank=0"), 0, false},
		"P129: a warning is no mark even with such words": {strings.Replace(start, "INFO", "WARN", 1), 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, at, ok := FindMark([]byte(tc.line))
			if ok != tc.ok || ok && at != tc.at {
				t.Errorf("got %t at %d, want %t at %d", ok, at, tc.ok, tc.at)
			}
		})
	}
}

func FuzzFindMark(f *testing.F) {
	f.Add([]byte(`x time=2026-11-22T21:41:42.136Z level=INFO msg="jobset-supervisor: a" run=end epoch=1 rank=0 code=1`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if _, at, ok := FindMark(line); ok && !bytes.HasPrefix(line[at:], []byte("time=")) {
			t.Errorf("found at %d of %q", at, line)
		}
	})
}
