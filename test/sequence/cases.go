/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import "slices"

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

// cases are all scenarios that are searched, those of one kind of trouble beside each other:
// the bounds within which the protocol was checked can be read here. Failures are of every
// kind where nothing else is said.
func cases() []searched {
	oneJob := func(workers int8) []replicatedJob { return []replicatedJob{{"w", 1, workers, -1}} }
	twoJobs := func(workers int8) []replicatedJob { return []replicatedJob{{"w", 2, workers, -1}} }
	joining := []replicatedJob{{"w", 1, 1, -1}, {"v", 1, 1, 0}}
	all := failures(everyFailure)
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
		{scenario{name: "2 workers, 1 failure, suspend", rjobs: oneJob(2), left: budgets{failures: 1, suspends: 1}, lag: 2, lagInAll: 2, running: true}, bounded},
		{scenario{name: "2 Jobs, suspend, crash, lag 1", rjobs: twoJobs(1), left: budgets{suspends: 1, leaders: 1}, lag: 1, lagInAll: 1, lingering: true, running: true}, bounded},
		{scenario{name: "2 Jobs, suspend, crash", rjobs: twoJobs(1), left: budgets{suspends: 1, leaders: 1}, lag: 2, lagInAll: 2, running: true}, bounded},
		{scenario{name: "2 Jobs, suspend, new leader, old caches, lag 1", rjobs: twoJobs(1), left: budgets{suspends: 1, leaders: 1}, lag: 1, lagInAll: 1, oldCaches: true, running: true}, full},
		{scenario{name: "2 Jobs, 1 failure, suspend, lag 1", rjobs: twoJobs(1), left: budgets{failures: 1, suspends: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "2 workers, 2 exits 0 by suspend", rjobs: oneJob(2), kinds: exitZero, left: budgets{failures: 2, suspends: 1}, lag: 2, lagInAll: 2, running: true}, bounded},
		{scenario{name: "2 workers, 1 failure, suspend, crash", rjobs: oneJob(2), left: budgets{failures: 1, suspends: 1, leaders: 1}, lag: 1, lagInAll: 1, lingering: true, running: true}, full},

		{scenario{name: "2 workers, 1 failure, resize", rjobs: oneJob(2), left: budgets{failures: 1, resizes: 1}, hasResizes: true, lag: 2, lagInAll: 2, running: true}, bounded},
		{scenario{name: "2 workers, resize, crash", rjobs: oneJob(2), left: budgets{resizes: 1, leaders: 1}, hasResizes: true, lag: 2, lagInAll: 2, lingering: true, running: true}, bounded},
		{scenario{name: "2 workers, 1 failure, Job failure", rjobs: oneJob(2), left: budgets{failures: 1, jobFailures: 1}, lag: 2, lagInAll: 2, running: true}, quick},
		{scenario{name: "2 Jobs, 1 failure, Job failure", rjobs: twoJobs(1), left: budgets{failures: 1, jobFailures: 1}, lag: 2, lagInAll: 2, running: true}, bounded},
		{scenario{name: "2 Jobs, 1 worker exit, Job failure, lag 3", rjobs: twoJobs(1), kinds: workerExit, left: budgets{failures: 1, jobFailures: 1}, lag: 3, lagInAll: 4, running: true}, bounded},
		{scenario{name: "2 Jobs, Job failure, new leader, old caches", rjobs: twoJobs(1), left: budgets{jobFailures: 1, leaders: 1}, lag: 2, lagInAll: 2, oldCaches: true, lingering: true, running: true}, full},

		{scenario{name: "dependsOn Complete, 2 failures", rjobs: joining, left: budgets{failures: 2}, lag: 2, lagInAll: 2}, quick},
		{scenario{name: "dependsOn Complete, 3 failures", rjobs: joining, left: budgets{failures: 3}, lag: 2, lagInAll: 2}, full},
		{scenario{name: "2 workers, 2 failures, 1 restart allowed", rjobs: oneJob(2), left: budgets{failures: 2}, maxRestarts: 1, lag: 2, lagInAll: 2, running: true}, bounded},
	}
	for i := range list {
		sc := &list[i].scenario
		if sc.kinds == 0 {
			sc.kinds = all
		}
		if sc.maxRestarts == 0 {
			sc.maxRestarts = 20
		}
	}
	return list
}

// casesUpTo are the scenarios of a level.
func casesUpTo(l level) []searched {
	return slices.DeleteFunc(cases(), func(c searched) bool { return c.from > l })
}
