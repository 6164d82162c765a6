/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func createdAfterTheBreak(index int) func(*Input) {
	return onPod(0, index, func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(now.Add(-time.Second)) })
}

// TestTheEventNamesTheSuspect: at the lift, after a hang and after nothing else (P135).
func TestTheEventNamesTheSuspect(t *testing.T) {
	t.Parallel()
	const (
		hung    = `{"container":"worker","epoch":1,"code":137,"signal":9,"time":"2026-03-14T12:00:30Z","hung":{"silentSeconds":30,"signed":true,"step":119}}`
		halted  = `{"container":"worker","epoch":1,"code":137,"signal":9,"stopped":true,"seen":"T"}`
		old     = `{"container":"worker","epoch":2,"code":137,"signal":9,"stopped":true,"seen":"T"}`
		earlier = `{"container":"worker","epoch":1,"code":137,"signal":9,"stopped":true,"seen":"T do_signal_stop futex"}`
		crashed = `{"container":"worker","epoch":1,"code":1,"time":"2026-03-14T12:00:01Z"}`
		// Connections to the one that is killed end a moment before its end is seen.
		follows = `{"container":"worker","epoch":1,"code":1,"time":"2026-03-14T12:00:29.999Z","seen":"T"}`
		waits   = `{"container":"worker","epoch":1,"code":1,"time":"2026-03-14T12:00:30.001Z"}`
		plain   = "3 workers restarted in place: epoch 2, 3600.0 seconds"
	)
	assembled := func(changes ...func(*Input)) Input {
		return inPlace(1, 1, "2 2 2", append([]func(*Input){restartingInPlace, func(in *Input) {
			in.JobSet.Status.RestartHistory = []jobset.RestartRecord{{Cause: jobset.RestartCause{Type: jobset.CauseSilent}}}
		}}, changes...)...)
	}
	announced := func(in *Input) { in.JobSet.Status.RestartHistory[0].Cause.Type = jobset.CauseExited }
	for name, test := range map[string]struct {
		in   Input
		want string
	}{
		"P135: another one than whose deadline passed": {assembled(exitReport(0, hung), exitReport(1, halted)), plain + "; likely culprit: worker pod js-w-0-1 on node n1: it has a process in state T"},
		"P135: by the steps that were told":            {assembled(exitReport(0, hung), toldSteps(0, 1, 9), toldSteps(1, 1, 9), toldSteps(2, 1, 8)), plain + "; likely culprit: worker pod js-w-0-2: it reported step 8 last, the other 2 reported step 9"},
		"P135: nobody":                                 {assembled(exitReport(0, hung)), plain + "; no likely culprit"},
		"P135: nobody of those that are left, and two were lost with their node": {assembled(exitReport(0, hung), createdAfterTheBreak(1), createdAfterTheBreak(2)),
			plain + "; no likely culprit among those that reported; lost without a report: the workers that were replaced by js-w-0-1, js-w-0-2"},
		"P135: what earlier versions told":              {assembled(exitReport(0, hung), exitReport(1, earlier)), plain + "; no likely culprit"},
		"P135: what is told of another epoch":           {assembled(exitReport(0, hung), exitReport(1, old)), plain + "; no likely culprit"},
		"P135: what is no report":                       {assembled(exitReport(0, hung), tells(0, "}"), toldSteps(1, 1, 9), toldSteps(2, 1, 8)), plain + "; no likely culprit"},
		"P135: nothing is said of a group without hang": {assembled(exitReport(1, halted)), plain},
		"P135: peers that end with the one that hung":   {assembled(exitReport(0, hung), exitReport(1, follows), exitReport(2, waits)), plain + `; likely culprit: worker pod js-w-0-1 on node n1: it has a process in state T`},
		"P135: and one of them was the cause that was announced": {assembled(announced, exitReport(0, hung), exitReport(1, waits), exitReport(2, waits)),
			plain + "; no likely culprit; first container worker of worker pod js-w-0-0 hung: no sign for 30 s at step 119 on node n1"},
		"P135: nor if a worker failed by itself": {assembled(exitReport(0, hung), exitReport(1, halted), exitReport(2, crashed)), plain},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, e := range decideOnce(t, test.in).Events {
				got = append(got, e.Message)
			}
			if len(got) != 1 || got[0] != test.want {
				t.Errorf("events\n%s, want\n%s", strings.Join(got, "\n"), test.want)
			}
		})
	}
}
