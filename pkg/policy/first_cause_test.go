/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import "testing"

func TestFailureString(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		failure Failure
		want    string
	}{
		"P21: a container by its exit code": {
			Failure{Pod: "p", Node: "n", Container: "worker", ExitCode: 7, Reason: "Error"},
			"container worker of worker pod p exited with code 7 on node n",
		},
		"P21: a container by a signal": {
			Failure{Pod: "p", Node: "n", Container: "worker", ExitCode: 139, Reason: "Error"},
			"container worker of worker pod p exited with code 139 (signal 11) on node n",
		},
		"P21: a container that was out of memory": {
			Failure{Pod: "p", Node: "n", Container: "worker", ExitCode: 137, Reason: "OOMKilled"},
			"container worker of worker pod p exited with code 137 (signal 9, OOMKilled) on node n",
		},
		"P21: 255 is no signal": {
			Failure{Pod: "p", Node: "n", Container: "worker", ExitCode: 255},
			"container worker of worker pod p exited with code 255 on node n",
		},
		"P21: a Pod that was preempted": {
			Failure{Pod: "p", Node: "n", Deleted: true, Reason: "PreemptionByScheduler"},
			"worker pod p was deleted (PreemptionByScheduler) on node n",
		},
		"P21: a Pod that was deleted before it had a node": {Failure{Pod: "p", Deleted: true}, "worker pod p was deleted"},
		"P21: a Pod that was evicted":                      {Failure{Pod: "p", Node: "n", Reason: "Evicted"}, "worker pod p failed (Evicted) on node n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.failure.String(); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
