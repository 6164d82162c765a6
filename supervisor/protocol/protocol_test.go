/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMessagesSurviveTheWire(t *testing.T) {
	sent := []Message{
		{Type: Hello, Container: "worker", State: Ended, Epoch: 2, Exit: &Exit{Code: 137, Signal: 9, OOMKilled: true, Time: time.Unix(1, 0).UTC()}},
		{Type: Start, Epoch: 3, Restarts: 2},
		{Type: Stop, GraceSeconds: 2},
		{Type: Leave, Because: "line\nbreak"},
	}
	var wire strings.Builder
	for _, m := range sent {
		line, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		wire.Write(line)
	}
	r := NewReader(strings.NewReader(wire.String()))
	for _, want := range sent {
		want.Version = Version
		got, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-sent, +read):\n%s", diff)
		}
	}
	if _, err := r.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last message: got %v, want io.EOF", err)
	}
}

func TestATimeThatIsReadCanBeWritten(t *testing.T) {
	ready := func(at string) string {
		return `{"version":1,"type":"ready","epoch":1,"exit":{"code":1,"time":"` + at + `"}}` + "\n"
	}
	for name, at := range map[string]string{
		"P66: an offset of a day":         "2026-01-02T12:00:00+24:00",
		"P66: a negative offset of a day": "2025-12-31T12:00:00-24:00",
		"P66: an offset as any":           "2026-01-01T14:00:00+02:00",
		"P66: none":                       "2026-01-01T12:00:00Z",
	} {
		m, err := NewReader(strings.NewReader(ready(at))).Next()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := WorkerExit{Container: "w", Epoch: 1, Exit: *m.Exit}.Encode()
		if want := `{"container":"w","epoch":1,"code":1,"time":"2026-01-01T12:00:00Z"}`; err != nil || got != want {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, want)
		}
	}
	for name, at := range map[string]string{
		"P66: after the last year":   "9999-12-31T23:59:59-01:00",
		"P66: before the first year": "0000-01-01T00:00:00+01:00",
	} {
		if m, err := NewReader(strings.NewReader(ready(at))).Next(); err == nil || !strings.Contains(err.Error(), "year") {
			t.Errorf("%s: got %+v, %v, want that it is refused", name, m, err)
		}
	}
}

func TestWhatIsNoMessageEndsTheConnection(t *testing.T) {
	for name, tc := range map[string]struct{ wire, want string }{
		"P61: cut off in the middle":   {`{"version":1,"type":"sta`, "unexpected EOF"},
		"P61: a newer version":         {`{"version":2,"type":"start","epoch":"three"}` + "\n", "a message has version 2, this program speaks 1"},
		"P61: no version":              {`{"type":"start"}` + "\n", "a message has version 0, this program speaks 1"},
		"P61: an unknown type":         {`{"version":1,"type":"dance"}` + "\n", `a message has the unknown type "dance"`},
		"P61: a field of another kind": {`{"version":1,"type":"start","epoch":"three"}` + "\n", "reading a message: "},
		"P61: no object":               {"GET / HTTP/1.1\r\n", "a message is not a JSON object: "},
		"P61: no end":                  {strings.Repeat("x", MaxLine+1), "a message has more than 4096 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewReader(strings.NewReader(tc.wire)).Next()
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("got error %v, want %q", err, tc.want)
			}
		})
	}
	if _, err := Encode(Message{Type: Leave, Because: strings.Repeat("x", MaxLine)}); err == nil {
		t.Error("a message that no reader takes was encoded")
	}
}
