/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Dump asks the processes of the worker for their stacks. To one that does not catch the signal it would be the
// end, and a stopped one would get it when it is continued, which it never is.
func (c *container) Dump(number syscall.Signal) int {
	asked := 0
	deadline := time.Now().Add(examineTimeout)
	pids := slices.Sorted(maps.Keys(descendants(processes(deadline), c.root())))
	for _, pid := range pids[:min(len(pids), examineAtMost)] {
		status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
		if err == nil && canDump(status, number) && syscall.Kill(pid, number) == nil {
			asked++
		}
	}
	return asked
}

// canDump reads /proc/PID/status: whether a process is not stopped, and catches a signal.
func canDump(status []byte, number syscall.Signal) bool {
	is := statusOf(status)
	return is.state != 'T' && is.state != 'Z' && is.caught&maskOf(number) != 0
}
