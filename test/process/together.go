/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

var (
	starter = sync.OnceFunc(func() {
		go func() {
			runtime.LockOSThread()
			for order := range orders {
				order()
			}
		}()
	})
	orders = make(chan func())
)

// StartTogether starts a process that, on Linux, is killed when this one ends, however that happens. It starts all of them
// from one thread that never ends, because the signal is bound to the thread that started the process.
func StartTogether(cmd *exec.Cmd) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	dieTogether(cmd.SysProcAttr)
	starter()
	result := make(chan error, 1)
	orders <- func() { result <- cmd.Start() }
	return <-result
}
