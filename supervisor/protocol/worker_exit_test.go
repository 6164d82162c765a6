/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package protocol

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestTheAnnotationHasOneName(t *testing.T) {
	if WorkerExitKey != jobset.WorkerExitKey {
		t.Errorf("P66: agents write annotation %s, and %s is documented", WorkerExitKey, jobset.WorkerExitKey)
	}
}

func TestTheGraceHasOneDefault(t *testing.T) {
	if DefaultStopGraceSeconds != jobset.DefaultStopGracePeriodSeconds {
		t.Errorf("P63: agents give %d s, and the API says %d s", DefaultStopGraceSeconds, jobset.DefaultStopGracePeriodSeconds)
	}
}

func TestAnExitIsReadAsItWasWritten(t *testing.T) {
	long := strings.Repeat("a", 600)
	at := time.Unix(1, 0).UTC()
	for name, tc := range map[string]struct{ in, want WorkerExit }{
		"P66: an exit code": {
			in: WorkerExit{Container: "worker", Epoch: 2, Exit: Exit{Code: 1, Time: at}},
		},
		"P66: a kill for memory": {
			in: WorkerExit{Container: "worker", Epoch: 2, Exit: Exit{Code: 137, Signal: 9, OOMKilled: true, Time: at}, Done: true},
		},
		"P70: a long reason is cut to what fits": {
			in:   WorkerExit{Container: "worker", Epoch: 2, Exit: Exit{Time: at}, Leave: long},
			want: WorkerExit{Container: "worker", Epoch: 2, Exit: Exit{Time: at}, Leave: strings.Repeat("a", 430)},
		},
		"P66a: of a reason with other characters the others are kept": {
			in:   WorkerExit{Container: "worker", Epoch: 2, Exit: Exit{Time: at}, Leave: "a \x1b[2J\u202eb; planned (c) \"d\""},
			want: WorkerExit{Container: "worker", Epoch: 2, Exit: Exit{Time: at}, Leave: "a ??2J?b? planned ?c? ?d?"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			value, err := tc.in.Encode()
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParseWorkerExit(value)
			if err != nil {
				t.Fatal(err)
			}
			if tc.want.Container == "" {
				tc.want = tc.in
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if _, err := (WorkerExit{Container: strings.Repeat("x", MaxWorkerExit)}).Encode(); err == nil {
		t.Error("P66: a value that nobody takes was encoded")
	}
}

func TestWhatIsNoExitIsRefused(t *testing.T) {
	for name, tc := range map[string]struct{ value, want string }{
		"P66: no JSON":                           {"1", "is not a JSON object"},
		"P66: nothing":                           {"", "is not a JSON object"},
		"P66: no container":                      {`{"epoch":1}`, "names no container"},
		"P66: no epoch":                          {`{"container":"worker"}`, "epoch is 0"},
		"P66: another code":                      {`{"container":"worker","epoch":1,"code":256}`, "code is 256"},
		"P66: a large number":                    {`{"container":"worker","epoch":99999999999}`, "is not a JSON object"},
		"P66: another signal":                    {`{"container":"worker","epoch":1,"signal":-9}`, "signal is -9"},
		"P66: no such year":                      {`{"container":"w","epoch":1,"time":"9999-12-31T23:59:59-01:00"}`, "year 10000"},
		"P66a: no DNS label":                     {`{"container":"w of worker pod other-0","epoch":1}`, "must be a DNS label"},
		"P66a: the same by its second spelling":  {`{"container":"w","epoch":1,"Container":"w\u202e"}`, "must be a DNS label"},
		"P66a: a label that ends with a hyphen":  {`{"container":"w-","epoch":1}`, "must be a DNS label"},
		"P66a: too long for a label":             {`{"container":"` + strings.Repeat("x", 64) + `","epoch":1}`, "must be a DNS label"},
		"P66a: a reason with an escape sequence": {`{"container":"w","epoch":1,"leave":"\u001b[2J"}`, "it may have letters"},
		"P66a: one that turns the text around":   {`{"container":"w","epoch":1,"leave":"\u202e"}`, "it may have letters"},
		"P66a: one that ends its sentence":       {`{"container":"w","epoch":1,"leave":"x; planned: workers have 9 s to save their state; all workers of epoch"}`, "it may have letters"},
		"P66a: one with two lines":               {`{"container":"w","epoch":1,"leave":"a\nb"}`, "it may have letters"},
		"P66a: more than a word":                 {`{"container":"w","epoch":1,"leave":"a","leaveReason":"a b"}`, "must be one word"},
		"P66: too long":                          {`{"container":"` + strings.Repeat("x", MaxWorkerExit) + `"}`, "at most 512 are allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseWorkerExit(tc.value); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want %q", err, tc.want)
			}
		})
	}
}
