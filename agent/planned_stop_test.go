/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

var savesFirst = protocol.PlannedStop{GraceSeconds: 60, Signal: "USR1"}

func planned(js *JobSet) { js.PlannedStop = savesFirst }

// TestWhichWorkersSaveFirst: those of the epoch that was deprecated as planned, as long as the group waits for them (P142).
func TestWhichWorkersSaveFirst(t *testing.T) {
	t.Parallel()
	runs := []Worker{w("a", Running, 2)}
	one := &protocol.Message{Type: protocol.Stop, Planned: &savesFirst}
	ordinary := &protocol.Message{Type: protocol.Stop}
	for name, tc := range map[string]struct {
		self    Self
		jobSet  JobSet
		workers []Worker
		want    *protocol.Message
	}{
		"P142: one that runs":                                 {liftedSelf, with(at(2, 2), planned), runs, one},
		"P142: an agent that has just started knows, too":     {freshSelf, with(at(2, 2), planned), runs, one},
		"P142: one whose connection was away, again":          {endingSelf, with(at(2, 2), planned), runs, one},
		"P142: one beside a container that has failed":        {liftedSelf, with(at(2, 2), planned), []Worker{w("b", Ended, 2, exited(1)), w("a", Running, 2)}, one},
		"P142: not after a failure":                           {liftedSelf, at(2, 2), runs, ordinary},
		"P142: not one that failed before the break":          {liftedSelf, with(at(1, 2), planned), []Worker{w("b", Ended, 2, exited(1)), w("a", Running, 2)}, ordinary},
		"P142: not one of an earlier epoch":                   {Self{UID: "ours", Epoch: 1, Reported: true, Lifted: ByEpoch}, with(at(2, 2), planned), []Worker{w("a", Running, 1)}, ordinary},
		"P142: not one that the others did not wait for":      {liftedSelf, with(at(2, 3), planned), runs, ordinary},
		"P142: not one that was started during a bypass":      {letSelf, with(at(2, 2), planned), []Worker{w("a", Running, 0)}, ordinary},
		"P34, P142: during one nobody is stopped":             {liftedSelf, with(with(at(2, 2), planned), switchedOff), []Worker{w("a", Running, 2, unwatched)}, nil},
		"P32a, P142: whoever will be deleted is not stopped":  {liftedSelf, with(with(at(2, 2), planned), suspendedNow), runs, nil},
		"P142: one that is being stopped is not stopped more": {endingSelf, with(at(2, 2), planned), []Worker{w("a", Stopping, 2)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := View{Self: tc.self, JobSet: tc.jobSet, Workers: tc.workers, Now: noon}
			_, sends := v.Apply(Decide(v))
			var got *protocol.Message
			if len(sends) > 0 {
				got = &sends[0].Message
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("the message differs (-want +got):\n%s", diff)
			}
		})
	}
}

// TestThePlannedStopOfAJobSet: it is that of the specification, where the status says that the last break was planned.
func TestThePlannedStopOfAJobSet(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		grace  *int32
		signal jobset.PlannedStopSignal
		broke  bool
		want   protocol.PlannedStop
	}{
		"P142: a break that was planned":      {ptr.To[int32](60), jobset.PlannedStopUSR1, true, savesFirst},
		"P142: TERM if nothing is said":       {ptr.To[int32](300), "", true, protocol.PlannedStop{GraceSeconds: 300}},
		"P142: any other break":               {ptr.To[int32](60), jobset.PlannedStopUSR1, false, protocol.PlannedStop{}},
		"P142: a status without that setting": {nil, "", true, protocol.PlannedStop{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := json.Marshal(jobset.JobSet{
				Spec: jobset.JobSetSpec{FailurePolicy: &jobset.FailurePolicy{InPlaceRestart: &jobset.InPlaceRestartPolicy{
					PlannedStopGracePeriodSeconds: tc.grace, PlannedStopSignal: tc.signal,
				}}},
				Status: jobset.JobSetStatus{PlannedBreak: tc.broke},
			})
			if err != nil {
				t.Fatal(err)
			}
			var object wireJobSet
			if err := json.Unmarshal(text, &object); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, object.jobSet(Place{}).PlannedStop); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}
