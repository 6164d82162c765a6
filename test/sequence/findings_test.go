/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import "testing"

// TestFindings keeps what the search found, as the shortest schedule that shows it: why a
// rule of the shell or of admission is there, and what the rules leave open. Where that is
// closed, the schedule is no longer found, the test says so, the scenario joins those of
// TestEverySchedule, and the schedule those of TestMended.
func TestFindings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		scenario scenario
		property int
	}{
		// P16 trusts that a pass "reads D == S". A cached JobSet of before the lift says so while
		// the group runs: the pass changes Jobs, only its status is refused, and the slots that
		// came or went are charged as lost. So the controller reads the JobSet past the cache
		// before it changes Jobs of a group, as all other scenarios have it; this one leaves
		// that read out.
		"join-on-a-stale-jobset": {scenario{
			rjobs: []replicatedJob{{"w", 1, 1, -1}, {"v", 1, 1, 0}}, kinds: exitZero, left: budgets{failures: 1},
			lag: 1, staleJobSet: true,
		}, 4},
		// P32 tells a lost status by epoch > S+1. While the group runs in epoch 1, or a status of
		// S-1 is restored, epoch == S+1: an agent that was lifted restarts as soon as it sees S
		// below its epoch. Until it does, one that failed may join it in the epoch in which it
		// failed: nobody but the controller could know, and its memory is the status.
		"status-lost-in-epoch-1": {scenario{
			rjobs: []replicatedJob{{"w", 1, 2, -1}}, kinds: workerExit, left: budgets{failures: 1, pokes: 1},
			pokes: pokeWipe, wipeAtOne: true, lag: 1, running: true,
		}, 1},
		// P24 counts only while the group assembles. A Pod that restarts in a group that runs, and whose
		// agent never comes to report, is waited for indefinitely: nobody else fails, and nothing is lost.
		"a-Pod-that-never-comes-back": {scenario{
			rjobs: []replicatedJob{{"w", 1, 2, -1}}, kinds: hang | workerExit, left: budgets{failures: 2}, lag: 1, lagInAll: 1, running: true,
			clock: true, hangsAnyTime: true,
		}, 5},
		// P41 refuses the annotation in a Pod template: a lift counts reports that no agent made, and the
		// first that is made spends the budget.
		"an-epoch-in-the-Pod-template": {scenario{rjobs: []replicatedJob{{"w", 1, 1, -1}}, annotated: 1, lag: 1}, 4},
		"an-epoch-in-the-Pod-template-and-no-restart-allowed": {scenario{
			rjobs: []replicatedJob{{"w", 1, 1, -1}}, annotated: 1, maxRestarts: none, lag: 1,
		}, 6},
		// P41 refuses ttlSecondsAfterFinished in a Job template: the Job comes again, and all restart for it.
		"a-Job-that-expires": {scenario{
			rjobs: driverAndWorker, kinds: exitZero, left: budgets{failures: 1}, lag: 1, running: true, expires: true,
		}, 6},
		// P34b refuses to remove the annotation before the manager has made a condition of it: agents from before obey it while
		// nobody looks, and what they reported until then would count.
		"an-annotation-that-comes-and-goes-unseen": {scenario{
			rjobs: []replicatedJob{{"w", 1, 2, -1}}, left: budgets{pokes: 2}, pokes: pokeDisable, lag: 1, earlierAgents: true, unguarded: true,
		}, 11},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.scenario.name = name
			tc.scenario.defaults()
			s := newSearch(&tc.scenario, 0)
			s.workers = 1
			found := s.run()
			if found == nil {
				t.Fatal("the finding is fixed: search this in TestEverySchedule from now on")
			}
			if propertyOf(found.err) != tc.property {
				t.Errorf("%v, want property %d", found.err, tc.property)
			}
			compare(t, "finding-"+name, found.err.Error()+"\n\n"+found.trace)
		})
	}
}
