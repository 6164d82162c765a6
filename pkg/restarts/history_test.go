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
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy"
)

func at(t time.Time) *metav1.Time { return ptr.To(metav1.NewTime(t)) }

func TestLastRestarts(t *testing.T) {
	t.Parallel()
	const recreated = "applying RestartJobSet failure policy action (first failed job: train-workers-1)"
	restarting := func(status bool, reason, message string) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) {
			js.Status.Conditions = []metav1.Condition{{Type: string(jobset.JobSetRestarting), Status: metav1.ConditionFalse,
				Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(ago(time.Minute))}}
			if status {
				js.Status.Conditions[0].Status = metav1.ConditionTrue
			}
		}
	}
	tests := map[string]struct {
		deprecated, synced int32
		events             []corev1.Event
		change             func(*jobset.JobSet)
		want               []Restart
	}{
		"A restart is its start, its end and its cause": {1, 2, restarted(ago(time.Minute), 1500*time.Millisecond, 1, "a; b"), nil,
			[]Restart{{Kind: InPlace, Epoch: 1, Started: at(ago(time.Minute)), Ended: at(ago(58500 * time.Millisecond)), Seconds: ptr.To(1.5), Workers: 512, Cause: "a; b"}}},
		"P135: The end of a restart names who stood out": {1, 2, []corev1.Event{restarted(ago(time.Minute), time.Second, 1, "it hung")[0],
			event(ago(59*time.Second), constants.InPlaceRestartCompletedReason, "4 workers restarted in place: epoch 2, 1.0 seconds; worker pod a on node b stands out: it told step 8 last; or so")}, nil,
			[]Restart{{Kind: InPlace, Epoch: 1, Started: at(ago(time.Minute)), Ended: at(ago(59 * time.Second)), Seconds: ptr.To(1.0), Workers: 4, Cause: "it hung",
				Suspect: "worker pod a on node b stands out: it told step 8 last; or so"}}},
		"P142: A planned restart is told as such, and is none of those that count": {1, 2, []corev1.Event{
			event(ago(time.Minute), constants.InPlaceRestartPlannedReason, "ReplicatedJob w from 2 to 3 Pods; planned: workers have 60 s to save their state; all workers of epoch 1 restart in place"), restarted(ago(time.Minute), time.Second, 1, "")[1]}, nil,
			[]Restart{{Kind: InPlace, Epoch: 1, Started: at(ago(time.Minute)), Ended: at(ago(59 * time.Second)), Seconds: ptr.To(1.0), Workers: 512, Planned: true,
				Cause: "ReplicatedJob w from 2 to 3 Pods; planned: workers have 60 s to save their state"}}},
		"P92: So is a move, also where no time is given": {2, 2, nil, restarting(true, constants.InPlaceRestartReason, "2 Pods, and move, which does not count towards maxRestarts; all workers of epoch 2 restart in place"),
			[]Restart{{Kind: InPlace, Epoch: 2, Started: at(ago(time.Minute)), Cause: "2 Pods, and move, which does not count towards maxRestarts", Planned: true, InProgress: true}}},
		"The newest comes first, in whatever order events come": {2, 3, slices.Concat(restarted(ago(time.Minute), time.Second, 2, "b"), restarted(ago(time.Hour), time.Second, 1, "a")), nil,
			[]Restart{
				{Kind: InPlace, Epoch: 2, Started: at(ago(time.Minute)), Ended: at(ago(59 * time.Second)), Seconds: ptr.To(1.0), Workers: 512, Cause: "b"},
				{Kind: InPlace, Epoch: 1, Started: at(ago(time.Hour)), Ended: at(ago(time.Hour - time.Second)), Seconds: ptr.To(1.0), Workers: 512, Cause: "a"}}},
		"A restart of the synced epoch is in progress while the group assembles": {2, 2, restarted(ago(time.Minute), time.Second, 2, "b")[:1], nil,
			[]Restart{{Kind: InPlace, Epoch: 2, Started: at(ago(time.Minute)), Cause: "b", InProgress: true}}},
		"A restart that never ended in place is not in progress when the group runs": {2, 3, restarted(ago(time.Minute), time.Second, 2, "b")[:1], nil,
			[]Restart{{Kind: InPlace, Epoch: 2, Started: at(ago(time.Minute)), Cause: "b"}}},
		"A restart of an earlier epoch that never ended is not the one in progress": {3, 3, slices.Concat(restarted(ago(time.Hour), time.Second, 2, "b")[:1], restarted(ago(time.Minute), time.Second, 3, "c")[:1]), nil,
			[]Restart{{Kind: InPlace, Epoch: 3, Started: at(ago(time.Minute)), Cause: "c", InProgress: true}, {Kind: InPlace, Epoch: 2, Started: at(ago(time.Hour)), Cause: "b"}}},
		"A restart is not in progress while the JobSet is suspended": {2, 2, restarted(ago(time.Minute), time.Second, 2, "b")[:1], func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) },
			[]Restart{{Kind: InPlace, Epoch: 2, Started: at(ago(time.Minute)), Cause: "b"}}},
		"An end whose start is gone is a restart of unknown cause": {2, 3, restarted(ago(time.Minute), time.Second, 2, "b")[1:], nil,
			[]Restart{{Kind: InPlace, Epoch: 2, Ended: at(ago(59 * time.Second)), Seconds: ptr.To(1.0), Workers: 512}}},
		"An end belongs to no start of another epoch": {3, 4, slices.Concat(restarted(ago(time.Hour), time.Second, 1, "a")[:1], restarted(ago(time.Minute), time.Second, 3, "c")[1:]), nil,
			[]Restart{{Kind: InPlace, Epoch: 3, Ended: at(ago(59 * time.Second)), Seconds: ptr.To(1.0), Workers: 512}, {Kind: InPlace, Epoch: 1, Started: at(ago(time.Hour)), Cause: "a"}}},
		"A message that was cut is the cause, and the end gives the epoch": {1, 2,
			[]corev1.Event{event(ago(time.Minute), constants.InPlaceRestartStartedReason, "very long..."), restarted(ago(time.Minute), time.Second, 1, "")[1]}, nil,
			[]Restart{{Kind: InPlace, Epoch: 1, Started: at(ago(time.Minute)), Ended: at(ago(59 * time.Second)), Seconds: ptr.To(1.0), Workers: 512, Cause: "very long..."}}},
		"The condition tells of a restart in progress whose event is gone": {2, 2, nil, restarting(true, constants.InPlaceRestartReason, "b; all workers of epoch 2 restart in place"),
			[]Restart{{Kind: InPlace, Epoch: 2, Started: at(ago(time.Minute)), Cause: "b", InProgress: true}}},
		"P71: The condition tells of a restart that waits after quick failures": {2, 2, nil, restarting(true, constants.InPlaceRestartReason, "b; all workers of epoch 2 restart in place, not before 2026-03-14T12:00:04Z: 4 epochs in a row failed within a minute"),
			[]Restart{{Kind: InPlace, Epoch: 2, Started: at(ago(time.Minute)), Cause: "b", InProgress: true, NotBefore: at(now.Add(4 * time.Second))}}},
		"The condition and the event tell of one restart": {2, 2, restarted(ago(time.Minute), time.Second, 2, "b")[:1], restarting(true, constants.InPlaceRestartReason, "b; all workers of epoch 2 restart in place"),
			[]Restart{{Kind: InPlace, Epoch: 2, Started: at(ago(time.Minute)), Cause: "b", InProgress: true}}},
		"The condition tells of a restart whose events are gone": {2, 3, nil, restarting(false, constants.WorkersSyncedReason, "all 8 workers have reached epoch 3"),
			[]Restart{{Kind: InPlace, Epoch: 2, Ended: at(ago(time.Minute)), Workers: 8}}},
		"The condition ends a restart whose second event did not come": {2, 3, restarted(ago(63*time.Second), time.Second, 2, "b")[:1], restarting(false, constants.WorkersSyncedReason, "all 8 workers have reached epoch 3"),
			[]Restart{{Kind: InPlace, Epoch: 2, Started: at(ago(63 * time.Second)), Ended: at(ago(time.Minute)), Seconds: ptr.To(3.0), Workers: 8, Cause: "b"}}},
		"Jobs that were recreated are told, until they are ready": {0, 1,
			[]corev1.Event{event(ago(time.Minute), constants.DefaultFailurePolicyReason, recreated), event(ago(time.Minute), constants.ActionReason(jobset.RestartJobSet), recreated), event(ago(50*time.Second), constants.JobsReadyReason, constants.JobsReadyMessage)}, nil,
			[]Restart{{Kind: AllJobs, Started: at(ago(time.Minute)), Ended: at(ago(50 * time.Second)), Seconds: ptr.To(10.0), Cause: recreated}}},
		"P92: Jobs that were recreated to move Pods are told, and Pods that were deleted for it are no restart of their own": {0, 1,
			[]corev1.Event{event(ago(time.Hour), constants.WorkersMovedReason, "2 Pods"), event(ago(time.Minute), constants.MovedOffNodesReason, recreated)}, nil,
			[]Restart{{Kind: AllJobs, Started: at(ago(time.Minute)), Cause: recreated, Planned: true}}},
		"Jobs that become ready without a restart end none": {0, 1, []corev1.Event{event(ago(50*time.Second), constants.JobsReadyReason, constants.JobsReadyMessage)}, nil, []Restart{}},
		"The condition tells of Jobs that are being recreated": {1, 1, nil, restarting(true, constants.DefaultFailurePolicyReason, recreated),
			[]Restart{{Kind: AllJobs, Started: at(ago(time.Minute)), Cause: recreated}}},
		"A single Job that was recreated is told": {0, 1, []corev1.Event{event(ago(time.Minute), constants.ActionReason(jobset.RestartJob), "one")}, nil,
			[]Restart{{Kind: OneJob, Started: at(ago(time.Minute)), Cause: "one"}}},
		"Other events are no restarts": {0, 1, []corev1.Event{event(ago(time.Minute), constants.InvalidEpochReason, "x")}, nil, []Restart{}},
		"Older kinds of events say the time in other fields": {0, 1, []corev1.Event{
			{FirstTimestamp: metav1.NewTime(ago(time.Hour)), Reason: constants.ActionReason(jobset.RestartJobSet)},
			{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(ago(time.Minute))}, Reason: constants.ActionReason(jobset.RestartJobSet)}}, nil,
			[]Restart{{Kind: AllJobs, Started: at(ago(time.Minute))}, {Kind: AllJobs, Started: at(ago(time.Hour))}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := training(1, 1, tc.deprecated, tc.synced).Obj()
			if tc.change != nil {
				tc.change(js)
			}
			in := running(js, 1)
			in.Events = tc.events
			if diff := cmp.Diff(tc.want, Of(in).LastRestarts); diff != "" {
				t.Errorf("restarts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestTheWordsOfTheController: what the controller writes when it breaks and lifts a group is read back whole.
func TestTheWordsOfTheController(t *testing.T) {
	t.Parallel()
	js := training(1, 2, 0, 1).Obj()
	js.Status.QuickFailures, js.Status.LastSyncTime = 1, at(ago(61*time.Second))
	in := running(js, 1)
	podOf(t, &in, 0, 0).Annotations[jobset.EpochKey] = "2"
	for i, moment := range []time.Time{ago(time.Minute), ago(time.Minute - 2500*time.Millisecond)} {
		decide := policyInput(in)
		decide.Now, decide.ServiceExists = moment, true
		decide.Deadlines.QuickFailurePause = time.Minute // P71: the pause is a second
		decide.FirstFailure = &policy.Failure{Pod: "train-workers-0-0", Container: "worker", ExitCode: 1, Node: "node-0"}
		plan, err := policy.Decide(decide)
		if err != nil {
			t.Fatal(err)
		}
		for _, told := range plan.Events {
			in.Events = append(in.Events, event(moment, told.Reason, told.Message))
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
	want := []Restart{{Kind: InPlace, Epoch: 1, Started: at(ago(time.Minute)), Ended: at(ago(time.Minute - 2500*time.Millisecond)), Seconds: ptr.To(2.5), Workers: 2,
		Cause: "container worker of worker pod train-workers-0-0 exited with code 1 on node node-0", NotBefore: at(ago(59 * time.Second))}}
	if diff := cmp.Diff(want, Of(in).LastRestarts); diff != "" {
		t.Errorf("restarts (-want +got):\n%s\nevents: %v", diff, in.Events)
	}
	in.Events = nil // the condition alone
	want = []Restart{{Kind: InPlace, Epoch: 1, Ended: want[0].Ended, Workers: 2}}
	if diff := cmp.Diff(want, Of(in).LastRestarts); diff != "" {
		t.Errorf("restarts of the condition (-want +got):\n%s", diff)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	in := running(training(1, 1, 8, 9).InPlaceRestarts(8).Obj(), 9)
	for epoch := range 8 {
		in.Events = append(in.Events, restarted(ago(time.Hour-time.Duration(epoch)*time.Minute), time.Second, epoch+1, fmt.Sprint("cause ", epoch+1))...)
	}
	for limit, want := range map[int]string{0: "8 7 6 5 4 3 2 1", 3: "8 7 6", 9: "8 7 6 5 4 3 2 1"} {
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

func TestRestartsThatNothingTellsOfAreSaid(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		inPlace, all int32
		events       []corev1.Event
		want         []string
	}{
		"None happened": {0, 0, nil, nil},
		"All are told":  {1, 0, restarted(ago(time.Minute), time.Second, 1, "a"), nil},
		"None of the group restarts is told": {7, 0, nil,
			[]string{"group restarts: 7 happened, no events are left; an API server keeps events for an hour, unless its --event-ttl says otherwise"}},
		"P142: A planned one is none of them": {1, 0, []corev1.Event{event(ago(time.Minute), constants.InPlaceRestartPlannedReason, "w joins; planned: workers have 9 s to save their state; all workers of epoch 1 restart in place")},
			[]string{"group restarts: 1 happened, no events are left; an API server keeps events for an hour, unless its --event-ttl says otherwise"}},
		"Some are told": {7, 2, restarted(ago(time.Minute), time.Second, 1, "a"),
			[]string{"group restarts: 7 happened, events of 1 are left; an API server keeps events for an hour, unless its --event-ttl says otherwise",
				"restarts of Jobs: 2 happened, no events are left; an API server keeps events for an hour, unless its --event-ttl says otherwise"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := Input{JobSet: training(1, 1, 0, 1).InPlaceRestarts(tc.inPlace).Restarts(tc.all, tc.all).Obj(), Events: tc.events, Now: now}
			if diff := cmp.Diff(tc.want, Of(in).Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}
