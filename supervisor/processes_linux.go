/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// adoptOrphans makes this process the parent of orphans among its descendants, which the first process of a
// namespace is anyway. So a process without a child has no descendant.
func adoptOrphans() {
	const setChildSubreaper = 36
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0)
}

// process is a line of the process table.
type process struct{ pid, parent, group int }

// killer kills what is left of one worker.
type killer struct {
	// began is when it killed for the first time.
	began time.Time
	// known are the processes that it has met.
	known map[int]bool
}

const (
	// lastResort is when processes that still appear are taken for a worker that forks faster than its processes are found.
	lastResort = time.Second
	// everybody is the target of a kill that leaves out only the first process of a namespace. The kernel does it
	// in one step, in which no process can fork.
	everybody = -1
)

// kill sends SIGKILL to every process that descends from root. Processes that came in from outside, by kubectl exec
// or as a probe, have no parent in this namespace and are left alone with all that descends from them; but what
// outlives its parent among those is an orphan like any other. As a last resort they are killed too: the
// Pod would have to be replaced otherwise.
func (k *killer) kill(root int, now time.Time) {
	pids, groups := targets(processes(now.Add(readTimeout)), root)
	fresh := false
	if k.known == nil {
		k.began, k.known = now, map[int]bool{}
	}
	for _, pid := range pids {
		fresh = fresh || !k.known[pid]
		k.known[pid] = true
	}
	if fresh && isFirst() && now.Sub(k.began) >= lastResort {
		_ = syscall.Kill(everybody, syscall.SIGKILL)
		return
	}
	// No process of a group can fork and escape while it is killed.
	for _, group := range groups {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// targets returns the processes that descend from one, and the process groups that hold no other process.
func targets(table map[int]process, self int) (pids, groups []int) {
	ours := descendants(table, self)
	foreign := map[int]bool{0: true, 1: true} // for kill, groups 0 and 1 mean something else
	for pid, p := range table {
		if !ours[pid] {
			foreign[p.group] = true
		}
	}
	for pid := range ours {
		pids = append(pids, pid)
		if group := table[pid].group; !foreign[group] {
			foreign[group] = true
			groups = append(groups, group)
		}
	}
	return pids, groups
}

// descendants returns the processes below one.
func descendants(table map[int]process, self int) map[int]bool {
	known := map[int]bool{self: true, 0: false}
	var below func(pid int) bool
	below = func(pid int) bool {
		answer, ok := known[pid]
		if !ok {
			known[pid] = false // a table that changes while it is read may have circles
			answer = below(table[pid].parent)
			known[pid] = answer
		}
		return answer
	}
	ours := map[int]bool{}
	for pid := range table {
		if pid != self && below(pid) {
			ours[pid] = true
		}
	}
	return ours
}

// readAtMost bounds the CPU time for reading the process table, which may grow as fast as it is read.
const readAtMost = 100 * time.Millisecond

// processes reads the process table of this namespace until a time, and its first batch in any case, which is all of it in
// most containers. Processes that end meanwhile are left out.
func processes(deadline time.Time) map[int]process {
	table := map[int]process{}
	if !seesProcesses() {
		return table
	}
	dir, err := os.Open("/proc")
	if err != nil {
		return table
	}
	defer func() { _ = dir.Close() }()
	began := cpuTime()
	for first := true; err == nil && (first || time.Now().Before(deadline) && cpuTime()-began < readAtMost); first = false {
		var names []string
		names, err = dir.Readdirnames(tableBatch)
		for _, name := range names {
			if p, ok := readProcess(name); ok {
				table[p.pid] = p
			}
		}
	}
	return table
}

const tableBatch = 100

// cpuTime is what this process has used of the CPU.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func readProcess(name string) (process, bool) {
	pid, err := strconv.Atoi(name)
	if err != nil {
		return process{}, false
	}
	stat, err := os.ReadFile(filepath.Join("/proc", name, "stat"))
	if err != nil {
		return process{}, false
	}
	return parseStat(pid, stat)
}

// splitStat returns the fields of "pid (name) state parent group ..." behind the name, which may hold anything.
func splitStat(stat []byte) [][]byte { return bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]) }

// stateOf returns the letter for the state of a process, as in proc(5); "" if it does not exist.
func stateOf(pid int) string {
	stat, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	fields := splitStat(stat)
	if len(fields) == 0 {
		return ""
	}
	return string(fields[0])
}

// Processes implements Host. What keeps a zombie from being reaped is another process.
func (c *container) Processes(timeout time.Duration) (found Processes) {
	for _, pid := range slices.Sorted(maps.Keys(descendants(processes(time.Now().Add(timeout)), c.root()))) {
		if state := stateOf(pid); state != "" && state != "Z" && len(found) < examineAtMost {
			found = append(found, Process{pid, state})
		}
	}
	return found
}

func parseStat(pid int, stat []byte) (process, bool) {
	fields := splitStat(stat)
	if len(fields) < 3 {
		return process{}, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	group, err2 := strconv.Atoi(string(fields[2]))
	return process{pid: pid, parent: parent, group: group}, err == nil && err2 == nil
}

// memoryEvents count what happens to the memory of the container: with cgroup v2, and with v1.
var memoryEvents = []string{"/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"}

// oomKills returns how many processes of the container the kernel has killed for its memory; 0 if that is not known.
func oomKills() int64 {
	for _, file := range memoryEvents {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for line := range bytes.Lines(text) {
			if value, ok := bytes.CutPrefix(line, []byte("oom_kill ")); ok {
				count, _ := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64)
				return count
			}
		}
	}
	return 0
}
