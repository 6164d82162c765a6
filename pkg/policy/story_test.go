/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// TestTwoWorkersOneFailure is the worked example of the design, step by step:
// each step shows the Pods, and the status and events that the pass leaves.
func TestTwoWorkersOneFailure(t *testing.T) {
	t.Parallel()
	const (
		cause = exited + "; all workers of epoch 1 restart in place"
		end   = "2 workers restarted in place: epoch 2, 1.5 seconds"
	)
	at := func(step int) time.Time { return now.Add(time.Duration(step) * 500 * time.Millisecond) }
	breaking := builders.Condition(jobset.JobSetRestarting, true, "InPlaceRestart", cause, at(5))
	lifting := builders.Condition(jobset.JobSetRestarting, false, "WorkersSynced", "all 2 workers have reached epoch 2", at(8))
	steps := []struct {
		what, pods         string
		deprecated, synced int32
		inPlaceRestarts    int32
		conditions         []metav1.Condition
		events             []Event
		outcomes           []Outcome
		took               time.Duration
	}{
		0: {what: "the Pods start", pods: "_ _"},
		1: {what: "one reported", pods: "1 _"},
		2: {what: "both reported: first lift", pods: "1 1", synced: 1},
		3: {what: "running", pods: "1 1", synced: 1},
		4: {what: "a's container exits, the kubelet restarts the Pod", pods: "1 1", synced: 1},
		5: {
			what: "a's agent reports 2: break", pods: "2 1", deprecated: 1, synced: 1, inPlaceRestarts: 1,
			conditions: []metav1.Condition{breaking},
			events:     []Event{{"Warning", "InPlaceRestartStarted", cause}}, outcomes: []Outcome{GroupBroken},
		},
		6: {what: "b's agent exits, its Pod still says 1", pods: "2 1", deprecated: 1, synced: 1, inPlaceRestarts: 1, conditions: []metav1.Condition{breaking}},
		7: {what: "the same again", pods: "2 1", deprecated: 1, synced: 1, inPlaceRestarts: 1, conditions: []metav1.Condition{breaking}},
		8: {
			what: "b's agent reports 2: lift", pods: "2 2", deprecated: 1, synced: 2, inPlaceRestarts: 1,
			conditions: []metav1.Condition{lifting},
			events:     []Event{{"Normal", "InPlaceRestartCompleted", end}}, outcomes: []Outcome{GroupLifted}, took: 1500 * time.Millisecond,
		},
		9: {what: "running again, same Pods", pods: "2 2", deprecated: 1, synced: 2, inPlaceRestarts: 1, conditions: []metav1.Condition{lifting}},
	}
	in := inPlace(0, 0, "_ _", sawExit)
	in.JobSet.Status.DeprecatedEpoch, in.JobSet.Status.SyncedEpoch = nil, nil
	for i, step := range steps {
		in.Now = at(i)
		for index, word := range strings.Fields(step.pods) {
			in.Pods[in.Jobs[0].UID][index] = worker(in.Jobs[0], index, word)
		}
		d, s := ptr.Deref(in.JobSet.Status.DeprecatedEpoch, 0), ptr.Deref(in.JobSet.Status.SyncedEpoch, 0)
		plan := check(t, in, func(w *summary) {
			if d >= s {
				w.CountsInterval = time.Second
			}
			if step.deprecated != d {
				w.Status.DeprecatedEpoch = &step.deprecated
			}
			if step.synced != s {
				w.Status.SyncedEpoch, w.Status.LastSyncTime = &step.synced, ptr.To(metav1.NewTime(at(i)))
			}
			if i == 8 {
				w.Status.BreakTime = nil
			}
			w.Status.InPlaceRestarts, w.Status.Conditions = step.inPlaceRestarts, step.conditions
			w.Events, w.Outcomes, w.GroupRestart = step.events, step.outcomes, step.took
		})
		if t.Failed() {
			t.Fatalf("at step %d: %s", i, step.what)
		}
		in.JobSet.Status = plan.Status
	}
}

// TestDurationWithoutMemory: a new leader knows the break by the condition only (P21).
func TestDurationWithoutMemory(t *testing.T) {
	t.Parallel()
	in := inPlace(1, 1, "2 2", restartingInPlace)
	check(t, in, func(w *summary) {
		lifted(2)(w)
		w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, false, "WorkersSynced", "all 2 workers have reached epoch 2", now)}
		w.Events = []Event{{"Normal", "InPlaceRestartCompleted", "2 workers restarted in place: epoch 2, 3600.0 seconds"}}
		w.Outcomes, w.GroupRestart = []Outcome{GroupLifted}, time.Hour
	})
}

// TestSuspendAndResumeAreNotFailures follows a suspend, the end of all Pods, a
// resume and the lift: nothing is charged (P16, C283), and no report of a Pod that went is lifted (C284).
func TestSuspendAndResumeAreNotFailures(t *testing.T) {
	t.Parallel()
	in := inPlace(0, 1, "1 1", suspend)
	apply := func(plan Plan) { in.JobSet.Status = plan.Status }
	apply(check(t, in, intended(1)))
	plan := decideOnce(t, in)
	if got := names(plan.SuspendJobs); len(got) != 1 {
		t.Fatalf("suspends %v, want the one Job", got)
	}
	apply(plan)
	in.Jobs[0].Spec.Suspend = ptr.To(true)
	in.Pods[in.Jobs[0].UID] = nil
	check(t, in, nil)
	in.JobSet.Spec.Suspend = ptr.To(false)
	plan = decideOnce(t, in)
	if len(plan.ResumeJobs) != 1 {
		t.Fatalf("resumes %d Jobs, want 1", len(plan.ResumeJobs))
	}
	apply(plan)
	in.Jobs[0] = plan.ResumeJobs[0].Job
	in.Pods[in.Jobs[0].UID] = append(in.Pods[in.Jobs[0].UID], worker(in.Jobs[0], 0, "2"), worker(in.Jobs[0], 1, "_"))
	check(t, in, assembling)
	in.Pods[in.Jobs[0].UID][1] = worker(in.Jobs[0], 1, "2")
	apply(check(t, in, lifted(2)))
	if got := in.JobSet.Status.InPlaceRestarts + in.JobSet.Status.RestartsCountTowardsMax; got != 0 {
		t.Errorf("charged %d, want 0", got)
	}
}

// TestOneFullRestartForAnIncompleteGroup: the passes after P17 recreate and do not restart again.
func TestOneFullRestartForAnIncompleteGroup(t *testing.T) {
	t.Parallel()
	in := inPlace(0, 1, "ok1 2")
	in.JobSet.Status = decideOnce(t, in).Status
	if got := in.JobSet.Status.Restarts; got != 1 {
		t.Fatalf("restarts %d, want 1", got)
	}
	for range 3 { // the old Job is there: its Pods say nothing any more
		plan := decideOnce(t, in)
		in.JobSet.Status = plan.Status
		if len(plan.DeleteJobs) != 1 || plan.Status.Restarts != 1 {
			t.Fatalf("deletes %v with restarts %d, want one Job and 1", names(plan.DeleteJobs), plan.Status.Restarts)
		}
	}
	in.Jobs, in.Pods = nil, nil
	plan := decideOnce(t, in)
	if len(plan.CreateJobs) != 1 {
		t.Fatalf("creates %d batches, want 1", len(plan.CreateJobs))
	}
	next := inPlace(1, 1, "2 2", ofAttempt("1"))
	next.JobSet.Status = plan.Status
	plan = decideOnce(t, next)
	if got := *plan.Status.SyncedEpoch; got != 2 {
		t.Errorf("synced epoch %d, want 2", got)
	}
	if got := plan.Status.RestartsCountTowardsMax + plan.Status.InPlaceRestarts; got != 1 {
		t.Errorf("charged %d, want 1", got)
	}
}

var gateOn = gates.Set{InPlaceRestart: true}
