/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// measured is the process with the controller in it, seen from the benchmark.
type measured struct {
	cmd     *exec.Cmd
	log     *os.File
	in      io.WriteCloser
	answers *json.Decoder
}

// startManager starts this program once more, as the process that is measured,
// and waits until its controller runs.
func (b *startBench) startManager(ctx context.Context, flags ...string) (_ *measured, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	m := &measured{}
	if m.log, err = os.Create(filepath.Join(b.dir, "manager.log")); err != nil {
		return nil, fmt.Errorf("opening the log of the manager: %w", err)
	}
	m.cmd = exec.CommandContext(ctx, program, append([]string{"controller", "--cluster=" + b.plane.Kubeconfig, "--profiles=" + b.profiles}, flags...)...)
	m.cmd.Stderr = m.log
	// An interrupt from the keyboard reaches it through stop only.
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if m.in, err = m.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
	out, err := m.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
	m.answers = json.NewDecoder(out)
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
	if err := m.answers.Decode(&processUse{}); err != nil {
		return nil, errors.Join(fmt.Errorf("waiting for the manager: %w", err), m.stop())
	}
	return m, nil
}

// window says what the process used while something was done, and how long that took.
func (m *measured) window(profile string, do func() error) (processUse, time.Duration, error) {
	before, err := m.ask(beginCommand + " " + profile)
	if err != nil {
		return processUse{}, 0, err
	}
	if err := do(); err != nil {
		return processUse{}, 0, err
	}
	after, err := m.ask(endCommand)
	return after.since(before), after.At.Sub(before.At), err
}

func (m *measured) ask(command string) (processUse, error) {
	var u processUse
	if _, err := fmt.Fprintln(m.in, command); err != nil {
		return u, fmt.Errorf("asking the manager what it used: %w", err)
	}
	if err := m.answers.Decode(&u); err != nil {
		return u, fmt.Errorf("reading what the manager used: %w", err)
	}
	return u, nil
}

// stop lets the process end by itself. If it fails, the end of its log says why.
func (m *measured) stop() error {
	err := errors.Join(m.in.Close(), m.cmd.Wait())
	if err != nil {
		text, _ := os.ReadFile(m.log.Name()) // a log that cannot be read is left out
		err = fmt.Errorf("the manager failed: %w\n%s", err, text[max(0, len(text)-4096):])
	}
	return errors.Join(err, m.log.Close())
}
