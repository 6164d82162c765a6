/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package player runs agents and workers as functions of this process, on
// simulated nodes, and holds against them what must always be so.
//
//	a worker runs in the epoch that the agent process beside it reported and lifted;
//	in process mode, in the epoch that an agent of its Pod reported last
//	no two workers run at the same time in different epochs
//	no place of the group runs twice in one epoch, whatever became of the first run
//
// The agents are real, and so are the supervisors of process mode: what they do, over which connection
// and with which token, is what their programs do. All that is recorded is recorded by one clock
// under one lock, at the moment it happens.
package player

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/test/simnode"
)

// Players are all agents and workers of a group.
type Players struct {
	mu      sync.Mutex
	agents  map[types.UID]*agentProcess
	started map[types.UID]int // agents, by Pod
	workers map[types.UID]*workerRun
	// ran is the last epoch that each place of the group ran in.
	ran map[string]int32
	// containers are those with a supervisor, and reported the last epoch of each of their Pods, in process mode.
	containers map[types.UID]*container
	reported   map[types.UID]int32
	// changed is closed and replaced whenever something begins or ends.
	changed    chan struct{}
	violations []string
}

// agentProcess is one process of an agent.
type agentProcess struct {
	pod    *corev1.Pod
	epoch  int32
	lifted bool
	// rounds: it lives through many epochs, as in process mode.
	rounds bool
	crash  context.CancelCauseFunc
}

// workerRun is one run of a worker.
type workerRun struct {
	pod   *corev1.Pod
	place string
	epoch int32
	began time.Time
	fail  context.CancelCauseFunc
}

// New returns players that do not play yet.
func New() *Players {
	return &Players{
		agents: map[types.UID]*agentProcess{}, started: map[types.UID]int{}, workers: map[types.UID]*workerRun{},
		ran: map[string]int32{}, changed: make(chan struct{}),
		containers: map[types.UID]*container{}, reported: map[types.UID]int32{},
	}
}

// Images runs them as containers of these images, in the mode that their Pods are made for.
func (p *Players) Images(agentImage, workerImage string) map[string]simnode.Func {
	return map[string]simnode.Func{agentImage: p.runAgentImage, workerImage: p.runWorkerImage}
}

func (p *Players) agentStarts(pod *corev1.Pod, rounds bool, crash context.CancelCauseFunc) *agentProcess {
	p.mu.Lock()
	defer p.mu.Unlock()
	process := &agentProcess{pod: pod, rounds: rounds, crash: crash}
	p.agents[pod.UID] = process
	p.started[pod.UID]++
	p.tell()
	return process
}

func (p *Players) agentEnds(process *agentProcess) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.agents[process.pod.UID] == process {
		delete(p.agents, process.pod.UID)
	}
	p.tell()
}

func (p *Players) chooses(process *agentProcess, epoch int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if process.epoch > epoch || process.epoch != 0 && process.epoch != epoch && !process.rounds {
		p.wrongLocked("agent of Pod %s reported epoch %d and then %d", process.pod.Name, process.epoch, epoch)
	}
	process.epoch, p.reported[process.pod.UID] = epoch, epoch
	p.tell()
}

func (p *Players) lifts(process *agentProcess) {
	p.mu.Lock()
	defer p.mu.Unlock()
	process.lifted = true
}

// runWorker is the worker container: it runs until it is told to end or to fail.
func (p *Players) runWorker(ctx context.Context, c simnode.FuncContainer) int {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	run := p.workerStarts(c.Pod, fail)
	<-ctx.Done()
	p.workerEnds(run)
	if context.Cause(ctx) == errFailed { //nolint:errorlint // it is this very one
		return 1
	}
	return exitStopped
}

func (p *Players) workerStarts(pod *corev1.Pod, fail context.CancelCauseFunc) *workerRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	epoch := int32(0)
	beside := p.agents[pod.UID]
	switch {
	case beside == nil:
		p.wrongLocked("worker of Pod %s started without an agent", pod.Name)
	case !beside.lifted:
		p.wrongLocked("worker of Pod %s started at a barrier that holds", pod.Name)
	case beside.epoch == 0:
		p.wrongLocked("worker of Pod %s started in no epoch", pod.Name)
	default:
		epoch = beside.epoch
	}
	return p.begins(pod, epoch, fail)
}

// begins is a worker that starts in an epoch. The lock is held.
func (p *Players) begins(pod *corev1.Pod, epoch int32, fail context.CancelCauseFunc) *workerRun {
	run := &workerRun{pod: pod, place: place(pod), epoch: epoch, began: time.Now(), fail: fail}
	if p.workers[pod.UID] != nil {
		p.wrongLocked("worker of Pod %s started while an older one ran", pod.Name)
	}
	for _, other := range p.workers {
		if other.epoch != run.epoch {
			p.wrongLocked("mixed epochs: worker of Pod %s started in epoch %d while that of Pod %s ran in epoch %d",
				pod.Name, run.epoch, other.pod.Name, other.epoch)
		}
	}
	if last := p.ran[run.place]; run.epoch <= last {
		p.wrongLocked("worker %s started in epoch %d, and had run in epoch %d", run.place, run.epoch, last)
	}
	p.ran[run.place] = run.epoch
	p.workers[pod.UID] = run
	p.tell()
	return run
}

func (p *Players) workerEnds(run *workerRun) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.workers[run.pod.UID] == run {
		delete(p.workers, run.pod.UID)
	}
	p.tell()
}

// place is what a Pod is to the group, whichever Pod it is.
func place(pod *corev1.Pod) string {
	return pod.Labels[batchv1.JobNameLabel] + "-" + pod.Annotations[batchv1.JobCompletionIndexAnnotation]
}

// tell wakes those who wait. The lock is held.
func (p *Players) tell() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// Until waits until something is so of the players.
func (p *Players) Until(ctx context.Context, is func() bool) error {
	for {
		p.mu.Lock()
		changed := p.changed
		p.mu.Unlock()
		if is() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Agents counts the agents that have run in a Pod.
func (p *Players) Agents(pod *corev1.Pod) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started[pod.UID]
}

// Running says how many workers run and in which epoch; 0 if it is not one.
func (p *Players) Running() (workers int, epoch int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, run := range p.workers {
		switch {
		case workers == 0:
			epoch = run.epoch
		case run.epoch != epoch:
			return len(p.workers), 0
		}
		workers++
	}
	return workers, epoch
}

// Pods are the Pods whose workers run, by name.
func (p *Players) Pods() []*corev1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	pods := make([]*corev1.Pod, 0, len(p.workers))
	for _, run := range p.workers {
		pods = append(pods, run.pod)
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}

// Waiting are the Pods whose agents have reported an epoch and hold their workers, by name.
func (p *Players) Waiting() []*corev1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	var pods []*corev1.Pod
	for _, process := range p.agents {
		if process.epoch != 0 && !process.lifted && (!process.rounds || p.workers[process.pod.UID] == nil) {
			pods = append(pods, process.pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}

// FailWorker lets the worker of a Pod exit with 1.
func (p *Players) FailWorker(pod *corev1.Pod) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	run := p.workers[pod.UID]
	if run != nil {
		run.fail(errFailed)
	}
	return run != nil
}

// CrashAgent kills the agent of a Pod.
func (p *Players) CrashAgent(pod *corev1.Pod) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	process := p.agents[pod.UID]
	if process != nil {
		process.crash(errCrashed)
	}
	return process != nil
}

func (p *Players) wrong(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrongLocked(format, args...)
}

func (p *Players) wrongLocked(format string, args ...any) {
	p.violations = append(p.violations, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// Violations are what must not have happened and did.
func (p *Players) Violations() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.violations)
}

// String says what every agent and worker does.
func (p *Players) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines := make([]string, 0, len(p.agents)+len(p.workers))
	for _, process := range p.agents {
		lines = append(lines, fmt.Sprintf("%s agent: epoch %d, lifted %t", process.pod.Name, process.epoch, process.lifted))
	}
	for _, run := range p.workers {
		lines = append(lines, fmt.Sprintf("%s worker: epoch %d for %s", run.pod.Name, run.epoch, time.Since(run.began).Round(time.Second)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
