/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"slices"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// level is how long a check may take.
type level int

const (
	quick   level = iota // seconds, with every `go test ./...`
	bounded              // minutes
	full                 // as long as it takes
)

var levels = map[string]level{"quick": quick, "bounded": bounded, "full": full}

// searched is a scenario and the level at which it is searched first.
type searched struct {
	scenario
	from level
}

var driverAndWorker = []replicatedJob{{"driver", 1, 1, -1}, {"w", 1, 1, -1}}

// cases are all scenarios that are searched, those of one kind of trouble beside each other:
// the bounds within which the protocol was checked can be read here. Failures are of every
// kind where nothing else is said.
func cases() []searched {
	oneJob := func(workers int8) []replicatedJob { return []replicatedJob{{"w", 1, workers, -1}} }
	twoJobs := func(workers int8) []replicatedJob { return []replicatedJob{{"w", 2, workers, -1}} }
	joining := []replicatedJob{{"w", 1, 1, -1}, {"v", 1, 1, 0}}
	joiningTwo := []replicatedJob{{"w", 1, 1, -1}, {"e", 1, 1, -1}, {"v", 1, 1, 0}}
	list := []searched{
		{scenario{name: "first start, 2 workers, 1 failure", rjobs: oneJob(2), left: budgets{failures: 1}, lag: 2}, quick},
		{scenario{name: "first start, 2 workers, 2 failures, lag 1", rjobs: oneJob(2), left: budgets{failures: 2}, lag: 1}, bounded},
		{scenario{name: "first start, 2 workers, 2 failures", rjobs: oneJob(2), left: budgets{failures: 2}, lag: 2}, full},
		{scenario{name: "first start, 2 Jobs, 1 failure, crash", rjobs: twoJobs(1), left: budgets{failures: 1, leaders: 1}, lag: 2, lagInAll: 2}, bounded},
		{scenario{name: "first start, 3 workers, 1 failure", rjobs: oneJob(3), left: budgets{failures: 1}, lag: 2, lagInAll: 2}, bounded},
		{scenario{name: "first start, 3 Jobs, 1 failure", rjobs: []replicatedJob{{"w", 3, 1, -1}}, left: budgets{failures: 1}, lag: 2, lagInAll: 2}, full},

		{scenario{name: "2 workers, 2 failures", rjobs: oneJob(2), left: budgets{failures: 2}, lag: 2, lagInAll: 2, running: true, graces: true}, bounded},
		{scenario{name: "2 workers, 3 failures", rjobs: oneJob(2), left: budgets{failures: 3}, lag: 2, lagInAll: 2, running: true}, full},
		{scenario{name: "2 Jobs, 2 failures", rjobs: twoJobs(1), left: budgets{failures: 2}, lag: 2, lagInAll: 2, running: true, graces: true}, bounded},
		{scenario{name: "3 workers, 2 failures, lag 1", rjobs: oneJob(3), left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "3 workers, 2 failures", rjobs: oneJob(3), left: budgets{failures: 2}, lag: 2, lagInAll: 2, running: true}, bounded},
		{scenario{name: "3 workers in 2 Jobs, 2 failures", rjobs: []replicatedJob{{"w", 1, 2, -1}, {"v", 1, 1, -1}}, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, bounded},

		{scenario{name: "2 workers, 2 failures, new leader, old caches", rjobs: oneJob(2), left: budgets{failures: 2, leaders: 1}, lag: 2, lagInAll: 2, oldCaches: true, lingering: true, running: true}, bounded},
		{scenario{name: "2 workers, 1 failure, suspend, lag 1", rjobs: oneJob(2), left: budgets{failures: 1, suspends: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "2 workers, 1 failure, suspend", rjobs: oneJob(2), left: budgets{failures: 1, suspends: 1}, lag: 2, lagInAll: 2, running: true}, full},
		{scenario{name: "2 Jobs, suspend, crash, lag 1", rjobs: twoJobs(1), left: budgets{suspends: 1, leaders: 1}, lag: 1, lagInAll: 1, lingering: true, running: true}, full},
		{scenario{name: "2 Jobs, suspend, crash", rjobs: twoJobs(1), left: budgets{suspends: 1, leaders: 1}, lag: 2, lagInAll: 2, running: true}, bounded},
		{scenario{name: "2 Jobs, suspend, new leader, old caches, lag 1", rjobs: twoJobs(1), left: budgets{suspends: 1, leaders: 1}, lag: 1, lagInAll: 1, oldCaches: true, running: true}, full},
		{scenario{name: "2 Jobs, 1 failure, suspend, lag 1", rjobs: twoJobs(1), left: budgets{failures: 1, suspends: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "2 workers, 2 exits 0 by suspend", rjobs: oneJob(2), kinds: exitZero, left: budgets{failures: 2, suspends: 1}, lag: 2, lagInAll: 2, running: true}, bounded},
		// Late writes of a former leader are searched with failures, and with suspends, but not with both: those are more than 12 million states.
		{scenario{name: "2 workers, 1 failure, suspend, crash", rjobs: oneJob(2), left: budgets{failures: 1, suspends: 1, leaders: 1}, lag: 1, lagInAll: 1, running: true}, full},

		{scenario{name: "2 workers, 1 failure, resize", rjobs: oneJob(2), left: budgets{failures: 1, resizes: 1}, hasResizes: true, lag: 2, lagInAll: 2, running: true, graces: true}, bounded},
		{scenario{name: "2 workers, resize, crash", rjobs: oneJob(2), left: budgets{resizes: 1, leaders: 1}, hasResizes: true, lag: 2, lagInAll: 2, lingering: true, running: true}, bounded},
		{scenario{name: "2 workers, 1 failure, Job failure", rjobs: oneJob(2), left: budgets{failures: 1, jobFailures: 1}, lag: 2, lagInAll: 2, running: true}, quick},
		{scenario{name: "2 Jobs, 1 failure, Job failure", rjobs: twoJobs(1), left: budgets{failures: 1, jobFailures: 1}, lag: 2, lagInAll: 2, running: true}, bounded},
		{scenario{name: "2 Jobs, 1 worker exit, Job failure, lag 3", rjobs: twoJobs(1), kinds: workerExit, left: budgets{failures: 1, jobFailures: 1}, lag: 3, lagInAll: 4, running: true}, bounded},
		{scenario{name: "2 Jobs, Job failure, new leader, old caches", rjobs: twoJobs(1), left: budgets{jobFailures: 1, leaders: 1}, lag: 2, lagInAll: 2, oldCaches: true, lingering: true, running: true}, full},

		{scenario{name: "dependsOn Complete, 2 failures", rjobs: joining, left: budgets{failures: 2}, lag: 2, lagInAll: 2}, quick},
		{scenario{name: "dependsOn Complete beside one that ends, 2 exits", rjobs: joiningTwo, kinds: exitZero | workerExit, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, quick},
		{scenario{name: "dependsOn Complete, 3 failures", rjobs: joining, left: budgets{failures: 3}, lag: 2, lagInAll: 2}, full},
		{scenario{name: "driver succeeds, worker exits", rjobs: driverAndWorker, success: success{targets: 1}, kinds: exitZero | workerExit, left: budgets{failures: 2}, lag: 2, lagInAll: 2, running: true, splitEnd: true}, quick},
		{scenario{name: "driver succeeds, 3 exits, crash", rjobs: driverAndWorker, success: success{targets: 1}, kinds: exitZero | workerExit, left: budgets{failures: 3, leaders: 1}, lag: 2, lagInAll: 2, running: true, splitEnd: true}, full},
		{scenario{name: "driver succeeds, worker exits, no restart allowed", rjobs: driverAndWorker, success: success{targets: 1}, kinds: exitZero | workerExit, left: budgets{failures: 2, leaders: 1}, maxRestarts: none, lag: 2, lagInAll: 2, running: true, splitEnd: true}, bounded},
		{scenario{name: "driver succeeds, late reports, worker exits", rjobs: driverAndWorker, success: success{targets: 1}, kinds: exitZero | workerExit, left: budgets{failures: 3}, lag: 1, lagInAll: 1, running: true, splitEnd: true, lateReports: true}, bounded},
		{scenario{name: "any of 2 Jobs succeeds, 2 failures", rjobs: twoJobs(1), success: success{any: true}, left: budgets{failures: 2}, lag: 1, lagInAll: 2, running: true, splitEnd: true}, bounded},
		{scenario{name: "success of a Job by index 0, 2 exits", rjobs: oneJob(2), leaders: 1, kinds: exitZero | workerExit, left: budgets{failures: 2}, lag: 2, lagInAll: 2, running: true, splitEnd: true}, quick},
		{scenario{name: "success of a Job by index 0 beside another, 2 failures", rjobs: []replicatedJob{{"w", 1, 2, -1}, {"v", 1, 1, -1}}, leaders: 1, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true, splitEnd: true}, full},
		{scenario{name: "2 Jobs, rules, 2 Job failures", rjobs: driverAndWorker, rules: []rule{{jobset.FailJobSet, 1}, {jobset.RestartJobSetAndIgnoreMaxRestarts, 2}}, left: budgets{jobFailures: 2}, lag: 1, lagInAll: 2, running: true}, bounded},
		{scenario{name: "deadline, Pods that hang", rjobs: oneJob(2), kinds: hang | podDeleted | workerExit, left: budgets{failures: 3}, lag: 1, lagInAll: 1, running: true, clock: true}, bounded},
		{scenario{name: "deadline, first start, Pods that hang, crash", rjobs: twoJobs(1), kinds: hang | workerExit, left: budgets{failures: 2, leaders: 1}, lag: 1, lagInAll: 1, clock: true}, bounded},
		{scenario{name: "Pods that do not go are deleted by force", rjobs: oneJob(2), kinds: podDeleted | workerExit, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true, graces: true, force: true}, bounded},
		{scenario{name: "deadline, a long grace", rjobs: oneJob(2), kinds: workerExit | podDeleted, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true, graces: true, clock: true}, bounded},
		{scenario{name: "deadlines, a long grace on a lost node", rjobs: oneJob(2), kinds: podDeleted | workerExit, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true, graces: true, clock: true, force: true}, bounded},
		{scenario{name: "deadline, back-offs", rjobs: oneJob(2), kinds: podFailure | workerExit, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true, clock: true, backoffs: true}, bounded},
		{scenario{name: "2 Jobs, one of an older version, 1 failure, Job failure", rjobs: driverAndWorker, older: 1, left: budgets{failures: 1, jobFailures: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "a claim is deleted, crash", rjobs: twoJobs(1), kinds: workerExit, left: budgets{pokes: 1, leaders: 1, jobFailures: 1}, pokes: pokeClaim, lag: 1, lagInAll: 1, claims: true, clock: true}, bounded},
		{scenario{name: "deadline, a claim that others use is deleted, crash", rjobs: oneJob(1), left: budgets{pokes: 1, leaders: 1}, pokes: pokeClaim, lag: 1, lagInAll: 1, claims: true, shared: true, clock: true}, bounded},
		{scenario{name: "deadline, old Pods that go slowly", rjobs: oneJob(1), kinds: hang, left: budgets{failures: 2}, lag: 1, lagInAll: 1, graces: true, clock: true}, bounded},
		{scenario{name: "JobSet recreated, agents without JOBSET_UID", rjobs: oneJob(2), kinds: workerExit, left: budgets{pokes: 1, failures: 1}, pokes: pokeRecreate, lag: 1, lagInAll: 1, running: true, noUID: true}, bounded},
		{scenario{name: "2 workers, 2 failures, kubelet in two steps", rjobs: oneJob(2), left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true, splitEnd: true, splitNode: true}, bounded},
		{scenario{name: "2 workers, 2 failures, kubelet in two steps, lag 2", rjobs: oneJob(2), left: budgets{failures: 2, leaders: 1}, lag: 2, lagInAll: 2, running: true, splitEnd: true, splitNode: true}, full},
		{scenario{name: "a Pod beyond the size runs", rjobs: oneJob(2), left: budgets{resizes: 1}, hasResizes: true, lag: 1, running: true}, quick},
		{scenario{name: "2 workers, 2 failures, 1 restart allowed", rjobs: oneJob(2), left: budgets{failures: 2}, maxRestarts: 1, lag: 2, lagInAll: 2, running: true}, bounded},
		{scenario{name: "pauses, 2 failures, crash", rjobs: oneJob(2), kinds: workerExit | agentCrash, left: budgets{failures: 2, leaders: 1}, lag: 1, lagInAll: 1, running: true, pauses: true}, bounded},
		{scenario{name: "pauses, 3 failures", rjobs: oneJob(1), left: budgets{failures: 3}, lag: 1, lagInAll: 1, running: true, pauses: true}, bounded},
		{scenario{name: "pauses, a Job failure, failure", rjobs: driverAndWorker, kinds: workerExit, left: budgets{failures: 1, jobFailures: 1}, lag: 1, lagInAll: 1, running: true, pauses: true}, bounded},
		{scenario{name: "pauses, 2 failures, suspend, deadline", rjobs: oneJob(1), kinds: workerExit | hang, left: budgets{failures: 2, suspends: 1}, lag: 1, lagInAll: 1, running: true, pauses: true, clock: true}, bounded},
	}
	list = append(list, processCases()...)
	list = append(list, leaseCases()...)
	list = append(list, inFlightCases()...)
	list = append(list, jumpCases()...)
	list = append(list, lostCases()...)
	list = append(list, executionCases()...)
	list = append(list, stepCases()...)
	list = append(list, bypassCases()...)
	list = append(list, toleranceCases()...)
	list = append(list, elasticCases()...)
	for i := range list {
		list[i].defaults()
	}
	return list
}

// processCases are those of groups in process mode, or with some Pods in it.
func processCases() []searched {
	group := func(workers int8) []replicatedJob { return []replicatedJob{{"w", 1, workers, -1}} }
	one, two := [maxReplicatedJobs]int8{1}, [maxReplicatedJobs]int8{2}
	launcher, each := []replicatedJob{{"w", 1, 1, -1}, {"launcher", 1, 1, 0}}, [maxReplicatedJobs]int8{1, 1}
	return []searched{
		{scenario{name: "process mode, first start, 1 failure", rjobs: group(2), containers: one, left: budgets{failures: 1}, lag: 1, lagInAll: 1}, bounded},
		{scenario{name: "process mode, 1 failure", rjobs: group(2), containers: one, left: budgets{failures: 1}, lag: 1, lagInAll: 1, running: true}, quick},
		{scenario{name: "process mode, 2 failures", rjobs: group(2), containers: one, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "process mode, 3 failures", rjobs: group(2), containers: one, left: budgets{failures: 3}, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "process mode, 1 Pod of 2 containers, 3 failures", rjobs: group(1), containers: two, left: budgets{failures: 3}, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "process mode, 1 Pod of 2 containers, 2 failures", rjobs: group(1), containers: two, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "process mode, 2 Pods of 2 containers, 1 failure", rjobs: group(2), containers: two, left: budgets{failures: 1}, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "process mode beside container mode, 1 failure", rjobs: []replicatedJob{{"w", 1, 1, -1}, {"v", 1, 1, -1}}, containers: one, kinds: everyProcessFailure, left: budgets{failures: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "process mode beside container mode, 2 failures", rjobs: []replicatedJob{{"w", 1, 1, -1}, {"v", 1, 1, -1}}, containers: one, kinds: everyProcessFailure, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "process mode, a process that stays, a container that is away", rjobs: group(1), containers: two, kinds: stuckProcess | lateContainer | containerDeath | workerExit, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "process mode, 1 failure, suspend", rjobs: group(2), containers: one, kinds: workerExit | exitZero | agentCrash, left: budgets{failures: 1, suspends: 1}, lag: 1, lagInAll: 1, running: true, splitNode: true}, full},
		{scenario{name: "process mode, worker exits, crash", rjobs: group(2), containers: one, kinds: workerExit, left: budgets{failures: 1, leaders: 1}, lag: 1, lagInAll: 1, lingering: true, oldCaches: true, running: true}, bounded},
		{scenario{name: "process mode, a Pod is deleted while it is held", rjobs: group(2), containers: one, kinds: workerExit | podDeleted, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true, splitNode: true}, bounded},
		{scenario{name: "process mode, a sandbox is gone", rjobs: group(2), containers: one, kinds: sandboxGone | workerExit | agentCrash, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "process mode, a sandbox is gone, first start, crash", rjobs: group(2), containers: one, kinds: sandboxGone, left: budgets{failures: 1, leaders: 1}, lag: 1, lagInAll: 1}, bounded},
		{scenario{name: "process mode, a short deadline, a long grace", rjobs: group(2), containers: one, kinds: workerExit | podDeleted, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true, clock: true, slowStops: true}, bounded},
		{scenario{name: "process mode, pauses, 2 failures, crash", rjobs: group(1), containers: one, kinds: workerExit | agentCrash, left: budgets{failures: 2, leaders: 1}, lag: 1, lagInAll: 1, running: true, pauses: true}, bounded},
		{scenario{name: "process mode, warm start, 1 failure", rjobs: group(2), containers: one, kinds: everyProcessFailure | earlyEnd, left: budgets{failures: 1}, lag: 1, lagInAll: 1, running: true, warm: true}, bounded},
		{scenario{name: "process mode, warm start, 1 Pod, 3 failures", rjobs: group(1), containers: one, kinds: workerExit | exitZero | containerDeath | brokenLink | earlyEnd, left: budgets{failures: 3}, lag: 1, lagInAll: 1, running: true, warm: true}, bounded},
		{scenario{name: "process mode, warm start, 2 failures", rjobs: group(2), containers: one, kinds: everyProcessFailure | earlyEnd, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true, warm: true}, full},
		{scenario{name: "process mode, warm start, a Pod is deleted, 2 failures", rjobs: group(1), containers: one, kinds: workerExit | podDeleted | stuckProcess, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true, splitNode: true, warm: true}, bounded},
		{scenario{name: "process mode, warm start, worker exits, suspend", rjobs: group(2), containers: one, kinds: workerExit, left: budgets{failures: 1, suspends: 1}, lag: 1, lagInAll: 1, running: true, warm: true}, full},
		{scenario{name: "process mode, planned stops, 1 resize, 1 failure", rjobs: group(2), containers: one, kinds: workerExit | agentCrash | brokenLink, left: budgets{failures: 1, resizes: 1}, hasResizes: true, lag: 1, lagInAll: 1, running: true, saves: true}, bounded},
		{scenario{name: "process mode, planned stops, 1 resize, 1 worker exit, crash", rjobs: group(1), containers: one, kinds: workerExit, left: budgets{failures: 1, resizes: 1, leaders: 1}, hasResizes: true, lag: 1, lagInAll: 1, lingering: true, oldCaches: true, running: true, saves: true}, bounded},
		{scenario{name: "process mode, planned stops, 1 resize, suspend", rjobs: group(1), containers: one, left: budgets{suspends: 1, resizes: 1}, hasResizes: true, lag: 1, lagInAll: 1, running: true, saves: true}, bounded},
		{scenario{name: "process mode, planned stops, a mark, 1 failure", rjobs: group(2), containers: one, ft: &faultTolerance{}, kinds: workerExit, left: budgets{failures: 1, marks: 1}, lag: 1, lagInAll: 1, running: true, saves: true}, bounded},
		{scenario{name: "process mode, a launcher after its workers, first start, 1 failure", rjobs: launcher, order: ready, containers: each, left: budgets{failures: 1}, lag: 1, lagInAll: 1}, bounded},
		{scenario{name: "process mode, a launcher after its workers, first start, exits, crash", rjobs: launcher, order: ready, containers: each, kinds: workerExit | exitZero, left: budgets{failures: 1, leaders: 1}, lag: 1, lagInAll: 1, lingering: true, oldCaches: true}, bounded},
		{scenario{name: "process mode, a launcher after its workers, suspend", rjobs: launcher, order: ready, containers: each, left: budgets{suspends: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "process mode, a launcher after its workers, worker exits, suspend", rjobs: launcher, order: ready, containers: each, kinds: workerExit, left: budgets{failures: 1, suspends: 1}, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "process mode, a launcher after its workers, a Job is deleted", rjobs: launcher, order: ready, containers: each, kinds: workerExit | jobDeletion, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "process mode, in order, first start, 1 failure", rjobs: launcher, order: inOrder, containers: each, left: budgets{failures: 1}, lag: 1, lagInAll: 1}, bounded},
		{scenario{name: "process mode, in order, suspend", rjobs: launcher, order: inOrder, containers: each, left: budgets{suspends: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "process mode, in order, worker exits, suspend", rjobs: launcher, order: inOrder, containers: each, kinds: workerExit, left: budgets{failures: 1, suspends: 1}, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "process mode, in order, 2 failures", rjobs: launcher, order: inOrder, containers: each, kinds: workerExit | podDeleted, left: budgets{failures: 2}, lag: 1, lagInAll: 1}, full},
		{scenario{name: "process mode, 2 Jobs of workers before a launcher, 1 failure", rjobs: []replicatedJob{{"w", 2, 1, -1}, {"launcher", 1, 1, 0}}, order: ready, containers: each, kinds: workerExit | podDeleted, left: budgets{failures: 1}, lag: 1, lagInAll: 1}, full},
	}
}

// casesUpTo are the scenarios of a level.
func casesUpTo(l level) []searched {
	return slices.DeleteFunc(cases(), func(c searched) bool { return c.from > l })
}
