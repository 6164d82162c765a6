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
			events:     []Event{{Type: "Warning", Reason: "InPlaceRestartStarted", Message: cause}}, outcomes: []Outcome{GroupBroken},
		},
		6: {what: "b's agent exits, its Pod still says 1", pods: "2 1", deprecated: 1, synced: 1, inPlaceRestarts: 1, conditions: []metav1.Condition{breaking}},
		7: {what: "the same again", pods: "2 1", deprecated: 1, synced: 1, inPlaceRestarts: 1, conditions: []metav1.Condition{breaking}},
		8: {
			what: "b's agent reports 2: lift", pods: "2 2", deprecated: 1, synced: 2, inPlaceRestarts: 1,
			conditions: []metav1.Condition{lifting},
			events:     []Event{{Type: "Normal", Reason: "InPlaceRestartCompleted", Message: end}}, outcomes: []Outcome{GroupLifted}, took: 1500 * time.Millisecond,
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

var gateOn = gates.Set{InPlaceRestart: true}
