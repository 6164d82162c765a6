/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// containerRun is one container of a Pod with the run it has now, if any. It belongs to the worker's loop; what other
// goroutines tell about the run comes through the atomics of runSignals.
type containerRun struct {
	view    containerView
	proc    Process
	signals *runSignals
}

// runSignals is what the goroutines of one run tell. Each run has its own, so a late word about an old run is lost
// instead of being taken for one about the new.
type runSignals struct {
	ctx     context.Context // of the probe
	cancel  context.CancelFunc
	probing bool
	endedAt atomic.Int64
	noticed atomic.Bool // the worker knows of the exit
	startup atomic.Int32
}

// refresh copies what is known about the run into the view.
func (c *containerRun) refresh() {
	if c.view.State != running {
		return
	}
	c.view.Startup = probeResult(c.signals.startup.Load())
	select {
	case <-c.proc.Done():
	default:
		return
	}
	c.signals.cancel()
	c.signals.noticed.Store(true)
	c.view.State, c.view.ExitCode = exited, int32(c.proc.ExitCode())
	c.view.FinishedAt = time.Now()
	if at := c.signals.endedAt.Load(); at != 0 {
		c.view.FinishedAt = time.Unix(0, at)
	}
}

// begin records a new run and watches it.
func (c *containerRun) begin(w *podWorker, proc Process) {
	now := time.Now()
	v := &c.view
	if v.State == exited {
		v.Last = v.end()
		v.Restarts++
		v.Backoff = v.Backoff.afterStart(*w.node.opts.Timings, v.FinishedAt, now)
	}
	v.State, v.StartedAt, v.FinishedAt, v.ExitCode = running, now, time.Time{}, 0
	v.ID = fmt.Sprintf("simnode://%s-%s-%s", w.writer.uid, v.Spec.Name, strconv.FormatInt(now.UnixNano(), 36))
	v.Startup = probePending
	v.Waiting, v.Reset, v.RetryAt = nil, false, time.Time{}

	ctx, cancel := context.WithCancel(w.ctx)
	c.proc, c.signals = proc, &runSignals{ctx: ctx, cancel: cancel}
	go watchExit(w, proc, c.signals)
}

// beginProbe starts the startup probe of a run once its running state is reported, as a kubelet does: nobody sees a container
// started before it was seen running.
func (c *containerRun) beginProbe(w *podWorker) {
	if c.view.State != running || c.signals.probing {
		return
	}
	c.signals.probing = true
	if c.view.Spec.StartupProbe != nil {
		go runProbe(c.signals.ctx, w, c.view.Spec, w.podIP, c.view.StartedAt, c.signals)
	}
}

// removeForRestart forgets the run. How it really ended is forgotten with it: the API says the same of every container.
func (c *containerRun) removeForRestart() {
	v := &c.view
	v.State, v.ID, v.ExitCode = absent, "", 0
	v.Restarts++
	v.Last = &corev1.ContainerStateTerminated{ExitCode: exitKilled, Reason: reasonRestartingAll, Message: removedMessage}
	v.Startup = probePending
	v.Waiting, v.Reset, v.RetryAt = nil, true, time.Time{}
	c.proc = nil
}

func (c *containerRun) stopProbe() {
	if c.signals != nil {
		c.signals.cancel()
	}
}

// watchExit wakes the worker at the relist after the exit, unless it killed the run itself: a needless sync would delay
// the one after it by a relist.
func watchExit(w *podWorker, proc Process, s *runSignals) {
	<-proc.Done()
	now := time.Now()
	s.endedAt.Store(now.UnixNano())
	if pause(w.ctx, time.Until(nextTick(w.node.epoch, now, w.node.opts.Timings.RelistInterval))) && !s.noticed.Load() {
		poke(w.wake)
	}
}

// runProbe runs the startup probe to its verdict.
func runProbe(ctx context.Context, w *podWorker, c *corev1.Container, podIP string, begun time.Time, s *runSignals) {
	target, err := probeTarget(c, c.StartupProbe.HTTPGet, podIP)
	if err != nil {
		return // such a container was never started, see unsupported
	}
	timings := w.node.opts.Timings
	p := &prober{probe: c.StartupProbe, target: target, dial: w.node.opts.DialProbe, second: timings.Second, epoch: w.epoch, begun: begun}
	if verdict := p.run(ctx); verdict != probePending {
		s.startup.Store(int32(verdict))
		poke(w.wake)
	}
}
