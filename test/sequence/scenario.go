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
	// containers is how many worker containers the Pods of each ReplicatedJob have, in process mode; 0 is container mode.
	containers [maxReplicatedJobs]int8
	// success is the success policy, rules are those of the failure policy.
	success success
	rules   []rule
	// leaders are the ReplicatedJobs, as bits, whose Jobs succeed with their index 0 (Job.spec.successPolicy).
	leaders int8
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
	// graces: a Pod may outlive its grace, and its grace, or a Job controller that is away, a deadline.
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
	// splitEnd: a worker that exits 0 and its Pod that is Succeeded are two steps.
	splitEnd bool
	// splitNode: what one container does and what the kubelet makes of it are two steps: a worker
	// starts after the lift, and all containers of a Pod restart after one of them ended.
	splitNode bool
	// clock: a deadline of the assembly may pass (P24), and force: one of a deletion (P25).
	clock, force bool
	// backoffs: the Job controller waits before it replaces a Failed Pod. older are the ReplicatedJobs, as bits, whose Jobs are of a
	// version that counts all failures of a Job together.
	backoffs bool
	older    int8
	// failsJobs: some Pods that fail may fail their Job.
	failsJobs bool
	// inFlight: a period may pass while reports are in flight, which the caches of Leases do not show. jumps: the clock may jump.
	inFlight, jumps bool
	// pauses: workers that fail again and again wait for the next lift (P71).
	pauses bool
	// hangsAnyTime: a Pod may also hang while the group runs.
	hangsAnyTime bool
	// claims: the JobSet has a PersistentVolumeClaim; shared: others use it too.
	claims, shared bool
	// executions: they are counted (gate ExecutionAttemptsTracking).
	executions bool
	// noUID: agents are not told the UID of their JobSet (JOBSET_UID).
	noUID bool
	// annotated is the epoch that the Pod template carries, expires: a Job that completed is
	// deleted later. Admission refuses both (P41).
	annotated int8
	expires   bool
	// ft is spec.faultTolerance, nil if there is none.
	ft *faultTolerance
	// saves: workers may save their state before a planned stop (P142).
	saves bool
	// warm: a standby waits at its gate while the worker of a container in process mode runs.
	warm bool
	// slowStops: a worker that is told to stop may take longer than a deadline of the assembly, as its grace allows.
	slowStops bool
	// earlierAgents obey the annotation, too, as those from before P34b do. unguarded: admission lets it go at any time.
	earlierAgents, unguarded bool
	// lateReports: before each Pod reported, an agent of it died whose report is still under way.
	lateReports bool
	// order is what a ReplicatedJob that comes after another waits for.
	order order
	// leases are the ReplicatedJobs, as bits, whose agents report in Leases (P151). refusals: any such report may be refused, and
	// goes to the Pod; versions: each new leader is of the version that knows Leases if its predecessor was not.
	leases             int8
	refusals, versions bool
	// fruitless is maxRestartsWithoutProgress, 0 if there is none, and steps the highest step that workers tell of each epoch from 1 on.
	fruitless int8
	steps     []int8
	// lost: workers on lost nodes are replaced by force, and nodes are cut off (P173); returns: those may come back; alone: there are no others.
	lost, returns, alone bool
	// elastic are the sizes that a planner may give to each ReplicatedJob.
	elastic [maxReplicatedJobs]bounds
}

type replicatedJob struct {
	name     string
	replicas int8
	workers  int8
	// after is the ReplicatedJob that has to complete first, or as the order says, -1 if none.
	after int8
}

// order is an order of start.
type order uint8

const (
	// complete is dependsOn: Complete.
	complete order = iota
	// ready is dependsOn: Ready, and inOrder the startup policy; both are for process mode (P126).
	ready
	inOrder
)

// failures is a set of kinds of failures.
type failures uint16

const (
	workerExit failures = 1 << iota
	exitZero
	agentCrash
	podDeleted
	podFailure
	everyFailure failures = 1<<iota - 1

	// hang is a Pod that never comes to run. Only a deadline ends that.
	hang failures = 1 << 5
	// containerDeath is a container that is killed with its supervisor, brokenLink a connection that ends:
	// they are for process mode.
	containerDeath failures = 1 << 6
	brokenLink     failures = 1 << 7
	// stuckProcess is one that SIGKILL does not end, lateContainer one that is away for too long.
	stuckProcess  failures = 1 << 8
	lateContainer failures = 1 << 9
	// nodeDeath is a node that dies with a Pod, which is deleted and never stops. jobDeletion is a Job that a
	// user deletes.
	nodeDeath   failures = 1 << 10
	jobDeletion failures = 1 << 11

	// sandboxGone is a Pod in process mode whose node restarts, or whose sandbox is killed otherwise.
	sandboxGone failures = 1 << 12
	// earlyEnd is a standby that ends before its gate was opened.
	earlyEnd failures = 1 << 13
	// leaseDeletion is somebody who deletes the Lease of a Pod.
	leaseDeletion failures = 1 << 14

	everyProcessFailure = everyFailure | containerDeath | brokenLink
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
	pokeClaim
)

// none is the maxRestarts of a scenario that allows no restart.
const none = -1

// defaults are what a scenario is if it says nothing else.
func (sc *scenario) defaults() {
	if sc.kinds == 0 {
		sc.kinds = everyFailure
		if sc.containers[0] > 0 {
			sc.kinds = everyProcessFailure
		}
	}
	sc.hasResizes = sc.hasResizes || sc.isElastic()
	switch sc.maxRestarts {
	case 0:
		sc.maxRestarts = 20
	case none:
		sc.maxRestarts = 0
	}
}

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
	// repeatsInLease: agents repeat their reports in the Lease only (against P154).
	repeatsInLease
	// lateByCache: that a Pod has not reported is "confirmed" by the cache that says so, and earlyLook: after it is deleted for that, no
	// pass waits for the cache to show it (both against P24c).
	lateByCache
	earlyLook
)

var twists = map[string]twist{
	"": noTwist, "stale-first-read": staleFirstRead, "narrow-rule": narrowRule,
	"pods-by-name": podsByName, "stale-confirm": staleConfirm, "repeats-in-lease": repeatsInLease,
	"late-by-cache": lateByCache, "early-look": earlyLook,
}

// bounds says in words what a scenario leaves in.
func (sc *scenario) bounds() string {
	var parts []string
	for i, rjob := range sc.rjobs {
		text := fmt.Sprintf("%s: %d Jobs of %d workers", rjob.name, rjob.replicas, rjob.workers)
		if rjob.after >= 0 {
			text += " after " + sc.rjobs[rjob.after].name
		}
		if n := sc.containers[i]; n > 0 {
			text += fmt.Sprintf(" of %d supervised containers", n)
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
		{sc.left.suspends, "suspends"}, {sc.left.resizes, "resizes"}, {sc.left.marks, "marks of nodes"}, {sc.left.jobFailures, "Job failures"}, {sc.left.cuts, "nodes cut off"},
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
		{sc.graces, "Pods past their grace"}, {sc.running, "from a group that runs"}, {sc.slowStops, "workers that stop slowly"}, {sc.warm, "warm start"}, {sc.saves, "planned stops"}, {sc.lateReports, "late reports of agents that died"}, {sc.pauses, "pauses after quick failures"}, {sc.ft != nil, "fault tolerance"}, {sc.avoids(), "nodes that are avoided"},
		{sc.leases != 0, "reports in Leases"}, {sc.refusals, "some of them refused"}, {sc.versions, "managers of both versions"},
		{sc.inFlight, "periods that pass with reports in flight"}, {sc.jumps, "a clock that jumps"},
		{sc.fruitless > 0, fmt.Sprintf("%d restarts that lead nowhere, by steps %v", sc.fruitless, sc.steps)},
		{sc.returns, "which come back"}, {sc.alone, "and are the only ones"}, {sc.backoffs, "back-offs"}, {sc.older != 0, "Jobs of an older version"},
		{sc.order == ready, "dependsOn: Ready"}, {sc.order == inOrder, "in order"}, {sc.earlierAgents, "agents of before"},
	} {
		if b.is {
			parts = append(parts, b.what)
		}
	}
	return strings.Join(parts, "; ")
}

func (f failures) String() string {
	if f == everyFailure || f == everyProcessFailure {
		return "every kind"
	}
	var kinds []string
	for i, kind := range []string{"worker exit", "exit 0", "agent crash", "Pod deleted", "Pod failed", "Pod hangs", "container killed", "connection broken", "process stuck", "container away", "node dies", "Job deleted", "sandbox gone", "standby ends early", "Lease deleted"} {
		if f&(1<<i) != 0 {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, ", ")
}

// start is the world after the JobSet was created and before anybody looked at it.
func (sc *scenario) start() *world {
	sc.failsJobs = sc.failsJobs || sc.left.jobFailures > 0
	w := &world{sc: sc, gate: true}
	js := jobSet{uid: w.newUID(), exists: true}
	for i, rjob := range sc.rjobs {
		js.size[i] = rjob.workers
	}
	w.jobSet, w.jobs = newHistory(js), newHistory[[]job](nil)
	w.views = []agent.JobSet{sc.viewOf(&js)}
	if sc.running {
		w = w.settle(newDecider(sc), 1000, nil)
	}
	if sc.lateReports {
		for i := range w.pods {
			w.pods[i].late = w.pods[i].epoch
		}
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
		if s.trouble() || s.kind == periodPasses && w.sc.inFlight || s.kind == podGraceEnds || s.kind == minutePasses || s.kind == jobAges || s.kind == troubleLasts || s.kind == dayPasses {
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
