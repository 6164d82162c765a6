/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Process is a program that runs, in a process group of its own.
type Process struct {
	// LogFile holds what all runs under this name printed.
	LogFile string

	name string
	cmd  *exec.Cmd
	done chan struct{}
	once sync.Once
}

// stopGrace is how long a process may take to end before it is killed.
const stopGrace = 10 * time.Second

func startProcess(dir, name, program string, args ...string) (*Process, error) {
	p := &Process{name: name, LogFile: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	defer log.Close() //nolint:errcheck // the process has its own handle
	p.cmd = exec.Command(program, args...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Env = []string{"HOME=" + dir, "TMPDIR=" + dir}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its log
		close(p.done)
	}()
	return p, nil
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Crash ends the process as a power cut does.
func (p *Process) Crash() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.done
}

// Stop ends the process gently, then by force.
func (p *Process) Stop() {
	p.once.Do(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may be gone already
		select {
		case <-p.done:
		case <-time.After(stopGrace):
			p.Crash()
		}
	})
}

// tail is the end of a log.
func tail(file string, bytes int64) string {
	log, err := os.Open(file)
	if err != nil {
		return err.Error()
	}
	defer log.Close() //nolint:errcheck // it is only read
	info, err := log.Stat()
	if err != nil {
		return err.Error()
	}
	text := make([]byte, min(bytes, info.Size()))
	if _, err := log.ReadAt(text, info.Size()-int64(len(text))); err != nil {
		return err.Error()
	}
	return string(text)
}
