/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plane

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/process"
)

// managerConfig is what managers beside this control plane have in common. Leases are
// short, so that a change of leaders is.
const managerConfig = `metrics: {bindAddress: "0"}
leaderElection: {leaderElect: %t, resourceNamespace: %s, leaseDuration: 4s, renewDeadline: 3s, retryPeriod: 500ms}
internalCertManagement: {enable: false}
featureGates: {InPlaceRestart: true}
inPlaceRestart: {quickFailureMaxPause: 1s, agentImage: %q}
`

// restartDelay is what a kubelet needs to start a manager that ended.
const restartDelay = 500 * time.Millisecond

// Manager is a manager as a process of its own. While it is on and ends, because it lost
// its lease for example, it is started again, as a kubelet does.
type Manager struct {
	name, program, config, kubeconfig, health string
	dir                                       string

	mu       sync.Mutex
	on       bool
	process  *process.Process
	restarts int
	watched  sync.WaitGroup
}

// ManagerOptions configures NewManager.
type ManagerOptions struct {
	// Name of its log.
	Name string
	// Program is the manager binary.
	Program string
	// Server is the URL by which it reaches the API server.
	Server string
	// Account is the service account it runs as, with the rights shipped for it.
	Account types.NamespacedName
	// AgentImage is that of agents that it adds to Pods.
	AgentImage string
	// Alone says that there is no other: it needs no lease, and does not end when it loses one.
	Alone bool
}

// NewManager prepares a manager. It does not run yet.
func (p *Plane) NewManager(ctx context.Context, o ManagerOptions) (*Manager, error) {
	m := &Manager{
		name: o.Name, program: o.Program, dir: p.opts.Dir,
		config: filepath.Join(p.opts.Dir, o.Name+".yaml"), kubeconfig: filepath.Join(p.opts.Dir, o.Name+".kubeconfig"),
	}
	token, err := cluster.Token(ctx, p.Client, o.Account)
	if err != nil {
		return nil, err
	}
	if err := cluster.WriteKubeconfig(m.kubeconfig, o.Server, p.CA, token); err != nil {
		return nil, err
	}
	webhook, err := process.FreePort()
	if err != nil {
		return nil, err
	}
	if m.health, err = process.FreeAddress(); err != nil {
		return nil, err
	}
	config := cluster.ManagerConfig{
		WebhookHost: process.Localhost, WebhookPort: webhook, CertDir: p.keys.dir,
		Health: m.health, More: fmt.Sprintf(managerConfig, !o.Alone, o.Account.Namespace, o.AgentImage),
	}
	if err := config.Write(m.config); err != nil {
		return nil, err
	}
	p.managers = append(p.managers, m)
	return m, nil
}

// Name is that of its options.
func (m *Manager) Name() string { return m.name }

// Start turns the manager on, if it is off.
func (m *Manager) Start() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on {
		return nil
	}
	m.on = true
	return m.startLocked()
}

func (m *Manager) startLocked() error {
	started, err := start(m.dir, m.name, m.program, "--config="+m.config, "--kubeconfig="+m.kubeconfig, "--zap-log-level=2")
	if err != nil {
		return err
	}
	m.process = started
	m.watched.Go(func() {
		<-started.Done()
		time.AfterFunc(restartDelay, func() { m.ended(started) })
	})
	return nil
}

// ended starts the manager again unless somebody wanted it to end.
func (m *Manager) ended(gone *process.Process) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on && m.process == gone {
		m.restarts++
		_ = m.startLocked() // if it does not start, the group hangs, and the test finds that
	}
}

// Crash kills the manager, if it is on, and leaves it off.
func (m *Manager) Crash() { m.end((*process.Process).Crash) }

// Stop stops the manager gently and leaves it off.
func (m *Manager) Stop() {
	m.end(func(p *process.Process) {
		_ = p.Stop() // having to kill it is no failure of what is tested
	})
}

func (m *Manager) end(how func(*process.Process)) {
	m.mu.Lock()
	running, on := m.process, m.on
	m.on = false
	m.mu.Unlock()
	if on {
		how(running)
	}
}

// On says whether the manager is meant to run.
func (m *Manager) On() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.on
}

// Restarts is how often it ended by itself.
func (m *Manager) Restarts() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.restarts
}

// Log is the end of what it printed.
func (m *Manager) Log() string { return process.Tail(filepath.Join(m.dir, m.name+".log"), 16<<10) }

// Ready waits until it answers its readiness probe.
func (m *Manager) Ready(ctx context.Context) error {
	if err := process.WaitReady(ctx, "http://"+m.health+"/readyz", nil); err != nil {
		return errors.Join(fmt.Errorf("waiting for %s to be ready: %w", m.name, err), errors.New(m.Log()))
	}
	return nil
}
