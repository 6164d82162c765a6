/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervised

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/supervisor"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// host is a supervisor.Host whose worker is a function, and leaves nothing behind.
type host struct {
	worker  Worker
	changed chan os.Signal

	mu sync.Mutex
	// run is the one that has not been looked at since it ended; nil if there is none.
	run  *run
	dead bool
}

type run struct {
	stop   context.CancelFunc
	killed bool
	ended  chan struct{}
	code   int
	// steps are those that it has told.
	steps int64
}

func newHost(worker Worker) *host {
	return &host{worker: worker, changed: make(chan os.Signal, 1)}
}

// Start implements supervisor.Host.
func (h *host) Start(r supervisor.Run) *protocol.Exit {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dead {
		return killed()
	}
	ctx, stop := context.WithCancel(context.Background())
	begun := &run{stop: stop, ended: make(chan struct{})}
	h.run = begun
	go func() {
		defer stop()
		begun.code = h.worker(ctx, r)
		close(begun.ended)
		select {
		case h.changed <- syscall.SIGCHLD:
		default: // one is as good as many
		}
	}()
	return nil
}

// Signal implements supervisor.Host.
func (h *host) Signal(number syscall.Signal) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run != nil && number == syscall.SIGTERM {
		h.run.stop()
	}
}

// Kill implements supervisor.Host.
func (h *host) Kill() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run != nil {
		h.run.killed = true
		h.run.stop()
	}
}

// Look implements supervisor.Host.
func (h *host) Look() (exited *protocol.Exit, empty bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run == nil {
		return nil, true
	}
	select {
	case <-h.run.ended:
	default:
		return nil, false
	}
	exited = &protocol.Exit{Code: h.run.code, Time: time.Now().UTC()}
	if h.run.killed {
		exited = killed()
	}
	h.run = nil
	return exited, true
}

// Signs implements supervisor.Host: these workers tell another step each time.
func (h *host) Signs() supervisor.Signs {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.run == nil {
		return supervisor.Signs{}
	}
	h.run.steps++
	return supervisor.Signs{Step: h.run.steps, Stepped: true}
}

// Processes and Dump find nothing: the workers here are no processes.
func (h *host) Processes(time.Duration) supervisor.Processes { return nil }
func (h *host) Dump(syscall.Signal) int                      { return 0 }

// Changed implements supervisor.Host.
func (h *host) Changed() <-chan os.Signal { return h.changed }

// die kills the worker, returns when it is gone, and lets none begin any more.
func (h *host) die() {
	h.mu.Lock()
	h.dead = true
	last := h.run
	h.mu.Unlock()
	if last != nil {
		h.Kill()
		<-last.ended
	}
}

func killed() *protocol.Exit {
	return &protocol.Exit{Code: exitKilled, Signal: int(syscall.SIGKILL), Time: time.Now().UTC()}
}
