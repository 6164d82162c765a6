/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"fmt"
	"strings"

	"sigs.k8s.io/jobset/agent"
)

// scenario is a JobSet and what may happen to it.
type scenario struct {
	name string
	// rjobs are the ReplicatedJobs of the spec.
	rjobs []replicatedJob
	// maxRestarts is the budget of the failure policy.
	maxRestarts int8
	// kinds are the failures that may happen.
	kinds failures
	left  budgets
	// pokes are what else users and accidents may do.
	pokes pokes
	// lag is how many events a cache may be behind, lagInAll all caches together (0: no bound).
	lag, lagInAll int
	// running: the group runs at epoch 1 before anything goes wrong.
	running bool
	// graces: a Pod may outlive its grace.
	graces bool
	// staleJobSet: a pass may change Jobs though the JobSet it was decided on is out of date.
	// TestFindings shows why it must not: it reads D == S where the group runs.
	staleJobSet bool
	// wipeAtOne: the status may also be lost while the group runs in epoch 1.
	wipeAtOne bool
	// oldCaches: a new leader's caches may be older than its predecessor's were.
	oldCaches bool
	// lingering: the writes of a former leader may still be under way when there is a new one.
	lingering bool
	// hasResizes: the indexes of a Job are not alike.
	hasResizes bool
	// twist is a fault put into the model on purpose.
	twist twist
	// splitReport: the answer to a report is a step of its own.
	splitReport bool
}

type replicatedJob struct {
	name     string
	replicas int8
	workers  int8
	// after is the ReplicatedJob that has to complete first, -1 if none.
	after int8
}

// failures is a set of kinds of failures.
type failures uint8

const (
	workerExit failures = 1 << iota
	exitZero
	agentCrash
	podDeleted
	podFailure
	everyFailure = 1<<iota - 1
)

// pokes is a set of what is rare: its bits are in the order of the steps.
type pokes uint8

const (
	pokeDisable pokes = 1 << iota
	pokeGate
	pokeWipe
	pokeRecreate
	pokeForge
	pokeDouble
)

// twist is a fault of the world around the decisions, where these cannot be mutated: the
// checker has to find it.
type twist uint8

const (
	noTwist twist = iota
	// staleFirstRead: agents read the JobSet at first from a cache that lags (against P30).
	staleFirstRead
	// narrowRule: the agent's restart rule covers exit code 88 only, so that the kubelet
	// restarts a crashed agent beside the old worker (against the Pod shape).
	narrowRule
	// podsByName: the controller takes Pods for those of a Job by its name, not its UID (against P10).
	podsByName
	// staleConfirm: a loss is "confirmed" by the cache that showed it (against P14).
	staleConfirm
)

var twists = map[string]twist{
	"": noTwist, "stale-first-read": staleFirstRead, "narrow-rule": narrowRule,
	"pods-by-name": podsByName, "stale-confirm": staleConfirm,
}

// bounds says in words what a scenario leaves in.
func (sc *scenario) bounds() string {
	var parts []string
	for _, rjob := range sc.rjobs {
		text := fmt.Sprintf("%s: %d Jobs of %d workers", rjob.name, rjob.replicas, rjob.workers)
		if rjob.after >= 0 {
			text += " after " + sc.rjobs[rjob.after].name
		}
		parts = append(parts, text)
	}
	parts = append(parts, fmt.Sprintf("caches <= %d events behind each", sc.lag))
	if sc.lagInAll > 0 {
		parts = append(parts, fmt.Sprintf("<= %d in all", sc.lagInAll))
	}
	for _, b := range []struct {
		n    int8
		what string
	}{
		{sc.left.failures, "failures of " + sc.kinds.String()}, {sc.left.leaders, "crashes or new leaders"},
		{sc.left.suspends, "suspends"}, {sc.left.resizes, "resizes"}, {sc.left.jobFailures, "Job failures"},
	} {
		if b.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", b.n, b.what))
		}
	}
	for _, b := range []struct {
		is   bool
		what string
	}{
		{sc.oldCaches, "old caches of a new leader"}, {sc.lingering, "late writes of a former leader"},
		{sc.graces, "Pods past their grace"}, {sc.running, "from a group that runs"},
	} {
		if b.is {
			parts = append(parts, b.what)
		}
	}
	return strings.Join(parts, "; ")
}

func (f failures) String() string {
	if f == everyFailure {
		return "every kind"
	}
	var kinds []string
	for i, kind := range []string{"worker exit", "exit 0", "agent crash", "Pod deleted", "Pod failed"} {
		if f&(1<<i) != 0 {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, ", ")
}

// start is the world after the JobSet was created and before anybody looked at it.
func (sc *scenario) start() *world {
	w := &world{sc: sc, gate: true}
	js := jobSet{uid: w.newUID(), exists: true}
	for i, rjob := range sc.rjobs {
		js.size[i] = rjob.workers
	}
	w.jobSet, w.jobs = newHistory(js), newHistory[[]job](nil)
	w.views = []agent.JobSet{viewOf(&js)}
	if sc.running {
		w = w.settle(newDecider(sc), 1000, nil)
	}
	w.left = sc.left
	return w
}

// settle lets everybody act in turn until nothing more happens, without trouble. The
// observer, if there is one, is told of each step.
func (w *world) settle(d *decider, atMost int, observe func(was, is *world, s step)) *world {
	for range atMost {
		next := w.calmStep(d, observe)
		if next == nil {
			return w
		}
		w = next
	}
	return w
}

// calmStep takes the first step that changes anything: caches first, then the controller,
// the Pods and the Jobs.
func (w *world) calmStep(d *decider, observe func(was, is *world, s step)) *world {
	for _, s := range w.enabled(nil) {
		if s.trouble() || s.kind == podGraceEnds {
			continue
		}
		next, err := w.after(s, d)
		if err != nil || next == nil {
			continue
		}
		if observe != nil {
			observe(w, next, s)
		}
		return next
	}
	return nil
}
