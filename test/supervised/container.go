/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package supervised runs the containers of process mode as functions of this process, on simulated nodes: the init
// container that prepares the volume, and supervisors, which are the supervisor's own code around a worker that is
// a function, too. Agents meet them over a Network.
//
// What a function cannot show is left out: process groups, orphans, file descriptors, the memory of a
// container. Package supervisor tests that with real processes.
package supervised

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"sigs.k8s.io/jobset/supervisor"
	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/supervisor/setting"
	"sigs.k8s.io/jobset/test/simnode"
)

// exitKilled is the exit code of a container that was killed.
const exitKilled = 128 + int(syscall.SIGKILL)

// Worker is a worker. It returns its exit code, soon after ctx ends: that is SIGTERM or SIGKILL.
type Worker func(ctx context.Context, run supervisor.Run) int

// Install is the hook of the agent that prepares the shared volume. It returns its exit code.
func Install(c simnode.FuncContainer) int {
	if err := os.MkdirAll(filepath.Join(c.Path(protocol.Dir), protocol.RunDir), 0o755); err != nil {
		return setting.ExitCode
	}
	return 0
}

// Container is the container of a worker, with a supervisor as its first process.
type Container struct {
	settings supervisor.Settings
	network  Network
	host     *host
	killed   <-chan struct{}
	// terminate receives SIGTERM, from the node and after a Kill.
	terminate chan os.Signal
	kill      func()
	dead      chan struct{}

	mu   sync.Mutex
	conn net.Conn
}

// New returns the container that a node wants to run.
func New(c simnode.FuncContainer, network Network, worker Worker) (*Container, error) {
	settings, err := supervisor.FromEnv(c.LookupEnv)
	if err != nil {
		return nil, fmt.Errorf("reading the settings of the supervisor: %w", err)
	}
	dead := make(chan struct{})
	return &Container{
		settings: settings, network: network, host: newHost(worker), killed: c.Killed,
		terminate: make(chan os.Signal, 2), dead: dead, kill: sync.OnceFunc(func() { close(dead) }),
	}, nil
}

// Run runs it to its end and returns its exit code. When ctx ends it gets SIGTERM.
func (c *Container) Run(ctx context.Context) int {
	if _, err := os.Stat(supervisor.DoneFile(c.settings)); !errors.Is(err, fs.ErrNotExist) {
		return 0 // as the supervisor's main does (P67)
	}
	s := &supervisor.Supervisor{
		Settings: c.settings, Host: c.host, Dial: c.dial, Log: slog.New(slog.DiscardHandler), Terminate: c.terminate,
	}
	ended := make(chan int, 1)
	go func() {
		code, _ := s.Run()
		ended <- code
	}()
	terminated, killed := ctx.Done(), c.killed
	for {
		select {
		case code := <-ended:
			return code
		case <-terminated:
			terminated = nil
			c.terminate <- syscall.SIGTERM
		case <-killed:
			killed = nil
			c.kill()
		case <-c.dead:
			c.die()
			<-ended
			return exitKilled
		}
	}
}

// Kill is SIGKILL to the supervisor and its worker. It may be called at any time.
func (c *Container) Kill() { c.kill() }

// Break ends the connection to the agent, whatever is under way on it. The supervisor connects again.
func (c *Container) Break() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.Close()
	}
}

// die lets nothing out any more: first the connection is gone, then the worker, and then the supervisor may end.
func (c *Container) die() {
	c.Break()
	c.host.die()
	c.terminate <- syscall.SIGTERM
}

func (c *Container) dial() (supervisor.Conn, error) {
	conn, err := c.network.Dial(filepath.Join(c.settings.Dir, protocol.Socket))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.dead:
		_ = conn.Close()
		return nil, net.ErrClosed
	default:
	}
	c.conn = conn
	return conn, nil
}
