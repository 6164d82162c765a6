/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"encoding/json"
	"testing"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// TestWhoIsKilledAtOnce: a worker that was replaced by force while its node was silent, and nobody else (P175).
func TestWhoIsKilledAtOnce(t *testing.T) {
	t.Parallel()
	lost := func(js *JobSet) { js.LostIn = 2 }
	runs := []Worker{w("a", Running, 2)}
	for name, tc := range map[string]struct {
		self    Self
		jobSet  JobSet
		workers []Worker
		want    bool
	}{
		"P175: one that was replaced":                           {liftedSelf, with(at(2, 2), lost), runs, true},
		"P175: also if its successors run already":              {liftedSelf, with(at(2, 3), lost), runs, true},
		"P175: an agent that has just started knows, too":       {freshSelf, with(at(2, 2), lost), runs, true},
		"P175: another group restart gives each its time":       {liftedSelf, at(2, 2), runs, false},
		"P175: a later worker on that node has its time":        {liftedSelf, with(at(2, 2), func(js *JobSet) { js.LostIn = 1 }), runs, false},
		"P175: one beside a container that failed has its time": {liftedSelf, with(at(1, 2), lost), []Worker{w("b", Ended, 2, exited(1)), w("a", Running, 2)}, false},
		"P175: one that was started during a bypass has it":     {letSelf, with(at(2, 2), lost), []Worker{w("a", Running, 0)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := View{Self: tc.self, JobSet: tc.jobSet, Workers: tc.workers, Now: noon}
			_, sends := v.Apply(Decide(v))
			if len(sends) != 1 || sends[0].AtOnce != tc.want {
				t.Errorf("sends %+v, want one stop, at once: %t", sends, tc.want)
			}
		})
	}
}

func TestTheEpochThatWasLostOnANode(t *testing.T) {
	t.Parallel()
	status := jobset.JobSetStatus{LostNodes: []jobset.LostNode{{Node: "n1", Epoch: 3}, {Node: "n2", Epoch: 5}}}
	for node, want := range map[string]int32{"n1": 3, "n2": 5, "n3": 0, "": 0} {
		text, err := json.Marshal(jobset.JobSet{Status: status})
		if err != nil {
			t.Fatal(err)
		}
		var object wireJobSet
		if err := json.Unmarshal(text, &object); err != nil {
			t.Fatal(err)
		}
		if got := object.jobSet(Place{Node: node}).LostIn; got != want {
			t.Errorf("P175: lost in epoch %d on node %q, want %d", got, node, want)
		}
	}
}
