/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhoIsKilled(t *testing.T) {
	const self = 1
	for name, tc := range map[string]struct {
		table        []process
		pids, groups []int
	}{
		"P63: nobody": {table: []process{{1, 0, 1}}},
		"P63: a worker and what descends from it, whatever its group": {
			table: []process{{1, 0, 1}, {7, 1, 7}, {8, 7, 7}, {9, 8, 9}},
			pids:  []int{7, 8, 9}, groups: []int{7, 9},
		},
		"P63: an orphan": {
			table: []process{{1, 0, 1}, {9, 1, 8}},
			pids:  []int{9}, groups: []int{8},
		},
		"P63: who came in from outside is left alone, and its descendants": {
			table: []process{{1, 0, 1}, {7, 1, 7}, {20, 0, 20}, {21, 20, 20}, {22, 21, 22}},
			pids:  []int{7}, groups: []int{7},
		},
		"P63: the group of the supervisor is not killed": {
			table: []process{{1, 0, 1}, {7, 1, 1}},
			pids:  []int{7},
		},
		"P63: a group that an outsider is in is not killed": {
			table: []process{{1, 0, 1}, {7, 1, 20}, {20, 0, 20}},
			pids:  []int{7},
		},
		"P63: a group of number 0, from outside of the namespace, is not killed": {
			table: []process{{1, 0, 0}, {7, 1, 0}},
			pids:  []int{7},
		},
		"P63: a process whose parent has gone meanwhile is found the next time": {
			table: []process{{1, 0, 1}, {9, 8, 9}},
		},
		"P63: a table that changed while it was read": {
			table: []process{{1, 0, 1}, {8, 9, 8}, {9, 8, 9}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			table := map[int]process{}
			for _, p := range tc.table {
				table[p.pid] = p
			}
			pids, groups := targets(table, self)
			slices.Sort(pids)
			slices.Sort(groups)
			if diff := cmp.Diff([][]int{tc.pids, tc.groups}, [][]int{pids, groups}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAProcessMayHaveAnyName(t *testing.T) {
	for _, stat := range []string{"7 (sh) S 1 5 5 0", "7 (a) S 9 9 (b) R 1 5 5 0", "7 ()\n) Z 1 5 5 0"} {
		if p, ok := parseStat(7, []byte(stat)); !ok || p != (process{7, 1, 5}) {
			t.Errorf("P63: %q is read as %+v, %t", stat, p, ok)
		}
	}
	for _, stat := range []string{"", "7 (sh)", "7 (sh) S x 5"} {
		if p, ok := parseStat(7, []byte(stat)); ok {
			t.Errorf("P63: %q is read as %+v", stat, p)
		}
	}
}

func TestKillsForMemoryAreCounted(t *testing.T) {
	if want := []string{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"}; !slices.Equal(memoryEvents, want) {
		t.Errorf("P66: kills are read from %q, want %q", memoryEvents, want)
	}
	before := memoryEvents
	t.Cleanup(func() { memoryEvents = before })
	memoryEvents = []string{filepath.Join(t.TempDir(), "memory.events"), filepath.Join(t.TempDir(), "memory.oom_control")}
	if got := oomKills(); got != 0 {
		t.Errorf("P66: without a file %d kills are known, want 0", got)
	}
	for _, tc := range []struct {
		file, text string
		want       int64
	}{
		{memoryEvents[1], "oom_kill_disable 0\nunder_oom 0\n", 0}, // before Linux 4.13
		{memoryEvents[1], "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n", 7},
		{memoryEvents[0], "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 6\n", 5},
	} {
		if err := os.WriteFile(tc.file, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := oomKills(); got != tc.want {
			t.Errorf("P66: of %q %d kills are read, want %d", tc.text, got, tc.want)
		}
	}
}
