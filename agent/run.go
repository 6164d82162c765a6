/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
)

// Deps are the dependencies of an agent. None is a global, so thousands of agents can run in one process.
type Deps struct {
	// API is how to reach the API server. It is not modified. Agents with equal configurations share connections.
	API *rest.Config
	// Barrier holds the worker in container mode. Run closes it.
	Barrier Barrier
	// Listen serves the socket in process mode; nil serves a real one.
	Listen func(path string) (net.Listener, error)
	// Log receives a few lines; nil discards them.
	Log *slog.Logger
	// Timing holds timeouts and delays; nil is DefaultTiming.
	Timing *Timing
	// Rand returns numbers in [0, 1) and may be called concurrently; nil is math/rand/v2.
	Rand func() float64
}

// OutcomeKind says how an agent ended.
type OutcomeKind string

const (
	// Restarted: this Pod must restart in place, which the exit code causes.
	Restarted OutcomeKind = "Restarted"
	// Stopped: the context ended.
	Stopped OutcomeKind = "Stopped"
)

// Outcome is how an agent ended without an error.
type Outcome struct {
	Kind OutcomeKind
	// Cause is the reason of the restart, or the cause of the context.
	Cause error
}

// Run is one agent process: it holds the barrier, watches the JobSet, decides and acts
// until the Pod must restart or the context ends. It uses no globals, signal handlers or
// exits, and leaves no goroutine behind. It returns an error if the barrier or the client
// does not work; errors of an API server are retried.
func Run(ctx context.Context, cfg Config, deps Deps) (Outcome, error) {
	deps = deps.withDefaults()
	p := &process{
		self:          Self{UID: cfg.JobSetUID},
		uidConfigured: cfg.JobSetUID != "",
		address:       cfg.Address,
		first:         cfg.Place.isFirst(),
		barrier:       deps.Barrier,
		log:           deps.Log,
		reported:      make(chan reported),
	}
	begin := p.beginRounds
	if len(cfg.Containers) == 0 {
		begin = func(Config, Deps) (<-chan error, error) { return p.barrier.Hold() }
	}
	broken, err := begin(cfg, deps)
	if err != nil {
		return Outcome{}, fmt.Errorf("holding the worker: %w", err)
	}
	defer p.close()
	api, err := newAPI(deps.API, cfg, deps.Timing.Request)
	if err != nil {
		return Outcome{}, err
	}

	ctx, cancel := context.WithCancel(ctx)
	defer p.children.Wait()
	defer cancel()
	defer p.lastWords(ctx)

	p.reporter = reporter{api: api, lease: newLeasePlace(api, cfg), timing: *deps.Timing, rand: deps.Rand, log: deps.Log, quiet: p.quiet.Load}
	states := make(chan JobSet)
	watch := watcher{
		place: cfg.Place,
		api:   api, name: cfg.JobSetName, timing: *deps.Timing, rand: deps.Rand, log: deps.Log, lifted: p.lifted.Load,
	}
	watch.see = func(js JobSet) {
		select {
		case states <- js:
		case <-ctx.Done():
		}
	}
	deps.Log.Info("start", "namespace", cfg.Namespace, "pod", cfg.PodName, "jobSet", cfg.JobSetName, "uid", cfg.JobSetUID)
	p.children.Go(func() { watch.run(ctx) })
	return p.loop(ctx, states, broken)
}

func (d Deps) withDefaults() Deps {
	d.Log = cmp.Or(d.Log, slog.New(slog.DiscardHandler))
	if d.Timing == nil {
		timing := DefaultTiming()
		d.Timing = &timing
	}
	if d.Rand == nil {
		d.Rand = rand.Float64
	}
	if d.Listen == nil {
		d.Listen = listenUnix
	}
	return d
}

// process is the state of one agent. Only loop touches it.
type process struct {
	self Self
	// uidConfigured: the UID of the JobSet comes from the configuration.
	uidConfigured bool
	jobSet        JobSet
	// address is what this Pod tells of itself; empty if nothing.
	address string
	// first: this Pod has rank 0.
	first bool
	// untold: the progress of a worker that runs was refused, and is not told again.
	untold atomic.Bool
	// retold is when it was told last.
	retold time.Time
	// barrier is nil in process mode, and supervisors and workers are in container mode.
	barrier     Barrier
	supervisors *supervisors
	workers     []Worker
	log         *slog.Logger
	// left: the decision to leave is on the disk, and whoever has to be told was (P70).
	left bool
	// waiting is the last reason to wait that was logged.
	waiting string
	// lifted is the part of self that other goroutines read.
	lifted atomic.Bool
	// quiet: the JobSet is one to which nothing is reported, as function quiet says. Other goroutines read it, too.
	quiet atomic.Bool

	reporter reporter
	// reported receives when the API server has accepted a report.
	reported chan reported
	// stopReport ends a report in progress.
	stopReport context.CancelFunc
	// success is the report that all workers have finished.
	success  success
	children sync.WaitGroup
}

// reported is a report that the API server has accepted.
type reported struct {
	epoch int32
	// owner is the UID of the Pod's JobSet, if the response had it.
	owner string
}

func (p *process) close() {
	if p.supervisors != nil {
		p.supervisors.server.close()
		return
	}
	p.barrier.Close()
}

// loop decides whenever the view has changed. It never waits for the API
// server: while a report is retried, the epoch may become deprecated.
func (p *process) loop(ctx context.Context, states <-chan JobSet, broken <-chan error) (Outcome, error) {
	for {
		select {
		case <-ctx.Done():
			p.log.Info("stopped", "cause", context.Cause(ctx), "epoch", p.self.Epoch)
			return Outcome{Kind: Stopped, Cause: context.Cause(ctx)}, nil
		case err := <-broken:
			return Outcome{}, err
		case p.jobSet = <-states:
			p.self.UID = cmp.Or(p.self.UID, p.jobSet.UID)
		case report := <-p.reported:
			p.accepted(report)
		case e := <-p.events():
			if p.supervisors.take(e, p.workers, time.Now()) {
				p.retell(ctx, e.message)
			}
		case <-p.later():
		}
		p.quiet.Store(quiet(p.self, p.jobSet) != "")
		if p.supervisors != nil {
			p.round(ctx)
			continue
		}
		action := Decide(View{Self: p.self, JobSet: p.jobSet})
		if action.Kind == Restart {
			p.log.Info("restart", "reason", action.Because)
			return Outcome{Kind: Restarted, Cause: fmt.Errorf("restart in place: %s", action.Because)}, nil
		}
		p.perform(ctx, action)
	}
}

// accepted notes a report that the API server has accepted.
func (p *process) accepted(report reported) {
	p.self = p.self.Accepted(report.epoch)
	if report.owner != "" && !p.uidConfigured {
		// The JobSet that was read may be a later one of the same name.
		p.self.UID = report.owner
	}
	p.log.Info("reported", "epoch", report.epoch)
}

// perform does what was decided in container mode, except for a restart, which ends the loop.
func (p *process) perform(ctx context.Context, action Action) {
	switch action.Kind {
	case Report:
		p.self.Epoch = action.Epoch
		p.report(ctx, statement{epoch: action.Epoch, address: p.address})
	case Lift:
		p.release(ByEpoch, action.Because)
	case Bypass:
		p.cancelReport()
		p.release(ByBypass, action.Because)
	case Wait:
		p.hold(action.Because)
	}
}

// hold logs why the worker is held, once.
func (p *process) hold(because string) {
	if p.self.Lifted == Held && because != p.waiting {
		p.waiting = because
		p.log.Info("hold", "reason", because)
	}
}

// report reports in the background. The result is dropped if the loop has ended. In process mode
// the report of an epoch is repeated until the next one or the lift.
func (p *process) report(ctx context.Context, says statement) {
	p.cancelReport()
	epoch, succeeded, over := says.epoch, says.exit != nil && says.exit.Done, make(chan struct{})
	if succeeded {
		ctx, p.success.stop = context.WithCancel(context.WithoutCancel(ctx))
		p.success.over = over
	} else {
		ctx, p.stopReport = context.WithCancel(ctx)
	}
	repeat, workers := p.supervisors != nil && epoch != 0 && !succeeded, p.jobSet.Workers
	p.children.Go(func() {
		owner, ok := p.reporter.run(ctx, says, workers)
		close(over)
		if !ok {
			return
		}
		select {
		case p.reported <- reported{epoch, owner}:
		case <-ctx.Done():
			return
		}
		if repeat {
			p.reporter.repeat(ctx, says, workers)
		}
	})
}

// cancelReport ends a report in progress and its repetitions, but not that of a success.
func (p *process) cancelReport() {
	if p.stopReport != nil {
		p.stopReport()
	}
}

func (p *process) release(how Lifted, because string) {
	p.barrier.Release()
	p.self.Lifted = how
	p.lifted.Store(true)
	p.log.Info("lift", "epoch", p.self.Epoch, "reason", because)
}
