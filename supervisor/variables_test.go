/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

func TestTheVariablesOfARun(t *testing.T) {
	older := protocol.DefaultVariables
	for name, tc := range map[string]struct {
		variables string
		container []string
		run       Run
		want      []string
	}{
		"P62: they take the place of those of the container": {
			variables: older, container: []string{"A=1", "JOBSET_EPOCH=9", "B==x", "JOBSET_RESTARTS=9", "NOTHING"},
			run: Run{Epoch: 3, Restarts: 2}, want: []string{"A=1", "B==x", "NOTHING", "JOBSET_EPOCH=3", "JOBSET_RESTARTS=2"},
		},
		"P102: the size and the rank": {
			variables: older, container: []string{"JOBSET_RANK=9"}, run: Run{Epoch: 3, World: protocol.World{Size: 4, Rank: 1}},
			want: []string{"JOBSET_EPOCH=3", "JOBSET_RESTARTS=0", "JOBSET_WORLD_SIZE=4", "JOBSET_RANK=1"},
		},
		"P102: what is not known is not set": {
			variables: older, container: []string{"JOBSET_RANK=9", "JOBSET_WORLD_SIZE=9"}, run: Run{Epoch: 3},
			want: []string{"JOBSET_EPOCH=3", "JOBSET_RESTARTS=0"},
		},
		"P120: under other names, and within a value": {
			variables: "RANK={rank} ID=uid-{epoch} MASTER_ADDR={master}", container: []string{"HOME=/"},
			run:  Run{Epoch: 3, World: protocol.World{Size: 4, Rank: 0, Master: "train-w-0-0.train"}},
			want: []string{"HOME=/", "RANK=0", "ID=uid-3", "MASTER_ADDR=train-w-0-0.train"},
		},
		"P120: no address of rank 0": {
			variables: "A={size} B={master}", run: Run{Epoch: 3, World: protocol.World{Size: 4}}, want: []string{"A=4"},
		},
		"P120: an address that looks like a placeholder is an address": {
			variables: "A={master}", run: Run{Epoch: 3, World: protocol.World{Size: 4, Master: "{epoch}"}}, want: []string{"A={epoch}"},
		},
		"P34: a bypass has epoch 0": {
			variables: "A=x-{epoch}", run: Run{Bypass: true}, want: []string{"A=x-0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			set, err := FromEnv(lookupIn(protocol.ContainerEnv, "w", protocol.VariablesEnv, tc.variables))
			if err != nil {
				t.Fatal(err)
			}
			container := append([]string(nil), tc.container...)
			if diff := cmp.Diff(tc.want, workerEnv(tc.container, set.Variables, tc.run)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(container, append([]string(nil), tc.container...)); diff != "" {
				t.Errorf("the environment of the container changed:\n%s", diff)
			}
		})
	}
}
