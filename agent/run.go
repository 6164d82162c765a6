/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"

	"k8s.io/client-go/rest"
)

// Deps are what an agent uses of the world, so that thousands can live in one process.
type Deps struct {
	// API is how to reach the API server. It is not changed. Agents with equal ones share connections.
	API *rest.Config
	// Barrier holds the worker. Run closes it.
	Barrier Barrier
	// Log is told the few things worth telling; nil is silent.
	Log *slog.Logger
	// Timing is how patient the agent is; nil is DefaultTiming.
	Timing *Timing
	// Rand yields numbers in [0, 1) and may be called by several goroutines; nil is math/rand/v2.
	Rand func() float64
}

// OutcomeKind says how an agent ended.
type OutcomeKind string

const (
	// Restarted: this Pod has to restart in place; the exit code is what makes it.
	Restarted OutcomeKind = "Restarted"
	// Stopped: the context ended.
	Stopped OutcomeKind = "Stopped"
)

// Outcome is the end of an agent that met no error.
type Outcome struct {
	Kind OutcomeKind
	// Cause is the reason of the restart, or the cause of the context.
	Cause error
	// Self is what the agent was at its end.
	Self Self
}

// Run is one agent process: it holds the barrier, looks at the JobSet, decides and performs
// until the Pod must restart or the context ends. It has no globals, signal handlers or
// exits, and leaves no goroutine behind. An error is a barrier or a client that does not
// work; whatever an API server does is retried.
func Run(ctx context.Context, cfg Config, deps Deps) (Outcome, error) {
	deps = deps.withDefaults()
	broken, err := deps.Barrier.Hold()
	if err != nil {
		return Outcome{}, fmt.Errorf("holding the worker: %w", err)
	}
	defer func() { _ = deps.Barrier.Close() }()
	api, err := newAPI(deps.API, cfg)
	if err != nil {
		return Outcome{}, err
	}

	ctx, cancel := context.WithCancel(ctx)
	var children sync.WaitGroup
	defer children.Wait()
	defer cancel()

	p := &process{
		self:     Self{UID: cfg.JobSetUID},
		barrier:  deps.Barrier,
		log:      deps.Log,
		reporter: reporter{api: api, timing: *deps.Timing, rand: deps.Rand, log: deps.Log},
		reported: make(chan struct{}),
		children: &children,
	}
	states := make(chan JobSet)
	watch := watcher{api: api, name: cfg.JobSetName, timing: *deps.Timing, rand: deps.Rand, log: deps.Log}
	watch.see = func(js JobSet) {
		select {
		case states <- js:
		case <-ctx.Done():
		}
	}
	deps.Log.Info("start", "namespace", cfg.Namespace, "pod", cfg.PodName, "jobset", cfg.JobSetName, "uid", cfg.JobSetUID)
	children.Go(func() { watch.run(ctx) })
	return p.loop(ctx, states, broken)
}

func (d Deps) withDefaults() Deps {
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Timing == nil {
		timing := DefaultTiming()
		d.Timing = &timing
	}
	if d.Rand == nil {
		d.Rand = rand.Float64
	}
	return d
}

// process is the state of one agent. Only loop touches it.
type process struct {
	self    Self
	jobSet  JobSet
	barrier Barrier
	log     *slog.Logger
	// waiting is the reason of the last wait that was logged.
	waiting string

	reporter reporter
	// reported receives once, when the API server has accepted the epoch.
	reported chan struct{}
	// stopReport ends a report that is under way.
	stopReport context.CancelFunc
	children   *sync.WaitGroup
}

// loop decides whenever something that a decision is made on has changed. It never waits
// for the API server: while a report is retried, the epoch may become deprecated.
func (p *process) loop(ctx context.Context, states <-chan JobSet, broken <-chan error) (Outcome, error) {
	for {
		select {
		case <-ctx.Done():
			p.log.Info("stopped", "cause", context.Cause(ctx), "epoch", p.self.Epoch)
			return Outcome{Kind: Stopped, Cause: context.Cause(ctx), Self: p.self}, nil
		case err := <-broken:
			return Outcome{Self: p.self}, err
		case p.jobSet = <-states:
			if p.self.UID == "" {
				p.self.UID = p.jobSet.UID
			}
		case <-p.reported:
			p.self.Reported = true
			p.log.Info("reported", "epoch", p.self.Epoch)
		}
		action := Decide(View{Self: p.self, JobSet: p.jobSet})
		if action.Kind == Restart {
			p.log.Info("restart", "because", action.Because)
			return Outcome{Kind: Restarted, Cause: fmt.Errorf("restart in place: %s", action.Because), Self: p.self}, nil
		}
		if err := p.perform(ctx, action); err != nil {
			return Outcome{Self: p.self}, err
		}
	}
}

// perform does what was decided, except for a restart, which is the end of the loop.
func (p *process) perform(ctx context.Context, action Action) error {
	switch action.Kind {
	case Report:
		p.self.Epoch = action.Epoch
		p.report(ctx, action.Epoch)
	case Lift:
		return p.lift(ByEpoch, action.Because)
	case Bypass:
		if p.stopReport != nil {
			p.stopReport()
		}
		return p.lift(ByBypass, action.Because)
	case Wait:
		if p.self.Lifted == Held && action.Because != p.waiting {
			p.waiting = action.Because
			p.log.Info("hold", "because", action.Because)
		}
	}
	return nil
}

// report runs beside the loop. If it ends just when nobody listens any more, nobody needs to know.
func (p *process) report(ctx context.Context, epoch int32) {
	ctx, p.stopReport = context.WithCancel(ctx)
	p.children.Go(func() {
		if !p.reporter.run(ctx, epoch) {
			return
		}
		select {
		case p.reported <- struct{}{}:
		case <-ctx.Done():
		}
	})
}

func (p *process) lift(how Lifted, because string) error {
	if err := p.barrier.Release(); err != nil {
		return fmt.Errorf("releasing the worker: %w", err)
	}
	p.self.Lifted = how
	p.log.Info("lift", "epoch", p.self.Epoch, "because", because)
	return nil
}
