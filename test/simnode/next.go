/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// verdict names what a sync does with the Pod.
type verdict string

const (
	// keepGoing: start and kill single containers, perhaps none.
	keepGoing verdict = "KeepGoing"
	// createSandbox: give the Pod an address and a directory.
	createSandbox verdict = "CreateSandbox"
	// resetAll: RestartAllContainers, step 2 in the picture of the package comment.
	resetAll verdict = "ResetAll"
	// stopAll: nothing is left to do for the regular containers; stop the rest, then look again.
	stopAll verdict = "StopAll"
	// finish: the phase is terminal; stop the rest and report it.
	finish verdict = "Finish"
	// remove: the Pod is being deleted.
	remove verdict = "Remove"
)

// plan is the whole outcome of one decision. Containers are named by their index in podView.Containers.
type plan struct {
	Verdict verdict
	// Kill lists containers that failed a probe. It happens before Start.
	Kill []int
	// Start lists containers to start, in this order.
	Start []int
	// Hold lists containers that must wait, mostly in crash-loop backoff, and when each may start.
	Hold map[int]time.Time
	// Reset is the order in which resetAll kills and removes.
	Reset []int
}

// next decides what to do about a Pod whose status was just computed from the same view. It mirrors the order of a
// kubelet's sync: deletion, terminal phase, RestartAllContainers, sandbox, init containers, regular containers. That
// the phase comes before RestartAllContainers is what lets a Pod end although its sidecar answers TERM with a code that
// would otherwise restart everything.
func next(v *podView, status *corev1.PodStatus) plan {
	switch {
	case v.Pod.DeletionTimestamp != nil:
		return plan{Verdict: remove}
	case terminal(status.Phase):
		return plan{Verdict: finish}
	}
	if c := findCondition(status.Conditions, corev1.AllContainersRestarting); c != nil && c.Status == corev1.ConditionTrue {
		return plan{Verdict: resetAll, Reset: resetOrder(v)}
	}
	if v.PodIP == "" {
		return plan{Verdict: createSandbox}
	}
	p := plan{Verdict: keepGoing}
	initialized, failed := p.planInit(v)
	if failed {
		return plan{Verdict: stopAll}
	}
	if initialized && !p.planRegular(v) {
		return plan{Verdict: stopAll}
	}
	p.applyBackoff(v)
	return p
}

// resetOrder: containers that did not ask for the restart first, regular ones before init ones, so that the one that
// did is removed last and a node that stops half-way still knows why it began.
func resetOrder(v *podView) []int {
	var order []int
	for _, sources := range []bool{false, true} {
		for _, regular := range []bool{true, false} {
			for i := range v.Containers {
				c := &v.Containers[i]
				if c.State != absent && (c.Kind == kindRegular) == regular && c.asksForRestartAll() == sources {
					order = append(order, i)
				}
			}
		}
	}
	return order
}

// planInit walks the init containers backwards from the last one that exists, because earlier ones are known to be
// done when a later one exists. It reports whether regular containers may run, and whether the Pod failed.
func (p *plan) planInit(v *podView) (initialized, failed bool) {
	list := v.initContainers()
	if len(list) == 0 {
		return true, false
	}
	for _, c := range v.regularContainers() {
		initialized = initialized || c.State == running
	}
	passed := initialized // container i was done with at some time
	var start []int
	for i := len(list) - 1; i >= 0; i-- {
		c := &list[i]
		if c.State == absent {
			if passed && c.Kind == kindSidecar {
				start = append(start, i)
			}
			continue
		}
		if passed && c.Kind == kindInit {
			continue
		}
		done, again := p.planOneInit(i, c)
		if c.Kind == kindInit && again && !c.restartable(v) {
			return false, true
		}
		switch {
		case again:
			start = append(start, i)
		case done && i == len(list)-1:
			initialized = true
		case done && !passed:
			start = append(start, i+1)
		}
		passed = true
	}
	if !passed {
		start = append(start, 0)
	}
	slices.Reverse(start)
	p.Start = append(p.Start, start...)
	return initialized, false
}

// planOneInit reports whether the next container may start, or whether this one has to run again.
func (p *plan) planOneInit(i int, c *containerView) (done, again bool) {
	switch {
	case c.State == exited:
		return c.Kind == kindInit && c.ExitCode == 0, c.Kind == kindSidecar || c.ExitCode != 0
	case c.Kind == kindInit:
		return false, false
	case c.Startup == probeFailed:
		p.Kill = append(p.Kill, i)
		return false, true
	}
	return c.started(), false
}

// planRegular reports whether there is any regular container to keep or to start.
func (p *plan) planRegular(v *podView) (alive bool) {
	offset := len(v.Pod.Spec.InitContainers)
	for i := range v.regularContainers() {
		c := &v.regularContainers()[i]
		switch {
		case c.State == absent, c.State == exited && c.restartable(v):
			p.Start = append(p.Start, offset+i)
			alive = true
		case c.State == running && c.Startup == probeFailed:
			p.Kill = append(p.Kill, offset+i)
			if restartsAfterProbe(c.Spec, v.Pod.Spec.RestartPolicy) {
				p.Start = append(p.Start, offset+i)
				alive = true
			}
		case c.State == running:
			alive = true
		}
	}
	return alive
}

// restartsAfterProbe: rules are not asked, there is no exit code yet.
func restartsAfterProbe(c *corev1.Container, podPolicy corev1.RestartPolicy) bool {
	if c.RestartPolicy != nil {
		return *c.RestartPolicy != corev1.ContainerRestartPolicyNever
	}
	return podPolicy != corev1.RestartPolicyNever
}

// applyBackoff moves containers that crashed or failed to start too recently from Start to Hold.
func (p *plan) applyBackoff(v *podView) {
	var start []int
	for _, i := range p.Start {
		c := &v.Containers[i]
		until, held := c.RetryAt, v.Now.Before(c.RetryAt)
		if c.State == exited && !held {
			until, held = c.Backoff.heldUntil(v.Timings, c.FinishedAt, v.Now)
		}
		if !held {
			start = append(start, i)
			continue
		}
		if p.Hold == nil {
			p.Hold = map[int]time.Time{}
		}
		p.Hold[i] = until
	}
	p.Start = start
}
