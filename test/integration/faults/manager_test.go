/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/process"
)

// shortLease makes a change of leaders short.
const shortLease = "leaseDuration: 4s, renewDeadline: 3s, retryPeriod: 500ms"

// restartDelay is what a kubelet needs to start a manager that ended.
const restartDelay = 500 * time.Millisecond

// manager is a manager as a process of its own. While it is on and ends, because it lost
// its lease for example, it is started again, as a kubelet does.
type manager struct {
	command process.Command
	ready   string

	mu       sync.Mutex
	on       bool
	process  *process.Process
	restarts int
}

// newManager prepares a manager that reaches the API server by an address of the proxy. It does not run yet.
func (w *world) newManager(ctx context.Context, name, program string, alone bool) (*manager, error) {
	front, err := w.proxy.Front(name)
	if err != nil {
		return nil, err
	}
	m := &manager{}
	m.command, m.ready, err = w.plane.Manager(ctx, cluster.ManagerOptions{
		Name: name, Program: program, Server: front.URL, Alone: alone, LeaderElection: shortLease,
		Args:   []string{"--zap-log-level=2", "--feature-gates=InPlaceRestart=true"},
		Config: fmt.Sprintf("inPlaceRestart: {quickFailureMaxPause: 1s, agentImage: %q, leaseReportsFrom: %d}\n", processAgent, w.leasesFrom),
	})
	return m, err
}

// start turns the manager on, if it is off.
func (m *manager) start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on {
		return nil
	}
	m.on = true
	return m.startLocked()
}

func (m *manager) startLocked() error {
	started, err := process.Start(m.command)
	if err != nil {
		return err
	}
	m.process = started
	go func() {
		<-started.Done()
		time.AfterFunc(restartDelay, func() { m.ended(started) })
	}()
	return nil
}

// ended starts the manager again unless somebody wanted it to end.
func (m *manager) ended(gone *process.Process) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on && m.process == gone {
		m.restarts++
		_ = m.startLocked() // if it does not start, the group hangs, and the test finds that
	}
}

// crash kills the manager, if it is on, and leaves it off.
func (m *manager) crash() { m.end((*process.Process).Crash) }

// stop stops the manager gently and leaves it off.
func (m *manager) stop() {
	m.end(func(p *process.Process) {
		_ = p.Stop() // having to kill it is no failure of what is tested
	})
}

func (m *manager) end(how func(*process.Process)) {
	m.mu.Lock()
	running, on := m.process, m.on
	m.on = false
	m.mu.Unlock()
	if on {
		how(running)
	}
}

// state reports whether the manager is meant to run, and how often it ended by itself.
func (m *manager) state() (on bool, restarts int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.on, m.restarts
}

// log is the end of what it printed.
func (m *manager) log() string { return process.Tail(m.command.LogFile(), 16<<10) }

// isReady waits until it answers its readiness probe.
func (m *manager) isReady(ctx context.Context) error {
	if err := process.WaitReady(ctx, m.ready, nil); err != nil {
		return errors.Join(fmt.Errorf("waiting for %s to be ready: %w", m.command.Name, err), errors.New(m.log()))
	}
	return nil
}
