/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

func hadRestarts(history ...jobset.RestartRecord) func(*Input) {
	return func(in *Input) { in.JobSet.Status.RestartHistory = history }
}

func with(in Input, changes ...func(*Input)) Input {
	for _, change := range changes {
		change(&in)
	}
	return in
}

func firstFailure(f Failure) func(*Input) { return func(in *Input) { in.FirstFailure = &f } }

// TestRestartHistory: what a restart writes, and what its end does (P179).
func TestRestartHistory(t *testing.T) {
	t.Parallel()
	at := metav1.NewMicroTime(now)
	began := metav1.NewMicroTime(past)
	oom := Failure{Pod: "js-w-0-1", Node: "n1", Container: "worker", ExitCode: 137, Reason: "OOMKilled"}
	oomCause := jobset.RestartCause{Type: jobset.CauseExited, Pod: "js-w-0-1", Node: "n1", Container: "worker", ExitCode: 137, Reason: "OOMKilled"}
	open := jobset.RestartRecord{Kind: jobset.RestartedInPlace, Epoch: 1, Reason: "InPlaceRestart", Cause: oomCause, Began: began}
	ended := func(r jobset.RestartRecord, workers int64) jobset.RestartRecord {
		r.Ended, r.Workers = &at, workers
		return r
	}
	recreation := jobset.RestartRecord{Kind: jobset.RestartedAllJobs, Attempt: 1, Reason: "DefaultFailurePolicy", Cause: oomCause, Began: began}
	oneJob := jobset.RestartRecord{Kind: jobset.RestartedJob, Cause: jobset.RestartCause{Type: jobset.CauseJobFailed, Job: "js-w-1"}, Began: metav1.NewMicroTime(recent)}
	long := strings.Repeat("x", 600)
	for name, tc := range map[string]struct {
		in   Input
		want []jobset.RestartRecord
	}{
		"P179: a break is written with its cause": {inPlace(0, 1, "1 2", firstFailure(oom)),
			[]jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: 1, Reason: "InPlaceRestart", Cause: oomCause, Began: at}}},
		"P71, P179: and until when the workers wait": {inPlace(0, 1, "1 2", firstFailure(oom), quick(2, time.Second)),
			[]jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: 1, Reason: "InPlaceRestart", Cause: oomCause, Began: at, NotBefore: ptr.To(metav1Time(now.Add(2 * time.Second)))}}},
		"P133, P179: a hang has its step and its silence": {inPlace(0, 1, "1 2", firstFailure(Failure{Pod: "js-w-0-1", Container: "c", Hang: protocol.Hang{SilentSeconds: 30, Signed: true, Step: 9}})),
			[]jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: 1, Reason: "InPlaceRestart", Began: at,
				Cause: jobset.RestartCause{Type: jobset.CauseSilent, Pod: "js-w-0-1", Container: "c", SilentSeconds: 30, Step: 9}}}},
		"P179: a cause that was not seen":                                    {inPlace(0, 1, "1 2"), []jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: 1, Reason: "InPlaceRestart", Began: at, Cause: jobset.RestartCause{Type: jobset.CauseUnseen, Pod: "js-w-0-1"}}}},
		"P179: what agents and others write is cut and clean":                {inPlace(0, 1, "1 2", firstFailure(Failure{Pod: "js-w-0-1", Replaced: "\x1b[2J\n" + long})), []jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: 1, Reason: "InPlaceRestart", Began: at, Cause: jobset.RestartCause{Type: jobset.CauseCannotRestart, Pod: "js-w-0-1", Reason: "\ufffd[2J\ufffd" + long[:256-len("\ufffd[2J\ufffd...")] + "..."}}}},
		"P179: a lift ends it":                                               {inPlace(1, 1, "2 2", restartingInPlace, hadRestarts(open)), []jobset.RestartRecord{ended(open, 2)}},
		"P179: a lift ends no restart of another epoch":                      {inPlace(2, 2, "3 3", restartingInPlace, hadRestarts(open)), []jobset.RestartRecord{open}},
		"P179: a break that comes back to a budget is no restart, and fails": {inPlace(0, 1, "1 2", firstFailure(oom), budget(3, 0, 3)), nil},
		"P179: of a group the last two are kept": {inPlace(0, 1, "1 2", firstFailure(oom), hadRestarts(open, open, open)),
			[]jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: 1, Reason: "InPlaceRestart", Cause: oomCause, Began: at}, open}},
		"P92, P179: a move is planned": {inPlace(0, 1, "1 1", marked(second), func(in *Input) { in.SickNodes.Since = past }),
			[]jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: 1, Reason: "InPlaceRestart", Planned: true, Began: at, Cause: pass.OtherCause(oneSick)}}},
		"C263, P179: all Jobs": {failing(recreated(), fell{"a", 1, 1, "Because", "m"}), []jobset.RestartRecord{{Kind: jobset.RestartedAllJobs, Attempt: 1, Reason: "DefaultFailurePolicy", Began: at,
			Cause: jobset.RestartCause{Type: jobset.CauseJobFailed, Job: "js-a-1", Reason: "Because"}}}},
		"P179: Jobs that are ready end it": {with(doing(twoKinds().Condition(jobset.JobSetRestarting, true, "r", "m", past), jobChanges{"js-a-0": up, "js-a-1": up, "js-b-0": done}), hadRestarts(recreation)), []jobset.RestartRecord{ended(recreation, 0)}},
		"P179: single Jobs within a minute are one entry, with the first cause": {with(withGate(failing(recreated(restartRule(jobset.RestartJob)), fell{"a", 1, 1, "Because", "m"})), hadRestarts(oneJob)), []jobset.RestartRecord{func() jobset.RestartRecord {
			r := oneJob
			r.Count = 2
			return r
		}()}},
		"P82, P179: a reset is told as one": {pods(time.Hour, "R F", unhealthySince(time.Minute)), []jobset.RestartRecord{{Kind: jobset.RestartedByReset, Attempt: 1, Reason: "PodsFailed", Began: at,
			Cause: pass.OtherCause("1 of 2 Pods are Failed and not replaced for more than 1m0s")}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, decideOnce(t, tc.in).Status.RestartHistory); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
		})
	}
}
