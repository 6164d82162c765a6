/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Signal goes where a kubelet sends it (P63b): to the main process alone if it handles the signal, since it may pass it on to its
// children, or need them until it has saved its state; else to its whole group. When the main process has ended, a signal that it alone got goes to
// what is left of its group, once. A main process that has ended is not reaped before that, so its number is not reused.
func (c *container) Signal(number syscall.Signal) {
	bit := maskOf(number)
	switch {
	case c.child != 0 && handles(c.child, number):
		c.alone |= bit
		_ = syscall.Kill(c.child, number)
	case c.child != 0:
		c.alone &^= bit
		_ = syscall.Kill(-c.child, number)
	case !c.empty:
		c.signalRest(number, c.alone&bit != 0)
		c.alone &^= bit
	}
}

// signalRest signals what the main process left of its group, if that has not got the signal. What a session of kubectl exec left in the
// background has nothing to save, and would be waited for as if it was of the worker: it is killed, as at the end of the grace.
func (c *container) signalRest(number syscall.Signal, alone bool) {
	table := processes(time.Now().Add(readTimeout))
	pids, groups := targets(table, c.root())
	if alone && slices.Contains(groups, c.group) { // a group of ours that has a process keeps its number
		_ = syscall.Kill(-c.group, number)
	}
	for _, pid := range pids {
		if isFirst() && table[pid].group != c.group && fromSession(pid) { // nobody else adopts such orphans
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// fromSession reports whether a process has the environment of the container without what each run of the worker has (P120). Programs that
// were standbys have not, either, and are not children of the first process (P162).
func fromSession(pid int) bool {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	has := func(name string) bool { return bytes.Contains(append([]byte{0}, text...), []byte("\x00"+name+"=")) }
	return err == nil && has(protocol.ContainerEnv) && !has(protocol.EpochEnv)
}

// handles reports whether a process catches a signal, or blocks it as programs do that wait for it with sigwait or signalfd.
func handles(pid int, number syscall.Signal) bool {
	is := statusOf(pid)
	return seesProcesses() && (is.blocked|is.caught)&maskOf(number) != 0
}

// seesProcesses reports whether /proc is that of our namespace: in another one the same numbers are other processes.
func seesProcesses() bool {
	self, _ := os.Readlink("/proc/self")
	return self == strconv.Itoa(os.Getpid())
}

// signalStatus is what /proc/PID/status says of a process and signals.
type signalStatus struct{ blocked, caught uint64 }

// statusOf returns that of a process; of one that does not exist it is empty.
func statusOf(pid int) signalStatus {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	return parseStatus(text)
}

func parseStatus(text []byte) (s signalStatus) {
	for line := range bytes.Lines(text) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(":"))
		value = bytes.TrimSpace(value)
		switch string(name) {
		case "SigBlk":
			s.blocked, _ = strconv.ParseUint(string(value), 16, 64)
		case "SigCgt":
			s.caught, _ = strconv.ParseUint(string(value), 16, 64)
		}
	}
	return s
}

// maskOf returns the bit of a signal in a set of signals.
func maskOf(number syscall.Signal) uint64 { return 1 << (uint(number) - 1) }
