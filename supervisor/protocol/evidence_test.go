/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestWorkersThatDoTheSameHaveTheSameDigest(t *testing.T) {
	t.Parallel()
	a := NewEvidence([]string{"S futex_wait_queue futex", "T do_signal_stop", "S futex_wait_queue futex"})
	b := NewEvidence([]string{"T do_signal_stop", "S futex_wait_queue futex"})
	if want := Evidence("S futex_wait_queue futex; T do_signal_stop"); a != want || b != want {
		t.Errorf("P134: %q and %q, want %q", a, b, want)
	}
	if !a.Has('T') || a.Has('D') || len(a.Places()) != 2 {
		t.Errorf("P134: %q has T %v and D %v, and the places %q", a, a.Has('T'), a.Has('D'), a.Places())
	}
	if none := NewEvidence(nil); none != "" || none.Places() != nil || none.Has('T') {
		t.Errorf("P134: nothing seen is %q", none)
	}
}

func TestADigestIsBounded(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 64 {
		many = append(many, fmt.Sprintf("S wait_number_%d read(socket)", i))
	}
	e := NewEvidence(many)
	if len(e) > MaxEvidence || len(e.Places()) < 3 || e.check() != nil {
		t.Errorf("P134: %d bytes with %d places, %v: %q", len(e), len(e.Places()), e.check(), e)
	}
	if e := NewEvidence([]string{"S bad\"name", "R"}); e != "R" {
		t.Errorf("P134: what is no place is left out: %q", e)
	}
}

func TestTheLongestDigestFitsIntoAWorkerExit(t *testing.T) {
	t.Parallel()
	exit := WorkerExit{
		Container: strings.Repeat("c", 63), Epoch: math.MaxInt32, Done: true, Leave: "because", LeaveReason: ContainerDone,
		Exit: Exit{
			Code: 255, Signal: 64, OOMKilled: true, Stopped: true, Time: time.Unix(0, 123456789).UTC(),
			Hung: Hang{math.MaxInt32, true, math.MaxInt64, true},
			Seen: Evidence("S " + strings.Repeat("x", MaxEvidence-2)),
		},
	}
	value, err := exit.Encode()
	if err != nil {
		t.Fatalf("P134: %v", err)
	}
	got, err := ParseWorkerExit(value)
	if err != nil || got.Seen != exit.Seen || got.Hung != exit.Hung {
		t.Errorf("P134: %s is read as %+v, %v", value, got, err)
	}
}

func TestForgedDigestsAreRefused(t *testing.T) {
	t.Parallel()
	for _, seen := range []string{"futex", "S futex; ", "S \\u0007", "S <b>", "S a\\nb", "; S", "9 futex", "S " + strings.Repeat("x", MaxEvidence-1)} {
		value := `{"container":"a","epoch":1,"code":1,"time":"2026-01-01T00:00:00Z","seen":"` + seen + `"}`
		if got, err := ParseWorkerExit(value); err == nil || !strings.Contains(err.Error(), "seen has") {
			t.Errorf("P134: %s is read as %+v, %v", value, got, err)
		}
	}
}
