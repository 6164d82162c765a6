/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/tools/clientcmd"

	"sigs.k8s.io/jobset/agent"
	"sigs.k8s.io/jobset/supervisor"
	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/supervisor/setting"
	"sigs.k8s.io/jobset/test/simnode"
	"sigs.k8s.io/jobset/test/supervised"
)

// Exit codes of the containers, as those of the real programs.
const (
	exitStopped  = 143
	exitSettings = 64
	exitFailed   = 1
)

// slot is a worker's place in its JobSet; whoever takes it over is the same worker to us.
type slot struct{ job, index string }

type workerRun struct {
	began time.Time
	fail  chan struct{}
}

// fleet holds the containers of all simulated nodes, which are functions of this process:
// agents and supervisors that run their own code, and workers that do nothing until they are told to fail.
// It sees every moment itself, so no watch of Pods adds to what is measured.
type fleet struct {
	mu      sync.Mutex
	running map[slot]*workerRun
	// reports are the moments at which the API server accepted an epoch, readies those at which supervisors
	// said that nothing of their worker is left.
	reports, readies []time.Time
	// broken are ends of agents that no restart explains.
	broken []error

	jobSetBytes atomic.Int64
	// noLeases refuses agents their Leases, so that they report on their Pods.
	noLeases atomic.Bool
	network  supervised.Network
	// probes is the network of startup probes, if that is in memory.
	probes supervised.Network
}

func newFleet(workers int) *fleet {
	f := &fleet{running: map[slot]*workerRun{}}
	f.network = f.tapped(workers)
	if !portsSuffice(workers) {
		f.probes = supervised.Pipes()
	}
	return f
}

func (f *fleet) runtime() *simnode.FuncRuntime {
	return simnode.NewFuncRuntime(map[string]simnode.Func{agentImage: f.agentOrInstaller, workerImage: f.worker})
}

// worker is the container of a worker.
func (f *fleet) worker(ctx context.Context, c simnode.FuncContainer) int {
	if c.Env(protocol.ContainerEnv) == "" {
		return f.work(ctx, c.Pod)
	}
	container, err := supervised.New(c, f.network, func(ctx context.Context, _ supervisor.Run) int { return f.work(ctx, c.Pod) })
	if err != nil {
		return f.end(err, exitSettings)
	}
	return container.Run(ctx)
}

// work stands in for the training process.
func (f *fleet) work(ctx context.Context, pod *corev1.Pod) int {
	at := slot{job: pod.Labels["batch.kubernetes.io/job-name"], index: pod.Labels["batch.kubernetes.io/job-completion-index"]}
	run := &workerRun{began: time.Now(), fail: make(chan struct{})}
	f.mu.Lock()
	f.running[at] = run
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.running[at] == run {
			delete(f.running, at)
		}
	}()
	select {
	case <-run.fail:
		return exitFailed
	case <-ctx.Done():
		return exitStopped
	}
}

// failOne makes one worker fail and returns when that was.
func (f *fleet) failOne() (time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reports, f.readies, f.broken = nil, nil, nil
	for _, run := range f.running { // any: the order of a map is random
		now := time.Now()
		close(run.fail)
		return now, nil
	}
	return time.Time{}, errors.New("no worker runs")
}

// runningSince tells how many workers run that began after a moment, and when the first and the last of them did.
func (f *fleet) runningSince(moment time.Time) (count int, first, last time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, run := range f.running {
		if !run.began.After(moment) {
			continue
		}
		count++
		if first.IsZero() || run.began.Before(first) {
			first = run.began
		}
		if run.began.After(last) {
			last = run.began
		}
	}
	return count, first, last
}

// reported returns the moments of all reports since the last failure.
func (f *fleet) reported() ([]time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reports, errors.Join(f.broken...)
}

// ready returns the moments at which supervisors were ready since the last failure.
func (f *fleet) ready() []time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.readies
}

// agentOrInstaller is a container of the agent's image.
func (f *fleet) agentOrInstaller(ctx context.Context, c simnode.FuncContainer) int {
	if len(c.Command) > 1 && c.Command[1] == protocol.InstallCommand {
		return supervised.Install(c)
	}
	return f.agent(ctx, c)
}

// agent is the agent container: what the agent's main does, with the environment and the
// signals of a container that is a function.
func (f *fleet) agent(ctx context.Context, c simnode.FuncContainer) int {
	cfg, err := agent.FromEnv(c.LookupEnv)
	if err != nil {
		return f.end(err, exitSettings)
	}
	config, err := clientcmd.BuildConfigFromFlags("", cfg.Kubeconfig)
	if err != nil {
		return f.end(err, exitSettings)
	}
	// Connections are shared among equal configurations, but for those with a proxy function.
	// This one never finds a proxy: each agent gets a connection of its own, with a TLS
	// handshake at each start, as a process would.
	config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	var own http.RoundTripper
	config.Wrap(func(transport http.RoundTripper) http.RoundTripper {
		own = transport
		return &meter{fleet: f, next: transport}
	})
	defer func() {
		if own != nil {
			utilnet.CloseIdleConnectionsFor(own)
		}
	}()
	deps := agent.Deps{API: config, Listen: f.network.Listen}
	if len(cfg.Containers) == 0 {
		deps.Barrier = f.barrierOf(cfg)
	}
	outcome, err := agent.Run(ctx, cfg, deps)
	var wrong *setting.Error
	switch {
	case errors.As(err, &wrong):
		return f.end(err, exitSettings)
	case err != nil:
		return f.end(err, cfg.RestartExitCode)
	case outcome.Kind == agent.Restarted:
		return cfg.RestartExitCode
	}
	return exitStopped
}

func (f *fleet) end(err error, code int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = append(f.broken, err)
	return code
}

// meter sees what one agent asks of the API server.
type meter struct {
	fleet *fleet
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (m *meter) RoundTrip(request *http.Request) (*http.Response, error) {
	if m.fleet.noLeases.Load() && strings.Contains(request.URL.Path, "/leases") {
		return refusal(request), nil
	}
	response, err := m.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	switch {
	case request.Method == http.MethodGet && response.StatusCode == http.StatusOK:
		response.Body = countingBody{ReadCloser: response.Body, read: &m.fleet.jobSetBytes}
	case request.Method == http.MethodPatch && response.StatusCode == http.StatusOK:
		m.fleet.mu.Lock()
		m.fleet.reports = append(m.fleet.reports, time.Now())
		m.fleet.mu.Unlock()
	}
	return response, nil
}

// refusal is what an API server answers to who has no rights.
func refusal(request *http.Request) *http.Response {
	const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`
	return &http.Response{
		StatusCode: http.StatusForbidden, Status: "403 Forbidden", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: request,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(status)), ContentLength: int64(len(status)),
	}
}

// WrappedRoundTripper lets client-go find the transport below.
func (m *meter) WrappedRoundTripper() http.RoundTripper { return m.next }

type countingBody struct {
	io.ReadCloser
	read *atomic.Int64
}

func (b countingBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read.Add(int64(n))
	return n, err
}
