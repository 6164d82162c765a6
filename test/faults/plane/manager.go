/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package plane

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"sigs.k8s.io/jobset/test/process"
)

// managerConfig is that of a manager beside a control plane on this machine. Leases are
// short, so that a change of leaders is.
const managerConfig = `apiVersion: config.jobset.x-k8s.io/v1alpha1
kind: Configuration
webhook: {host: %[1]s, port: %[2]s, certDir: %[3]q}
metrics: {bindAddress: "0"}
health: {healthProbeBindAddress: "%[4]s"}
leaderElection: {leaderElect: true, resourceNamespace: %[5]s, leaseDuration: 4s, renewDeadline: 3s, retryPeriod: 500ms}
internalCertManagement: {enable: false}
featureGates: {InPlaceRestart: true}
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
}

// NewManager prepares a manager. It does not run yet.
func (p *Plane) NewManager(ctx context.Context, o ManagerOptions) (*Manager, error) {
	m := &Manager{
		name: o.Name, program: o.Program, dir: p.opts.Dir,
		config: filepath.Join(p.opts.Dir, o.Name+".yaml"), kubeconfig: filepath.Join(p.opts.Dir, o.Name+".kubeconfig"),
	}
	token, err := p.token(ctx, o.Account)
	if err != nil {
		return nil, err
	}
	if err := p.writeKubeconfig(m.kubeconfig, o.Server, token); err != nil {
		return nil, err
	}
	webhook, err := freeAddress()
	if err != nil {
		return nil, err
	}
	if m.health, err = freeAddress(); err != nil {
		return nil, err
	}
	text := fmt.Sprintf(managerConfig, localhost, webhook[len(localhost)+1:], p.keys.dir, m.health, o.Account.Namespace)
	if err := os.WriteFile(m.config, []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("writing the configuration of %s: %w", o.Name, err)
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
		_ = m.startLocked() // not to be started is to hang, which is found
	}
}

// Crash kills the manager, if it is on, and leaves it off.
func (m *Manager) Crash() { m.end((*process.Process).Crash) }

// Stop stops the manager gently and leaves it off.
func (m *Manager) Stop() {
	m.end(func(p *process.Process) {
		_ = p.Stop() // that it had to be killed is no failure of what is tested
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
	client := &http.Client{Timeout: time.Second}
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+m.health+"/readyz", nil)
		if err != nil {
			return false, err
		}
		answer, err := client.Do(request)
		if err != nil {
			return false, nil //nolint:nilerr // not up yet
		}
		return answer.StatusCode == http.StatusOK, answer.Body.Close()
	})
	if err != nil {
		return errors.Join(fmt.Errorf("waiting for %s to be ready: %w", m.name, err), errors.New(m.Log()))
	}
	return nil
}
