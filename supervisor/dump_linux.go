/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import "syscall"

// Dump asks the processes of the worker for their stacks. To one that does not catch the signal it would be the
// end, and a stopped one would get it when it is continued, which it never is.
func (c *container) Dump(number syscall.Signal) (asked int) {
	for _, p := range c.Processes(examineTimeout) {
		if p.State != stoppedState && statusOf(p.PID).caught&maskOf(number) != 0 && syscall.Kill(p.PID, number) == nil {
			asked++
		}
	}
	return asked
}
