/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy"
)

func TestLastRestarts(t *testing.T) {
	t.Parallel()
	first, second := restarted(ago(time.Hour), time.Second, 1, "a"), restarted(ago(time.Minute), 1500*time.Millisecond, 2, "b")
	row := func(record jobset.RestartRecord, seconds *float64, inProgress bool) Restart {
		return Restart{RestartRecord: record, Because: record.Cause.Message, Seconds: seconds, InProgress: inProgress}
	}
	newer := jobset.RestartRecord{Kind: "Teleport", Cause: jobset.RestartCause{Type: "Solar"}}
	tests := map[string]struct {
		deprecated, synced int32
		history            []jobset.RestartRecord
		change             func(*jobset.JobSet)
		want               []Restart
	}{
		"P179: A restart is its beginning, its end and its cause":             {2, 3, []jobset.RestartRecord{second, first}, nil, []Restart{row(second, ptr.To(1.5), false), row(first, ptr.To(1.0), false)}},
		"P179: One of the synced epoch is in progress while it assembles":     {2, 2, []jobset.RestartRecord{open(second)}, nil, []Restart{row(open(second), nil, true)}},
		"P179: One that never ended is not in progress when the group runs":   {2, 3, []jobset.RestartRecord{open(second)}, nil, []Restart{row(open(second), nil, false)}},
		"P179: One of an earlier epoch that never ended is not in progress":   {3, 3, []jobset.RestartRecord{open(second)}, nil, []Restart{row(open(second), nil, false)}},
		"P179: One is not in progress while the JobSet is suspended":          {2, 2, []jobset.RestartRecord{open(second)}, func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }, []Restart{row(open(second), nil, false)}},
		"P179: What a later manager calls otherwise is shown as it calls it":  {0, 1, []jobset.RestartRecord{newer}, nil, []Restart{{RestartRecord: newer, Because: "a cause that this version does not know: Solar"}}},
		"P179: Without a restart, or from an earlier manager, there are none": {0, 1, nil, nil, []Restart{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := training(1, 1, tc.deprecated, tc.synced).Obj()
			js.Status.RestartHistory = tc.history
			if tc.change != nil {
				tc.change(js)
			}
			if diff := cmp.Diff(tc.want, Of(running(js, 1)).LastRestarts); diff != "" {
				t.Errorf("restarts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestHistoryWithoutEvents: what the controller wrote when it broke and lifted a group is told a week later, when every event
// has gone.
func TestHistoryWithoutEvents(t *testing.T) {
	t.Parallel()
	js := training(1, 2, 0, 1).Obj()
	js.Status.QuickFailures, js.Status.LastSyncTime = 1, ptr.To(metav1.NewTime(ago(61*time.Second)))
	in := running(js, 1)
	podOf(t, &in, 0, 0).Annotations[jobset.EpochKey] = "2"
	for i, moment := range []time.Time{ago(time.Minute), ago(time.Minute - 2500*time.Millisecond)} {
		decide := inputOf(in).Input
		decide.Now, decide.ServiceExists = moment, true
		decide.Deadlines.QuickFailurePause = time.Minute // P71: the pause is a second
		decide.FirstFailure = &policy.Failure{Pod: "train-workers-0-0", Container: "worker", ExitCode: 1, Node: "node-0"}
		plan, err := policy.Decide(decide)
		if err != nil {
			t.Fatal(err)
		}
		in.JobSet = in.JobSet.DeepCopy()
		in.JobSet.Status = plan.Status
		if paused := in; i == 0 {
			paused.Now = moment
			report := Of(paused)
			if !slices.ContainsFunc(report.Notes, func(note string) bool {
				return note == "2 epochs in a row failed within a minute: the barrier stays until "+moment.Add(time.Second).UTC().Format(time.RFC3339)
			}) {
				t.Errorf("P71: the pause is not told: %q", report.Notes)
			}
			paused.Now = moment.Add(time.Second)
			if report := Of(paused); slices.ContainsFunc(report.Notes, func(note string) bool { return strings.Contains(note, "in a row") }) {
				t.Errorf("P71: a pause that is over is told: %q", report.Notes)
			}
		}
		podOf(t, &in, 0, 1).Annotations[jobset.EpochKey] = "2"
	}
	in.Now = now.Add(7 * 24 * time.Hour)
	report := Of(in)
	text := Text(&report, false)
	if want := "InPlace  1 to 2  2026-03-14T11:59:00Z (7d ago)  2.5s  container worker of worker pod train-workers-0-0 exited with code 1 on node node-0\n"; !strings.Contains(text, want) {
		t.Errorf("P179: a week later there is no %q in:\n%s", want, text)
	}
}

// TestHistoryOfJobsWithoutEvents: the same of Jobs that are recreated.
func TestHistoryOfJobsWithoutEvents(t *testing.T) {
	t.Parallel()
	js := training(2, 1, 0, 0).FailurePolicy(jobset.Recreate, 3).Obj()
	in := running(js, 0)
	in.Pods = nil
	failed := jobOf(&in, 1)
	failed.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded", LastTransitionTime: metav1.NewTime(now)}}
	decide := inputOf(in).Input
	plan, err := policy.Decide(decide)
	if err != nil {
		t.Fatal(err)
	}
	js.Status = plan.Status
	report := Of(Input{JobSet: js, Now: now.Add(7 * 24 * time.Hour)})
	text := Text(&report, false)
	if want := "AllJobs  -      2026-03-14T12:00:00Z (7d ago)  -     Job train-workers-1 failed (BackoffLimitExceeded)\n"; !strings.Contains(text, want) {
		t.Errorf("P179: a week later there is no %q in:\n%s", want, text)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	in := running(training(1, 1, 4, 5).Obj(), 5)
	for epoch := int32(4); epoch > 0; epoch-- {
		in.JobSet.Status.RestartHistory = append(in.JobSet.Status.RestartHistory, restarted(ago(time.Hour), time.Second, epoch, "it"))
	}
	for limit, want := range map[int]string{0: "4 3 2 1", 3: "4 3 2", 9: "4 3 2 1"} {
		in.Limit = limit
		var epochs []string
		for _, r := range Of(in).LastRestarts {
			epochs = append(epochs, fmt.Sprint(r.Epoch))
		}
		if got := strings.Join(epochs, " "); got != want {
			t.Errorf("limit %d: epochs %s, want %s", limit, got, want)
		}
	}
}

// TestRestartsOfEarlierManagers: they wrote no history, and nothing is read of their messages.
func TestRestartsOfEarlierManagers(t *testing.T) {
	t.Parallel()
	const unknown = "status.restartHistory is empty: an earlier version of the manager decided these restarts, and did not record them"
	for name, tc := range map[string]struct {
		js   *jobset.JobSet
		want []string
	}{
		"P179: none happened":        {training(1, 1, 0, 1).Obj(), nil},
		"P179: of the group":         {training(1, 1, 0, 1).InPlaceRestarts(7).Obj(), []string{unknown}},
		"P179: of Jobs, not counted": {training(1, 1, 0, 1).Restarts(2, 0).Obj(), []string{unknown}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := Input{JobSet: tc.js, Now: now, Events: []corev1.Event{event(ago(time.Minute), constants.InPlaceRestartStartedReason, "it; all workers of epoch 1 restart in place")}}
			if diff := cmp.Diff(Notes(tc.want), Of(in).Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}
