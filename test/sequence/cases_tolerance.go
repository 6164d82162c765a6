/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

// toleranceCases are those of JobSets with spec.faultTolerance.
func toleranceCases() []searched {
	group := func(workers int8) []replicatedJob { return []replicatedJob{{"w", 1, workers, -1}} }
	two := []replicatedJob{{"w", 2, 1, -1}}
	inPlace, recreate := &faultTolerance{}, &faultTolerance{recreate: true}
	return []searched{
		{scenario{name: "tolerance, Recreate, 1 Job failure, new leader, old caches", rjobs: two, ft: &faultTolerance{recreate: true, retryLimit: true}, left: budgets{jobFailures: 1, leaders: 1}, maxRestarts: 1, lag: 1, lagInAll: 1, oldCaches: true, running: true}, full},
		{scenario{name: "tolerance, Recreate, first start, a Job failure, new leader, old caches", rjobs: group(1), ft: recreate, left: budgets{jobFailures: 1, leaders: 1}, maxRestarts: 1, lag: 4, lagInAll: 4, oldCaches: true}, full},
		{scenario{name: "tolerance, Recreate, 2 failures, 1 restart allowed", rjobs: group(1), ft: recreate, kinds: podFailure | podDeleted | hang, left: budgets{failures: 2}, maxRestarts: 1, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "tolerance, Recreate, 2 Job failures, 1 retry allowed", rjobs: two, ft: &faultTolerance{recreate: true, retryLimit: true}, left: budgets{jobFailures: 2}, maxRestarts: 1, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "tolerance, Recreate, 1 Job, 2 failures, 1 retry allowed", rjobs: group(1), ft: &faultTolerance{recreate: true, retryLimit: true}, left: budgets{jobFailures: 2}, maxRestarts: 1, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "tolerance, Recreate, suspend", rjobs: group(1), ft: recreate, left: budgets{suspends: 1}, maxRestarts: none, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "tolerance, Recreate, 1 failure, suspend, caches that do not lag", rjobs: group(1), ft: recreate, kinds: podFailure | hang | nodeDeath, left: budgets{failures: 1, suspends: 1}, maxRestarts: 1, running: true, graces: true}, bounded},
		{scenario{name: "tolerance, Recreate, 1 failure, suspend", rjobs: group(1), ft: recreate, kinds: podFailure | hang | nodeDeath, left: budgets{failures: 1, suspends: 1}, maxRestarts: 1, lag: 1, lagInAll: 1, running: true, graces: true}, full},
		{scenario{name: "tolerance, Recreate, a Job failure, suspend, caches that do not lag", rjobs: group(1), ft: recreate, left: budgets{jobFailures: 1, suspends: 1}, maxRestarts: 1, running: true}, bounded},
		{scenario{name: "tolerance, Recreate, a Job failure, suspend, new leader", rjobs: group(1), ft: recreate, left: budgets{jobFailures: 1, suspends: 1, leaders: 1}, maxRestarts: 1, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "tolerance, Recreate, a mark, 1 failure", rjobs: group(2), ft: recreate, kinds: podFailure, left: budgets{failures: 1, marks: 1}, maxRestarts: 1, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "tolerance, Recreate, a mark, suspend, caches that do not lag", rjobs: group(1), ft: recreate, left: budgets{marks: 1, suspends: 1}, maxRestarts: 1, running: true}, bounded},
		{scenario{name: "tolerance, Recreate, a mark, suspend", rjobs: group(1), ft: recreate, left: budgets{marks: 1, suspends: 1}, maxRestarts: 1, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "tolerance, a mark, 1 failure", rjobs: group(2), ft: inPlace, kinds: workerExit | podDeleted, left: budgets{failures: 1, marks: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "tolerance, 2 marks, no restart allowed, new leader", rjobs: group(2), ft: inPlace, left: budgets{marks: 2, leaders: 1}, maxRestarts: none, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "tolerance, a mark, a Job without affinity, new leader", rjobs: group(2), ft: &faultTolerance{bare: true}, left: budgets{marks: 1, leaders: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "tolerance, a mark, suspend, caches that do not lag", rjobs: group(1), ft: inPlace, left: budgets{marks: 1, suspends: 1}, running: true}, bounded},
		{scenario{name: "tolerance, a mark, suspend", rjobs: group(1), ft: inPlace, left: budgets{marks: 1, suspends: 1}, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "tolerance, a Job failure, suspend, new leader, caches that do not lag", rjobs: group(1), ft: inPlace, left: budgets{jobFailures: 1, suspends: 1, leaders: 1}, running: true}, bounded},
		{scenario{name: "tolerance, a Job failure, suspend, new leader", rjobs: group(1), ft: inPlace, left: budgets{jobFailures: 1, suspends: 1, leaders: 1}, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "tolerance, a node dies, a Pod that hangs, deadline", rjobs: group(2), ft: inPlace, kinds: nodeDeath | hang, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true, graces: true, clock: true}, bounded},
		{scenario{name: "tolerance, a Job is deleted, a failure", rjobs: two, ft: inPlace, kinds: jobDeletion | workerExit, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "tolerance, Recreate, a Job is deleted, suspend, caches that do not lag", rjobs: group(1), ft: recreate, kinds: jobDeletion, left: budgets{failures: 1, suspends: 1}, maxRestarts: 1, running: true}, bounded},
		{scenario{name: "avoid nodes, 2 nodes, 1 failure, new leader", rjobs: group(2), ft: &faultTolerance{avoid: 1, nodes: 2}, kinds: podFailure | podDeleted, left: budgets{failures: 1, leaders: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "avoid nodes, 1 node, 2 failures", rjobs: group(1), ft: &faultTolerance{avoid: 1, nodes: 1}, kinds: podFailure, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "avoid nodes, Recreate, 2 nodes, 3 failures", rjobs: group(1), ft: &faultTolerance{recreate: true, avoid: 2, nodes: 2}, left: budgets{jobFailures: 3}, maxRestarts: 3, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "avoid nodes, Recreate, 1 node, 1 failure", rjobs: group(1), ft: &faultTolerance{recreate: true, avoid: 1, nodes: 1}, left: budgets{jobFailures: 1}, maxRestarts: 2, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "tolerance, Recreate, a Job is deleted, suspend", rjobs: group(1), ft: recreate, kinds: jobDeletion, left: budgets{failures: 1, suspends: 1}, maxRestarts: 1, lag: 1, lagInAll: 1, running: true}, full},
	}
}

// elasticCases are those of groups whose sizes a planner changes. A resize that takes away a worker which exited 0 changes a
// Job and its Pods at once, which two caches see: the scenarios of resizes in cases.go have it.
func elasticCases() []searched {
	group := func(workers int8) []replicatedJob { return []replicatedJob{{"w", 1, workers, -1}} }
	two := []replicatedJob{{"w", 1, 1, -1}, {"v", 1, 1, -1}}
	oneToThree, oneToTwo := [maxReplicatedJobs]bounds{{1, 3}}, [maxReplicatedJobs]bounds{{1, 2}, {1, 2}}
	return []searched{
		{scenario{name: "elastic, 2 plans", rjobs: group(1), elastic: oneToThree, left: budgets{resizes: 2}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "elastic, 1 plan, 1 failure", rjobs: group(2), elastic: oneToThree, kinds: everyFailure &^ exitZero, left: budgets{failures: 1, resizes: 1}, lag: 1, lagInAll: 1, running: true, graces: true}, bounded},
		{scenario{name: "elastic, 1 plan, Pods that hang, deadline", rjobs: group(1), elastic: oneToThree, kinds: hang, left: budgets{failures: 2, resizes: 1}, lag: 1, lagInAll: 1, running: true, clock: true}, bounded},
		{scenario{name: "elastic, 2 plans, 1 worker exit", rjobs: group(2), elastic: oneToThree, kinds: workerExit, left: budgets{failures: 1, resizes: 2}, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "elastic, 2 groups, 1 plan, 1 worker exit", rjobs: two, elastic: oneToTwo, kinds: workerExit, left: budgets{failures: 1, resizes: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "elastic, 1 plan, suspend, new leader", rjobs: group(2), elastic: oneToThree, left: budgets{suspends: 1, resizes: 1, leaders: 1}, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "elastic, process mode, 1 plan, 1 worker exit", rjobs: group(2), elastic: oneToThree, containers: [maxReplicatedJobs]int8{1}, kinds: workerExit, left: budgets{failures: 1, resizes: 1}, lag: 1, lagInAll: 1, running: true}, full},
	}
}
