/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"sigs.k8s.io/jobset/agent"
	"sigs.k8s.io/jobset/test/supervised"
)

// pipedBarrier answers startup probes as agent.ProbeBarrier does, but in memory instead of on a port.
type pipedBarrier struct {
	network  supervised.Network
	address  string
	server   *http.Server
	release  sync.Once
	released chan struct{}
}

var _ agent.Barrier = (*pipedBarrier)(nil)

// barrierOf is the barrier of one agent.
func (f *fleet) barrierOf(cfg agent.Config) agent.Barrier {
	if f.probes.Dial == nil {
		return agent.NewProbeBarrier(cfg.BarrierAddress, cfg.BarrierPort)
	}
	address := net.JoinHostPort(cfg.BarrierAddress, strconv.Itoa(cfg.BarrierPort))
	return &pipedBarrier{network: f.probes, address: address, released: make(chan struct{})}
}

// Hold implements agent.Barrier.
func (b *pipedBarrier) Hold() (<-chan error, error) {
	listener, err := b.network.Listen(b.address)
	if err != nil {
		return nil, err
	}
	b.server = &http.Server{Handler: http.HandlerFunc(b.answer), ReadHeaderTimeout: time.Minute}
	broken := make(chan error, 1)
	go func() {
		if err := b.server.Serve(listener); err != http.ErrServerClosed {
			broken <- err
		}
	}()
	return broken, nil
}

// Release implements agent.Barrier.
func (b *pipedBarrier) Release() { b.release.Do(func() { close(b.released) }) }

// Close implements agent.Barrier.
func (b *pipedBarrier) Close() {
	if b.server != nil {
		_ = b.server.Close()
	}
}

func (b *pipedBarrier) answer(w http.ResponseWriter, r *http.Request) {
	seconds, _ := strconv.Atoi(r.URL.Query().Get("wait"))
	timer := time.NewTimer(time.Duration(seconds) * time.Second)
	defer timer.Stop()
	select {
	case <-b.released:
		return
	case <-timer.C:
	case <-r.Context().Done():
	}
	select { // it picks at random when both are ready
	case <-b.released:
	default:
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// dialProbe is how kubelets reach barriers; nil is the network.
func (f *fleet) dialProbe() func(context.Context, string, string) (net.Conn, error) {
	if f.probes.Dial == nil {
		return nil
	}
	return func(_ context.Context, _, address string) (net.Conn, error) { return f.probes.Dial(address) }
}
