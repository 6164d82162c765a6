/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dashboard

import (
	"errors"
	"fmt"
	"strconv"
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
	"sigs.k8s.io/jobset/pkg/restarts"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

var now = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// cause is as package policy writes it.
var (
	failure = policy.Failure{Container: "trainer", Pod: "train-workers-0-1", ExitCode: 1, Node: "node-1"}
	cause   = failure.String()
)

// training is JobSet research/train of one Job.
func training(workers int32, deprecated, synced int32) *builders.JobSetWrapper {
	return builders.MakeJobSet("train", "research").UID("train-uid").FailurePolicy(jobset.InPlaceRestart, 10).Epochs(deprecated, synced).
		ReplicatedJob(builders.MakeReplicatedJob("workers").Workers(workers))
}

// input is what is read of a JobSet whose Pods report the given epochs.
func input(js *jobset.JobSet, epochs ...int) restarts.Input {
	job := builders.MakeJob(js, "workers", 0).Workers(int32(len(epochs))).Obj()
	in := restarts.Input{JobSet: js, Now: now, Jobs: nil}
	in.Jobs = append(in.Jobs, *job)
	for i, epoch := range epochs {
		pod := builders.MakePod(job, i).Epoch(strconv.Itoa(epoch)).Obj()
		pod.Spec.NodeName = fmt.Sprintf("node-%d", i)
		in.Pods = append(in.Pods, *pod)
	}
	return in
}

func event(at time.Time, reason, message string) corev1.Event {
	return corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("train.%d", at.UnixNano()), Namespace: "research"}, EventTime: metav1.NewMicroTime(at),
		Reason: reason, Message: message, InvolvedObject: corev1.ObjectReference{Kind: jobset.Kind, Namespace: "research", Name: "train", UID: "train-uid"},
	}
}

// moment is what the status, or an event, tells of one.
type moment func(*restarts.Input)

func said(e corev1.Event) moment {
	return func(in *restarts.Input) { in.Events = append(in.Events, e) }
}

func broke(at time.Time, epoch int32, c jobset.RestartCause) moment {
	return func(in *restarts.Input) {
		history := &in.JobSet.Status.RestartHistory
		*history = append([]jobset.RestartRecord{{Kind: jobset.RestartedInPlace, Epoch: epoch, Began: metav1.NewMicroTime(at), Cause: c}}, *history...)
	}
}

func started(at time.Time, epoch int32) moment { return broke(at, epoch, failure.Cause()) }

// resize is how package policy says one.
const resize = "ReplicatedJob workers from 2 to 3 Pods"

func planned(at time.Time, epoch int32) moment {
	return func(in *restarts.Input) {
		broke(at, epoch, jobset.RestartCause{Type: jobset.CauseOther, Message: resize})(in)
		in.JobSet.Status.RestartHistory[0].Planned = true
	}
}

// completed ends the last one.
func completed(at time.Time) moment {
	return func(in *restarts.Input) {
		last := &in.JobSet.Status.RestartHistory[0]
		last.Ended, last.Workers = ptr.To(metav1.NewMicroTime(at)), 2
	}
}

func assembling() *jobset.JobSet {
	return training(2, 2, 2).Condition(jobset.JobSetRestarting, true, constants.InPlaceRestartReason,
		cause+"; all workers of epoch 2 restart in place", now.Add(-4*time.Second)).Obj()
}

func TestCellsHaveAStateAndAnEpoch(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in      restarts.Input
		want    []string
		running int
		back    int
		notBack int
		note    string
	}{
		"workers of a group that runs": {
			in: input(training(2, 1, 2).Obj(), 2, 2), want: []string{"workers-0-0 Running 2 node-0", "workers-0-1 Running 2 node-1"}, running: 2, back: 2,
		},
		"P13: those of a group that assembles are held, or not back": {
			in: input(assembling(), 3, 2), want: []string{"workers-0-0 HeldAtBarrier 3 node-0", "workers-0-1 NotReported 2 node-1"}, back: 1, notBack: 1,
		},
		"a suspended JobSet has nobody who is not back": {
			in: input(training(1, 0, 0).Suspend(true).Obj(), 0), want: []string{"workers-0-0 Running 0 node-0"}, running: 1, back: 1,
		},
		"without the right to read Pods there are no cells, and a note": {
			in: restarts.Input{JobSet: training(2, 1, 2).Obj(), PodsUnread: errors.New("forbidden"), Now: now}, note: "Pods could not be read",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := JobSetOf(tc.in, nil)
			var cells []string
			for _, c := range v.Cells {
				cells = append(cells, fmt.Sprintf("%s %s %d %s", c.Name, c.State, c.Epoch, c.Node))
			}
			if diff := cmp.Diff(tc.want, cells); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
			if v.Summary.Running != tc.running || v.Detail.Back != tc.back || v.Detail.NotBack != tc.notBack || len(v.Detail.Trouble) != tc.notBack {
				t.Errorf("%d running, %d back, %d not back, want %d, %d, %d", v.Summary.Running, v.Detail.Back, v.Detail.NotBack, tc.running, tc.back, tc.notBack)
			}
			if notes := strings.Join(v.Detail.Notes, "\n"); !strings.Contains(notes, tc.note) {
				t.Errorf("notes are %q, want %q", notes, tc.note)
			}
		})
	}
}

func TestStepsTellTheLastRestart(t *testing.T) {
	t.Parallel()
	failedAt := now.Add(-5 * time.Second)
	tests := map[string]struct {
		in     restarts.Input
		events []moment
		change func(in *restarts.Input)
		want   []string
	}{
		"a group that never restarted has no steps": {in: input(training(2, 1, 2).Obj(), 2, 2)},
		"a first start has reports and a lift": {
			in: input(training(2, 0, 0).Obj(), 1, 0), want: []string{"Reports - 1 of 2 workers are back", "Lift - when all are back"},
		},
		"P14: a restart that is under way": {
			in: input(assembling(), 3, 2), events: []moment{started(now.Add(-4*time.Second), 2)},
			want: []string{"Failure done " + cause, "Break done 11:59:56 the workers of epoch 2 stop, and restart in place", "Reports - 1 of 2 workers are back", "Lift - when all are back"},
		},
		"P66: the agent of the Pod that the cause names says when its worker ended": {
			in: input(assembling(), 3, 2), events: []moment{started(now.Add(-4*time.Second), 2)},
			change: func(in *restarts.Input) {
				in.Pods[1].Annotations[jobset.WorkerExitKey] = fmt.Sprintf(`{"container":"trainer","epoch":2,"code":1,"time":%q}`, failedAt.Format(time.RFC3339))
			},
			want: []string{"Failure done 11:59:55 " + cause, "Break done 11:59:56 the workers of epoch 2 stop, and restart in place", "Reports - 1 of 2 workers are back", "Lift - when all are back"},
		},
		"a restart that is over ends with its lift": {
			in: input(training(2, 2, 3).Obj(), 3, 3), events: []moment{started(now.Add(-9*time.Second), 2), completed(now.Add(-time.Second))},
			want: []string{"Failure done " + cause, "Break done 11:59:51 the workers of epoch 2 stop, and restart in place", "Reports done all 2 workers are back", "Lift done 11:59:59 8.0 seconds after it began"},
		},
		"P142: a planned restart has no failure": {
			in: input(training(2, 2, 3).Obj(), 3, 3), events: []moment{planned(now.Add(-9*time.Second), 2), completed(now.Add(-time.Second))},
			want: []string{"Planned done " + resize, "Break done 11:59:51 the workers of epoch 2 stop, and restart in place", "Reports done all 2 workers are back", "Lift done 11:59:59 8.0 seconds after it began"},
		},
		"with another strategy Jobs are recreated": {
			in: input(builders.MakeJobSet("train", "research").UID("train-uid").FailurePolicy(jobset.Recreate, 3).ReplicatedJob(builders.MakeReplicatedJob("workers").Workers(1)).Obj(), 0),
			events: []moment{func(in *restarts.Input) {
				broke(now.Add(-time.Minute), 0, jobset.RestartCause{Type: jobset.CauseJobFailed, Job: "a"})(in)
				in.JobSet.Status.RestartHistory[0].Kind = jobset.RestartedAllJobs
			}},
			want: []string{"Failure done Job a failed", "Recreation done 11:59:00 all Jobs are recreated", "Ready - when all are ready"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, tell := range tc.events {
				tell(&tc.in)
			}
			if tc.change != nil {
				tc.change(&tc.in)
			}
			var steps []string
			for _, s := range JobSetOf(tc.in, nil).Detail.Steps {
				words := []string{s.Name, map[bool]string{true: "done", false: "-"}[s.Done]}
				if s.At != nil {
					words = append(words, s.At.UTC().Format(time.TimeOnly))
				}
				steps = append(steps, strings.Join(append(words, s.Text), " "))
			}
			if diff := cmp.Diff(tc.want, steps); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReportsAreCountedFromBreakToLift(t *testing.T) {
	t.Parallel()
	var seen *JobSet
	for i, in := range []restarts.Input{
		input(training(2, 1, 2).Obj(), 2, 2), input(assembling(), 2, 2), input(assembling(), 3, 2), input(assembling(), 3, 2),
		input(training(2, 2, 3).Obj(), 3, 3), input(training(2, 2, 3).Obj(), 3, 3),
	} {
		in.Now = now.Add(time.Duration(i) * time.Second)
		seen = JobSetOf(in, seen)
	}
	at := now.UnixMilli()
	want := Reports{Epoch: 2, Points: []Point{{at + 1000, 0}, {at + 2000, 1}, {at + 4000, 2}}}
	if diff := cmp.Diff(want, seen.Detail.Reports); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

func TestALongCurveLosesPointsAndKeepsItsEnds(t *testing.T) {
	t.Parallel()
	var reports Reports
	for i := range 1000 {
		report := restarts.Report{State: restarts.State{Name: restarts.Assembling}, Epochs: &restarts.Epochs{Synced: 2}, Workers: &restarts.Workers{Total: 1000, Back: i}}
		reports = reports.next(&report, now.Add(time.Duration(i)*time.Second))
	}
	points := reports.Points
	if len(points) > mostPoints+1 || points[0].Back != 0 || points[len(points)-1].Back != 999 {
		t.Errorf("%d points from %v to %v, want at most %d from 0 to 999", len(points), points[0], points[len(points)-1], mostPoints+1)
	}
}

func TestNodesThatFailedOftenComeFirst(t *testing.T) {
	t.Parallel()
	in := input(assembling(), 3, 2)
	for _, tell := range []moment{started(now.Add(-time.Hour), 1), completed(now.Add(-59 * time.Minute)), started(now.Add(-4*time.Second), 2)} {
		tell(&in)
	}
	in.Pods[0].Annotations[jobset.EpochKey] = "2" // both are not back
	jobSets := []*JobSet{JobSetOf(in, nil)}
	ready := func(name string, status corev1.ConditionStatus) corev1.Node {
		return corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status}}}}
	}
	cordoned := ready("node-1", corev1.ConditionTrue)
	cordoned.Spec.Unschedulable = true
	cordoned.Labels = map[string]string{"autopilot.ibm.com/gpuhealth": "EVICT"}
	last := metav1.NewTime(now.Add(-4 * time.Second))
	first := Node{Name: "node-1", Failures: 2, Last: &last, Trouble: 1, JobSets: []string{"research/train"}}
	second := Node{Name: "node-0", Trouble: 1, JobSets: []string{"research/train"}}
	with := func(n Node, state string, marks ...string) Node {
		n.State, n.Marks = state, marks
		return n
	}
	tests := map[string]struct {
		nodes  []corev1.Node
		unread error
		want   []Node
	}{
		"as they are": {
			nodes: []corev1.Node{ready("node-0", corev1.ConditionUnknown), cordoned, ready("other", corev1.ConditionFalse)},
			want:  []Node{with(first, "Cordoned", "autopilot.ibm.com/gpuhealth=EVICT"), with(second, "NotReady")},
		},
		"that are gone": {want: []Node{with(first, "Gone"), with(second, "Gone")}},
		"that may not be read are named for what failed there": {unread: errors.New("forbidden"), want: []Node{first}},
		"that work are left out as long as nothing failed there": {
			nodes: []corev1.Node{ready("node-0", corev1.ConditionTrue), ready("node-1", corev1.ConditionTrue)}, want: []Node{with(first, "Ready")},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, nodesOf(jobSets, tc.nodes, tc.unread)); diff != "" {
				t.Errorf("nodes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADeltaHasWhatChanged(t *testing.T) {
	t.Parallel()
	js := func(id string, states ...restarts.WorkerState) *JobSet {
		v := &JobSet{Summary: Summary{ID: id, Total: len(states)}, Detail: Detail{ID: id, Total: len(states)}}
		for _, s := range states {
			v.Cells = append(v.Cells, Cell{State: s})
		}
		return v
	}
	list := func(jobSets ...*JobSet) *View { return &View{JobSets: jobSets} }
	two := 2
	none := 0
	tests := map[string]struct {
		before, after *View
		id            string
		want          *Delta
	}{
		"nothing": {before: list(js("a/a", "Running")), after: list(js("a/a", "Running"))},
		"one cell": {
			before: list(js("a/a", "Running", "Running")), after: list(js("a/a", "Running", "Failed")),
			want: &Delta{Cells: map[int]Cell{1: {State: "Failed"}}},
		},
		"nothing of a JobSet that is not shown but its line": {
			before: list(js("a/a"), js("a/b", "Running")), after: list(js("a/a"), js("a/b")), id: "a/a",
			want: &Delta{List: &[]Summary{{ID: "a/a"}, {ID: "a/b"}}},
		},
		"a group of another size": {
			before: list(js("a/a", "Running")), after: list(js("a/a", "Running", "NoPod")),
			want: &Delta{List: &[]Summary{{ID: "a/a", Total: 2}}, Detail: &Detail{ID: "a/a", Total: 2}, Size: &two, Cells: map[int]Cell{1: {State: "NoPod"}}},
		},
		"a JobSet that is gone": {
			before: list(js("a/a", "Running")), after: list(),
			want: &Delta{List: &[]Summary{}, Detail: &Detail{}, Size: &none},
		},
		"everything at first, of the first one if the one that is asked for does not exist": {
			after: list(js("a/a", "Running", "Running")), id: "a/x",
			want: &Delta{
				Full: true, Scope: &Scope{}, List: &[]Summary{{ID: "a/a", Total: 2}}, Nodes: &[]Node{}, Elastic: Diff(nil, list(), "").Elastic, Notes: &[]string{},
				Detail: &Detail{ID: "a/a", Total: 2}, Size: &two, Cells: map[int]Cell{0: {State: "Running"}, 1: {State: "Running"}},
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, Diff(tc.before, tc.after, tc.id)); diff != "" {
				t.Errorf("delta (-want +got):\n%s", diff)
			}
		})
	}
}
