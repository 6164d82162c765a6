/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// checkInterval is how often an agent looks at clocks and files while it waits for something that no event tells.
const checkInterval = time.Second

// beginRounds serves the supervisors, which hold their workers until they are told to start them.
func (p *process) beginRounds(cfg Config, deps Deps) (broken <-chan error, err error) {
	if p.supervisors, err = newSupervisors(cfg, deps); err != nil {
		return nil, err
	}
	for _, name := range cfg.Containers {
		p.workers = append(p.workers, Worker{Container: name})
	}
	p.self.Leaving = p.supervisors.readLeave()
	p.left = p.self.Leaving != ""
	return p.supervisors.server.broken, nil
}

func (p *process) view() View {
	p.supervisors.readDone(p.workers)
	return View{Self: p.self, JobSet: p.jobSet, Workers: p.workers, Now: time.Now()}
}

// events returns the channel of what supervisors say; nil in container mode.
func (p *process) events() <-chan event {
	if p.supervisors == nil {
		return nil
	}
	return p.supervisors.server.events
}

// later returns a channel that receives when the clock or a file may have changed what is to be
// decided; nil if neither can.
func (p *process) later() <-chan time.Time {
	unsure := func(w Worker) bool { return isAway(w) || isStuck(w) || p.self.Leaving != "" && mustLeave(w) }
	if !p.self.Pause.IsZero() || find(View{Workers: p.workers}, unsure) != nil {
		return time.After(checkInterval)
	}
	return nil
}

// round does what was decided in process mode, until there is nothing left to do.
func (p *process) round(ctx context.Context) {
	for {
		view := p.view()
		action := Decide(view)
		after, sends := view.Apply(action)
		switch action.Kind {
		case Wait:
			// A decision that could not be noted is, also while nobody is connected who could be told.
			if p.self.Leaving != "" && !p.left && !p.leave(ctx, Action{Because: p.self.Leaving}, p.self) {
				return
			}
			if p.jobSet.Ended && p.self.Reported && p.self.Leaving == "" {
				p.cancelReport() // a repetition that is refused would be tried again for as long as the Pod is kept (P34a)
			}
			p.hold(action.Because)
			return
		case Report:
			p.log.Info("report", "epoch", action.Epoch, "reason", action.Because)
			p.report(ctx, statement{epoch: action.Epoch, exit: after.Self.Tell, address: p.address, progress: after.Self.Progress})
		case Leave:
			if !p.leave(ctx, action, after.Self) {
				p.self.Leaving, p.self.Tell = action.Because, after.Self.Tell
				return
			}
		case StopWorkers:
			p.log.Info("stop", "epoch", p.self.Epoch, "reason", action.Because)
			p.cancelReport()
		case Unwatch:
			p.log.Info("no longer watching", "reason", action.Because)
		case Lift, Bypass:
			p.log.Info("lift", "epoch", action.Epoch, "reason", action.Because)
			p.cancelReport()
		}
		p.self, p.workers = after.Self, after.Workers
		p.lifted.Store(p.self.Lifted != Held)
		p.supervisors.send(sends)
	}
}

// leave notes the decision where a later agent finds it, and tells the manager. It returns false if it
// cannot be noted, and is then called again.
func (p *process) leave(ctx context.Context, action Action, after Self) bool {
	if p.self.Leaving == "" {
		p.cancelReport() // the group must not start with this Pod
	}
	if err := p.supervisors.writeLeave(action.Because); err != nil {
		if text := err.Error(); text != p.waiting {
			p.waiting = text
			p.log.Warn("leaving failed, retrying", "error", text)
		}
		return false
	}
	if !p.left {
		p.left = true
		p.log.Info("leave", "reason", action.Because)
		if after.Tell != nil {
			p.report(ctx, statement{exit: after.Tell, address: p.address})
		}
	}
	return true
}

// retellAfter is the least time between two reports of a worker that runs: less than a minute, which is that of its supervisor.
const retellAfter = 50 * time.Second

// retell tells the manager the steps of a worker that runs, for rank 0 only: one patch a minute at most for a ReplicatedJob,
// however large (P137). One that fails is not repeated, the next minute has a better one.
func (p *process) retell(ctx context.Context, m protocol.Message) {
	if m.Type != protocol.Progressed || m.Report == nil || !p.first || p.self.Lifted != ByEpoch || m.Epoch != p.self.Epoch || p.untold.Load() {
		return
	}
	if p.self.Leaving != "" || quiet(p.self, p.jobSet) != "" {
		return // the report that this Pod must be replaced is not to be canceled, and of others nobody would read it (P32a, P34a)
	}
	// A supervisor says it once a minute. Whoever else reaches the socket may say it more often.
	now := time.Now()
	if !p.retold.IsZero() && now.Sub(p.retold) < retellAfter {
		return
	}
	p.retold = now
	p.cancelReport() // a report of ours that is still on its way says less
	ctx, p.stopReport = context.WithCancel(ctx)
	p.children.Go(func() {
		_, err := p.reporter.write(ctx, statement{progress: m.Report})
		if err != nil && isRefusal(err) && !p.untold.Swap(true) {
			p.log.Warn("reporting the progress of the running worker was refused, and is not retried", "error", err,
				"fix", "install the admission policy of this version, and let webhooks pass annotation "+protocol.ProgressKey)
		}
	})
}
