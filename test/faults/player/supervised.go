/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package player

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/supervisor"
	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/test/simnode"
	"sigs.k8s.io/jobset/test/supervised"
)

// container is the container of a worker in process mode.
type container struct {
	*supervised.Container
	pod *corev1.Pod
}

// runAgentImage is the agent, or in process mode its postStart hook.
func (p *Players) runAgentImage(ctx context.Context, c simnode.FuncContainer) int {
	if len(c.Command) > 1 && c.Command[1] == protocol.InstallCommand {
		return supervised.Install(c)
	}
	return p.runAgent(ctx, c)
}

// runWorkerImage is the worker, or in process mode the supervisor that starts it.
func (p *Players) runWorkerImage(ctx context.Context, c simnode.FuncContainer) int {
	if c.Env(protocol.ContainerEnv) == "" {
		return p.runWorker(ctx, c)
	}
	of, err := supervised.New(c, supervised.Sockets(), func(ctx context.Context, run supervisor.Run) int { return p.runProcess(ctx, c.Pod, run) })
	if err != nil {
		p.wrong("supervisor of Pod %s: %v", c.Pod.Name, err)
		return exitSetting
	}
	here := &container{of, c.Pod}
	p.mu.Lock()
	p.containers[c.Pod.UID] = here
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.containers[c.Pod.UID] == here {
			delete(p.containers, c.Pod.UID)
		}
	}()
	return of.Run(ctx)
}

// runProcess is a worker that a supervisor starts.
func (p *Players) runProcess(ctx context.Context, pod *corev1.Pod, started supervisor.Run) int {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	run := p.processStarts(pod, started, fail)
	<-ctx.Done()
	p.workerEnds(run)
	switch {
	case context.Cause(ctx) == errFailed: //nolint:errorlint // it is this very one
		return 1
	case started.Epoch%2 == 0:
		return 0 // A worker that was told to stop is not done (P67).
	}
	return exitStopped
}

func (p *Players) processStarts(pod *corev1.Pod, started supervisor.Run, fail context.CancelCauseFunc) *workerRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch reported := p.reported[pod.UID]; {
	case started.Bypass:
		p.wrongLocked("worker of Pod %s started in no epoch", pod.Name)
	case started.Epoch != reported:
		p.wrongLocked("worker of Pod %s started in epoch %d, and its agent reported epoch %d", pod.Name, started.Epoch, reported)
	}
	return p.begins(pod, started.Epoch, fail)
}

// Supervised are the Pods whose supervisors run, by name.
func (p *Players) Supervised() []*corev1.Pod {
	p.mu.Lock()
	defer p.mu.Unlock()
	pods := make([]*corev1.Pod, 0, len(p.containers))
	for _, c := range p.containers {
		pods = append(pods, c.pod)
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return pods
}

// KillContainer kills the supervisor of a Pod with its worker, as the kernel does when memory runs out.
func (p *Players) KillContainer(pod *corev1.Pod) bool {
	return p.do(pod, (*supervised.Container).Kill)
}

// BreakConnection ends the connection between supervisor and agent of a Pod.
func (p *Players) BreakConnection(pod *corev1.Pod) bool {
	return p.do(pod, (*supervised.Container).Break)
}

func (p *Players) do(pod *corev1.Pod, what func(*supervised.Container)) bool {
	p.mu.Lock()
	c := p.containers[pod.UID]
	p.mu.Unlock()
	if c != nil {
		what(c.Container)
	}
	return c != nil
}
