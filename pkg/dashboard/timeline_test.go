/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dashboard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/restarts"
)

// keeps gives a JobSet a ledger that was written so long ago.
func keeps(js *jobset.JobSet, ago, running, assembling, paused time.Duration) *jobset.JobSet {
	d := func(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }
	js.Status.Time = &jobset.TimeStatus{At: metav1.NewMicroTime(now.Add(-ago)), Running: d(running), Assembling: d(assembling), Paused: d(paused)}
	return js
}

func lifted(js *jobset.JobSet, ago time.Duration) *jobset.JobSet {
	js.Status.LastSyncTime = ptr.To(metav1.NewTime(now.Add(-ago)))
	return js
}

// bypassed is a JobSet whose agents let their workers run without asking.
func bypassed(deprecated, synced int32) *jobset.JobSet {
	js := training(2, deprecated, synced).Obj()
	js.Annotations = map[string]string{jobset.DisableInPlaceRestartKey: "true"}
	return js
}

const bypasses = "annotation " + jobset.DisableInPlaceRestartKey + " is set: workers start once the manager has set condition InPlaceRestartDisabled"

func TestTheTimeLine(t *testing.T) {
	t.Parallel()
	hung := func(at time.Time, epoch int32, how jobset.RestartCauseType, seconds int32, step int64) moment {
		return broke(at, epoch, jobset.RestartCause{Type: how, Container: "c", Pod: "p", Node: "n", SilentSeconds: seconds, Step: step})
	}
	hangs := "container c of worker pod p hung: "
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	told := func(in restarts.Input, moments ...moment) restarts.Input {
		for _, tell := range moments {
			tell(&in)
		}
		return in
	}
	paused := func(in *restarts.Input) {
		started(ago(10*time.Second), 2)(in)
		in.JobSet.Status.RestartHistory[0].NotBefore = ptr.To(metav1.NewTime(ago(2 * time.Second)))
	}
	for name, tc := range map[string]struct {
		in    restarts.Input
		lasts string
		want  []string
	}{
		"P140: a group without a ledger has none": {in: input(training(2, 1, 2).Obj(), 2, 2)},
		"P141: a first start waits": {in: input(keeps(training(2, 0, 0).Condition(jobset.JobSetSuspended, false, "", "", ago(20*time.Second)).Obj(), 20*time.Second, 0, 0, 0), 0, 0), lasts: "assembling",
			want: []string{"Waiting 11:59:40 - first start"}},
		"P141: then it trains": {in: input(lifted(keeps(training(2, 0, 1).Obj(), time.Minute, 0, 5*time.Second, 0), time.Minute), 1, 1), lasts: "running",
			want: []string{"Waiting 11:58:55 11:59:00 first start", "Training 11:59:00 - "}},
		"P141: a failure, whose restart is over": {
			in: told(input(keeps(training(2, 1, 2).Obj(), 10*time.Second, time.Minute, 7*time.Second, 0), 2, 2), started(ago(12*time.Second), 1), completed(ago(10*time.Second))), lasts: "running",
			want: []string{"Waiting 11:58:43 11:58:48 " + untold, "Training 11:58:48 11:59:48 " + untold, "Restart 11:59:48 11:59:50 " + cause, "Training 11:59:50 - "}},
		"P141: a hang, from the last sign on": {
			in: told(input(keeps(training(2, 2, 2).Obj(), 10*time.Second, time.Minute, 5*time.Second, 0), 2, 2), hung(ago(10*time.Second), 2, jobset.CauseSilent, 30, 8)), lasts: "assembling",
			want: []string{"Waiting 11:58:45 11:58:50 " + untold, "Training 11:58:50 11:59:20 " + untold, "Hang 11:59:20 11:59:50 a worker gave no sign", "Restart 11:59:50 - " + hangs + "no sign for 30 s at step 8 on node n"}},
		"P141: one that never gave a sign hangs from its start to its end, whoever else did": {
			in: told(input(keeps(training(2, 2, 3).Obj(), 0, time.Minute, 9*time.Second, 0), 3, 3), started(ago(62*time.Second), 1), completed(ago(60*time.Second)),
				hung(ago(20*time.Second), 2, jobset.CauseNeverSigned, 40, 0), completed(ago(0))), lasts: "running",
			want: []string{"Training 11:58:51 11:58:58 " + untold, "Restart 11:58:58 11:59:00 " + cause, "Hang 11:59:00 11:59:40 a worker gave no sign",
				"Restart 11:59:40 12:00:00 " + hangs + "no sign within 40 s of its start on node n", "Training 12:00:00 - "}},
		"P142: a planned restart is no failure": {
			in: told(input(keeps(training(2, 1, 2).Obj(), 10*time.Second, time.Minute, 2*time.Second, 0), 2, 2), planned(ago(12*time.Second), 1), completed(ago(10*time.Second))), lasts: "running",
			want: []string{"Training 11:58:48 11:59:48 " + untold, "Planned 11:59:48 11:59:50 " + resize, "Training 11:59:50 - "}},
		"P71: failures in quick succession pause it": {
			in: told(input(keeps(training(2, 2, 2).Obj(), 10*time.Second, time.Minute, 0, 0), 2, 2),
				paused), lasts: "assembling",
			want: []string{"Training 11:58:50 11:59:50 " + untold, "Paused 11:59:50 11:59:58 " + cause, "Restart 11:59:58 - " + cause}},
		"P141: a suspension": {
			in: told(input(keeps(training(2, 2, 2).Suspend(true).Condition(jobset.JobSetSuspended, true, "", "", ago(10*time.Second)).Obj(), 10*time.Second, time.Minute, 0, 0), 2, 2),
				said(event(ago(10*time.Second), constants.JobSetSuspendedReason, ""))), lasts: "paused",
			want: []string{"Training 11:58:50 11:59:50 " + untold, "Paused 11:59:50 - suspended"}},
		"P141: without events, what the status tells": {
			in: input(lifted(keeps(training(2, 2, 3).Obj(), 10*time.Second, time.Minute, 20*time.Second, 30*time.Second), 10*time.Second), 3, 3), lasts: "running",
			want: []string{"Waiting 11:58:00 11:58:20 " + untold, "Paused 11:58:20 11:58:50 " + untold, "Training 11:58:50 11:59:50 " + untold, "Training 11:59:50 - "}},
		"P140, P34: a bypass that began while it ran": {
			in: input(keeps(bypassed(1, 2), 10*time.Second, time.Minute, 20*time.Second, 0), 2, 2), lasts: "running",
			want: []string{"Waiting 11:58:30 11:58:50 " + untold, "Training 11:58:50 11:59:50 " + untold, "Training 11:59:50 - " + bypasses}},
		"P140, P34: and one while it assembled": {
			in: input(keeps(bypassed(2, 2), 10*time.Second, time.Minute, 20*time.Second, 0), 2, 2), lasts: "assembling",
			want: []string{"Waiting 11:58:30 11:58:50 " + untold, "Training 11:58:50 11:59:50 " + untold, "Waiting 11:59:50 - " + bypasses}},
		"P141: it ends with the JobSet": {
			in:   input(lifted(keeps(training(2, 0, 1).Condition(jobset.JobSetCompleted, true, "", "", ago(10*time.Second)).Obj(), 10*time.Second, time.Minute, 5*time.Second, 0), 70*time.Second), 1, 1),
			want: []string{"Waiting 11:58:45 11:58:50 first start", "Training 11:58:50 11:59:50 " + untold}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := JobSetOf(tc.in, nil).Detail.Time
			if got == nil {
				got = &Time{}
			}
			clock := func(at int64) string {
				if at == 0 {
					return "-"
				}
				return time.UnixMilli(at).UTC().Format(time.TimeOnly)
			}
			var phases []string
			for _, p := range got.Phases {
				phases = append(phases, fmt.Sprintf("%s %s %s %s", p.Name, clock(p.From), clock(p.To), p.Text))
			}
			if diff := cmp.Diff(tc.want, phases); diff != "" || got.Lasts != tc.lasts {
				t.Errorf("%q lasts, want %q; phases (-want +got):\n%s", got.Lasts, tc.lasts, diff)
			}
		})
	}
}

// TestThePausesOfWhatLasts: a page that adds the time since the ledger was written needs the pauses in it (P71, P83).
func TestThePausesOfWhatLasts(t *testing.T) {
	t.Parallel()
	js := keeps(training(2, 2, 2).Obj(), 10*time.Second, time.Minute, 0, 0)
	js.Status.QuickFailures, js.Status.BreakTime = 5, ptr.To(metav1.NewMicroTime(now.Add(-10*time.Second)))
	js.Spec.FaultTolerance = &jobset.FaultTolerance{RetryPauseSeconds: ptr.To[int32](6)}
	js.Status.FaultTolerance = &jobset.FaultToleranceStatus{Reset: &jobset.ResetStatus{JobsGoneTime: ptr.To(metav1.NewTime(now.Add(-5 * time.Second)))}}
	at := func(s int) int64 { return now.Add(time.Duration(s) * time.Second).UnixMilli() }
	want := [][2]int64{{at(-10), at(-2)}, {at(-5), at(1)}}
	got := JobSetOf(input(js, 2, 2), nil).Detail.Time
	if diff := cmp.Diff(want, got.Pauses); diff != "" || got.Lasts != "assembling" {
		t.Errorf("%q lasts; its pauses (-want +got):\n%s", got.Lasts, diff)
	}
}

// TestATimeLineHasNoGaps: whatever events and the status tell, in whatever order, phases follow each other from the first Job to now (P141).
func TestATimeLineHasNoGaps(t *testing.T) {
	t.Parallel()
	js := keeps(training(2, 5, 6).Obj(), time.Second, time.Hour, time.Minute, time.Minute)
	var events []corev1.Event
	random := rand.New(rand.NewPCG(1, 2))
	moment := func() time.Time { return now.Add(-time.Duration(random.IntN(5400)) * time.Second) } // some of them before the first Job
	for _, reason := range []string{constants.JobSetSuspendedReason, constants.ResumedReason} {
		for range 8 {
			events = append(events, event(moment(), reason, ""))
		}
	}
	for i := range int32(5) {
		record := jobset.RestartRecord{Kind: jobset.RestartedInPlace, Epoch: i, Began: metav1.NewMicroTime(moment()), Planned: i == 2,
			Cause: jobset.RestartCause{Type: jobset.CauseSilent, SilentSeconds: 10 * i}, NotBefore: ptr.To(metav1.NewTime(moment()))}
		if i > 1 {
			record.Ended = ptr.To(metav1.NewMicroTime(moment()))
		}
		js.Status.RestartHistory = append(js.Status.RestartHistory, record)
	}
	in := input(js, 6, 6)
	for range events {
		events = append(events[1:], events[0])
		in.Events = slices.Clone(events)
		phases := JobSetOf(in, nil).Detail.Time.Phases
		at := js.Status.Time.At.Add(-62 * time.Minute).UnixMilli()
		for i, p := range phases {
			if last := i == len(phases)-1; p.From != at || last != (p.To == 0) || !last && p.To <= p.From {
				t.Fatalf("phase %d of %d does not begin at %d: %+v", i, len(phases), at, p)
			}
			at = p.To
		}
	}
}
