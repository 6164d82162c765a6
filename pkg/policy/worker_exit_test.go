/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// exitReport: the agent of a Pod of the first Job reports how a worker ended.
func exitReport(i int, exit string) func(*Input) {
	return onPod(0, i, func(pod *corev1.Pod) {
		pod.Annotations[jobset.WorkerExitKey] = exit
		pod.Spec.NodeName = "n1"
	})
}

// supervised restarts processes, not containers.
func supervised(in *Input) {
	in.JobSet.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}
}

// TestTheFirstCauseIsReported: also by a leader that has seen nothing of it.
func TestTheFirstCauseIsReported(t *testing.T) {
	t.Parallel()
	const (
		one       = `{"container":"worker","epoch":1,"code":3,"time":"2026-03-14T11:59:59Z"}`
		earlier   = `{"container":"worker","epoch":1,"code":139,"signal":11,"time":"2026-03-14T11:59:58Z"}`
		before    = `{"container":"worker","epoch":1,"code":3,"time":"2026-03-14T11:00:00Z"}`
		hung      = `{"container":"worker","epoch":1,"code":137,"signal":9,"time":"2026-03-14T12:00:00Z","hung":{"silentSeconds":30,"signed":true,"step":119}}`
		first     = "container worker of worker pod js-w-0-0 exited with code 3 on node n1"
		hungFirst = "container worker of worker pod js-w-0-1 hung: no sign for 30 s at step 119 on node n1"
		second    = "container worker of worker pod js-w-0-1 exited with code 139 (signal 11) on node n1"
	)
	tests := map[string]struct {
		in   Input
		want string
	}{
		"P66: by the agent":                    {inPlace(0, 1, "2 1", exitReport(0, one)), first},
		"P66: of several the earliest":         {inPlace(0, 1, "2 2", exitReport(0, one), exitReport(1, earlier)), second},
		"P66: what was seen comes before":      {inPlace(0, 1, "2 2", exitReport(1, earlier), sawExit), exited},
		"P66: out of memory":                   {inPlace(0, 1, "2 1", exitReport(0, `{"container":"worker","epoch":1,"code":137,"signal":9,"oomKilled":true}`)), "container worker of worker pod js-w-0-0 exited with code 137 (signal 9, OOMKilled) on node n1"},
		"P66: an exit with 0 is no failure":    {inPlace(0, 1, "2 1", exitReport(0, `{"container":"worker","epoch":1,"code":0}`)), reported},
		"P66: nor is the last of a Pod":        {inPlace(0, 1, "2 1", exitReport(0, `{"container":"worker","epoch":1,"code":0,"done":true}`)), reported},
		"P66: nor is one that was told to end": {inPlace(0, 1, "2 1", exitReport(0, `{"container":"worker","epoch":1,"code":143,"signal":15,"stopped":true}`)), reported},
		"P66: an older epoch is nothing":       {inPlace(1, 2, "3 2", exitReport(0, before)), reported},
		"P66: a later epoch is nothing":        {inPlace(0, 1, "2 1", exitReport(0, `{"container":"worker","epoch":2,"code":3}`)), reported},
		"P66: what is no exit is nothing":      {inPlace(0, 1, "2 1", exitReport(0, `{"container":"worker","epoch":1,"code":"3"}`)), reported},
		"P66: nor is what is too long":         {inPlace(0, 1, "2 1", exitReport(0, one+string(make([]byte, 512)))), reported},
		"P133: it hung": {
			inPlace(0, 1, "2 1", exitReport(0, `{"container":"worker","epoch":1,"code":137,"signal":9,"hung":{"silentSeconds":30,"signed":true,"step":119}}`)),
			"container worker of worker pod js-w-0-0 hung: no sign for 30 s at step 119 on node n1",
		},
		"P133: a peer that ended with it was seen first": {inPlace(0, 1, "2 2", exitReport(0, one), exitReport(1, hung), sawExit), hungFirst},
		"P133: a worker that ended long before it":       {inPlace(0, 1, "2 2", exitReport(0, before), exitReport(1, hung)), first},
		"P133: a Pod that was seen to go comes before":   {inPlace(0, 1, "2 2", exitReport(1, hung), func(in *Input) { in.FirstFailure = &Failure{Pod: "js-w-0-0", Deleted: true} }), "worker pod js-w-0-0 was deleted"},
		"P133: it hung, and ended with 0 when it was about to be killed": {
			inPlace(0, 1, "2 1", exitReport(0, `{"container":"worker","epoch":1,"code":0,"hung":{"silentSeconds":600}}`)),
			"container worker of worker pod js-w-0-0 hung: no sign within 600 s of its start on node n1",
		},
		"P66: a Pod that failed since": {inPlace(0, 1, "F1 1", exitReport(0, one), confirmed(0)), first},
		"P70: a Pod that asked for another": {
			inPlace(0, 1, "F1 1", exitReport(0, `{"container":"worker","epoch":1,"code":0,"leave":"container worker cannot be stopped"}`), confirmed(0)),
			"worker pod js-w-0-0 could not restart in place (container worker cannot be stopped) on node n1",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, func(w *summary) {
				synced := *tc.in.JobSet.Status.SyncedEpoch
				broken(synced, tc.want)(w)
			})
		})
	}
}

// TestASuccessIsReported: seconds before the kubelet shows it (P45).
func TestASuccessIsReported(t *testing.T) {
	t.Parallel()
	const done = `{"container":"worker","epoch":1,"code":0,"done":true}`
	const cause = "worker pod js-w-1-0 restarted, its exit code was not seen"
	breaks := broken(1, cause)
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P66, P45: the JobSet is about to complete": {inPlace(0, 1, "1|2", driven, exitReport(0, done)), func(w *summary) { w.RequeueAfter = 90 * time.Second }},
		"P66, P45: only a part of the Pod is done":  {inPlace(0, 1, "1|2", driven, exitReport(0, `{"container":"worker","epoch":1,"code":0}`)), breaks},
		"P66, P45: of an older epoch":               {inPlace(1, 2, "2|3", driven, exitReport(0, done)), broken(2, cause)},
		"P66, P45b: of a Pod that shows no epoch":   {inPlace(0, 1, "_|2", driven, exitReport(0, done)), func(w *summary) { w.RequeueAfter = 90 * time.Second }},
		"P66, P45b: of a Pod that is at the next":   {inPlace(0, 1, "2|2", driven, exitReport(0, done)), broken(1, "worker pod js-w-0-0 restarted, its exit code was not seen")},
		"P66, P45: that was told to stop":           {inPlace(0, 1, "1|2", driven, exitReport(0, `{"container":"worker","epoch":1,"code":0,"done":true,"stopped":true}`)), breaks},
		"P66, P45: that did not end well":           {inPlace(0, 1, "1|2", driven, exitReport(0, `{"container":"worker","epoch":1,"code":1,"done":true}`)), breaks},
		"P66, P45: that has failed since":           {inPlace(0, 1, "f1|2", driven, exitReport(0, done)), breaks},
		"P66, P45: that cannot be read":             {inPlace(0, 1, "1|2", driven, exitReport(0, `"done"`)), breaks},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func TestReplacedPods(t *testing.T) {
	t.Parallel()
	const leave = `{"container":"worker","epoch":1,"code":0,"leave":"container worker cannot be stopped","leaveReason":"ProcessStuck"}`
	leaves := onPod(0, 0, func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "other"}, {Name: "worker", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 65}}}}
	})
	tests := map[string]struct {
		in   Input
		want map[string]string
	}{
		"P70: with the reason that was told":           {inPlace(1, 1, "F1 2", supervised, exitReport(0, leave), leaves), map[string]string{"js-w-0-0": "ProcessStuck: container worker cannot be stopped"}},
		"P70: while its Job has not counted it":        {inPlace(1, 1, "f1 2", supervised, exitReport(0, leave)), map[string]string{"js-w-0-0": "ProcessStuck: container worker cannot be stopped"}},
		"P70: while the group runs":                    {inPlace(0, 1, "f1 1", supervised, exitReport(0, leave)), map[string]string{"js-w-0-0": "ProcessStuck: container worker cannot be stopped"}},
		"P70: nobody said why":                         {inPlace(1, 1, "F1 2", supervised, leaves), map[string]string{"js-w-0-0": ": the supervisor of container worker ended with code 65"}},
		"P70: not while it has not ended":              {inPlace(1, 1, "1 2", supervised, exitReport(0, leave)), map[string]string{}},
		"P70: not when another stands in its place":    {inPlace(1, 1, "F1 2", supervised, exitReport(0, leave), more(0, 0, "_")), map[string]string{}},
		"P70: not a Pod that failed for another cause": {inPlace(1, 1, "F1 2", supervised), map[string]string{}},
		"P70: nor one whose own worker ended with 65":  {inPlace(1, 1, "F1 2", leaves), map[string]string{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := map[string]string{}
			for _, replaced := range decideOnce(t, tc.in).Replaced {
				got[replaced.Pod.Name] = string(replaced.Reason) + ": " + replaced.Because
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("replaced (-want +got):\n%s", diff)
			}
		})
	}
	// What was found is still reported when Jobs cannot be changed.
	in := inPlace(1, 1, "F1 2", supervised, exitReport(0, leave))
	plan := decideOnce(t, in)
	plan.Ops = []Op{{Kind: DeletePod}}
	if part := plan.Interrupted(ptr.To(in.JobSet.Status)); len(part.Replaced) != 1 {
		t.Errorf("P70: of an interrupted plan %d are told", len(part.Replaced))
	}
}
