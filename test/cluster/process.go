/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// stopGrace is how long a process may take to end before it is killed.
const stopGrace = 20 * time.Second

// Process is one that the cluster started.
type Process struct {
	// LogFile holds what it printed.
	LogFile string

	name string
	cmd  *exec.Cmd
	done chan struct{}
	once sync.Once
}

// StartProcess starts a program that lives as long as the cluster does. What it
// prints goes to a file of its name.
func (c *Cluster) StartProcess(name, program string, args ...string) (*Process, error) {
	p := &Process{name: name, LogFile: filepath.Join(c.opts.Dir, name+".log"), done: make(chan struct{})}
	log, err := os.OpenFile(p.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	defer log.Close() //nolint:errcheck // the process has its own handle
	p.cmd = exec.Command(program, args...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	// In a group of its own, an interrupt from the keyboard reaches it through Stop only.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is in its log
		close(p.done)
	}()
	c.processes = append(c.processes, p)
	return p, nil
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Stop ends the process: gently, then by force.
func (p *Process) Stop() error {
	var err error
	p.once.Do(func() {
		if e := p.cmd.Process.Signal(syscall.SIGTERM); e != nil && !errors.Is(e, os.ErrProcessDone) {
			err = fmt.Errorf("stopping %s: %w", p.name, e)
		}
		select {
		case <-p.done:
		case <-time.After(stopGrace):
			err = errors.Join(err, fmt.Errorf("stopping %s: still there after %s, killed", p.name, stopGrace), p.cmd.Process.Kill())
			<-p.done
		}
	})
	return err
}
