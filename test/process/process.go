/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package process starts programs beside a test or a benchmark, and ends them.
package process

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// stopGrace is how long a process may take to end before it is killed.
const stopGrace = 20 * time.Second

// Command says what to run.
type Command struct {
	// Dir is where the log goes. What several runs under one name print is in one log.
	Dir, Name string
	Program   string
	Args      []string
	// Env is the whole environment; nil means that of this process.
	Env []string
}

// LogFile is where the log is.
func (c Command) LogFile() string { return filepath.Join(c.Dir, c.Name+".log") }

// Process is a program that runs, or ran.
type Process struct {
	// LogFile holds what it printed.
	LogFile string

	name string
	cmd  *exec.Cmd
	done chan struct{}
	once sync.Once
}

// Start starts a program. It is in a process group of its own, so that an interrupt
// from the keyboard reaches it through Stop only. On Linux it does not outlive this process.
func Start(c Command) (*Process, error) {
	p := &Process{name: c.Name, LogFile: c.LogFile(), done: make(chan struct{})}
	log, err := os.OpenFile(p.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", c.Name, err)
	}
	defer log.Close() //nolint:errcheck // the process has its own handle
	p.cmd = exec.Command(c.Program, c.Args...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Env = c.Env
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := StartTogether(p.cmd); err != nil {
		return nil, fmt.Errorf("starting %s: %w", c.Name, err)
	}
	go func() {
		_ = p.cmd.Wait() // its log says how it ended
		close(p.done)
	}()
	return p, nil
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// PID returns the ID of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// CPU returns the CPU time that the process used. It must have ended.
func (p *Process) CPU() time.Duration {
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// Crash kills the process, as a power failure does.
func (p *Process) Crash() {
	_ = p.cmd.Process.Kill() // it may be gone already
	<-p.done
}

// WaitReady waits until the process answers a URL with 200.
func (p *Process) WaitReady(ctx context.Context, url string) error {
	if err := WaitReady(ctx, url, p.done); err != nil {
		return fmt.Errorf("%s, see %s: %w", p.name, p.LogFile, err)
	}
	return nil
}

var errEnded = errors.New("it has ended")

// WaitReady waits until a URL is answered with 200, or what answers has ended.
func WaitReady(ctx context.Context, url string, ended <-chan struct{}) error {
	client := &http.Client{Timeout: time.Second}
	return wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		select {
		case <-ended:
			return false, errEnded
		default:
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false, err
		}
		response, err := client.Do(request)
		if err != nil {
			return false, nil //nolint:nilerr // not up yet
		}
		return response.StatusCode == http.StatusOK, response.Body.Close()
	})
}

// Stop terminates the process, and kills it after a while, which is an error.
func (p *Process) Stop() error {
	var err error
	p.once.Do(func() {
		if e := p.cmd.Process.Signal(syscall.SIGTERM); e != nil && !errors.Is(e, os.ErrProcessDone) {
			err = fmt.Errorf("stopping %s: %w", p.name, e)
		}
		select {
		case <-p.done:
		case <-time.After(stopGrace):
			p.Crash()
			err = errors.Join(err, fmt.Errorf("stopping %s: still running after %s, killed", p.name, stopGrace))
		}
	})
	return err
}

// Tail returns the end of a log.
func Tail(file string, bytes int64) string {
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
