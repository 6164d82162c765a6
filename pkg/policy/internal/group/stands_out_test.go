/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"k8s.io/utils/ptr"
)

// waiting are so many workers of a ReplicatedJob that told step 119 and wait for each other, silent for 30 s; each change is
// made in turn.
func waiting(size int, changes ...func([]ending)) []ending {
	all := make([]ending, size)
	for i := range all {
		all[i] = ending{pod: fmt.Sprintf("w-%02d", i), node: fmt.Sprintf("n%d", i), replicatedJob: "w", step: ptr.To[int64](119),
			silent: 30*time.Second + time.Duration(i)*10*time.Millisecond, longestGap: 2 * time.Second}
	}
	for _, change := range changes {
		change(all)
	}
	return all
}

func seen(of int, state string) func([]ending) {
	return func(all []ending) { all[of].seen = state }
}

func atStep(of int, step int64) func([]ending) {
	return func(all []ending) { all[of].step = &step }
}

func silentFor(of int, d time.Duration) func([]ending) {
	return func(all []ending) { all[of].silent = d }
}

func each(change func(*ending)) func([]ending) {
	return func(all []ending) {
		for i := range all {
			change(&all[i])
		}
	}
}

func toldNothing(of int) func([]ending) {
	return func(all []ending) {
		e := all[of]
		all[of] = ending{pod: e.pod, node: e.node, replicatedJob: e.replicatedJob}
	}
}

// TestSuspects: the likely culprit is named with the reason, and no other worker (P135).
func TestSuspects(t *testing.T) {
	t.Parallel()
	const late = 3 * time.Second
	noSteps := each(func(e *ending) { e.step = nil })
	driver := func(all []ending) { all[len(all)-1].replicatedJob = "driver" }
	tests := map[string]struct {
		all  []ending
		want string
	}{
		// The troubles that have a trace.
		"P135: one stopped by SIGSTOP":                  {waiting(20, seen(7, "T")), "likely culprit: worker pod w-07 on node n7: it has a process in state T"},
		"P135: one of two":                              {waiting(2, seen(1, "T")), "likely culprit: worker pod w-01 on node n1: it has a process in state T"},
		"P135: rank 0, too":                             {waiting(20, seen(0, "T")), "likely culprit: worker pod w-00 on node n0: it has a process in state T"},
		"P135: one in a system call of a dead disk":     {waiting(20, seen(7, "D")), "likely culprit: worker pod w-07 on node n7: it has a process in state D"},
		"P135: one that is a step behind":               {waiting(20, atStep(7, 118)), "likely culprit: worker pod w-07 on node n7: it reported step 118 last, the other 19 reported step 119"},
		"P135: one far behind those that differ":        {waiting(20, atStep(7, 100), atStep(3, 140)), "likely culprit: worker pod w-07 on node n7: it reported step 100 last, the other 19 reported steps 119 to 140"},
		"P135: one behind and stopped":                  {waiting(20, atStep(7, 118), seen(7, "T")), "likely culprit: worker pod w-07 on node n7: it reported step 118 last, the other 19 reported step 119, and it has a process in state T"},
		"P135: the one of those behind that is stopped": {waiting(20, atStep(7, 118), atStep(8, 118), seen(7, "T")), "likely culprit: worker pod w-07 on node n7: it has a process in state T"},
		"P135: one that gave no sign for longer":        {waiting(20, noSteps, silentFor(7, 36*time.Second)), "likely culprit: worker pod w-07 on node n7: it had given no sign for 36.0 s, the other 19 for 30.2 s at most"},
		"P135: a node that is not known":                {waiting(3, atStep(1, 2), func(all []ending) { all[1].node = "" }), "likely culprit: worker pod w-01: it reported step 2 last, the other 2 reported step 119"},
		"P135: a driver does not count as behind":       {waiting(20, driver, atStep(19, 1)), noCulprit},
		"P135: nor hides who is":                        {waiting(20, driver, atStep(19, 1), atStep(7, 118)), "likely culprit: worker pod w-07 on node n7: it reported step 118 last, the other 18 reported step 119"},

		// Those that have none, and those that mislead.
		"P135: a rank in a lock looks like those that wait for it": {waiting(20), noCulprit},
		"P135: all are stopped":                                          {waiting(20, each(func(e *ending) { e.seen = "T" })), noCulprit},
		"P135: most are in state D":                                      {waiting(20, func(all []ending) { each(func(e *ending) { e.seen = "D" })(all[:12]) }), noCulprit},
		"P135: two are stopped":                                          {waiting(20, seen(7, "T"), seen(8, "T")), noCulprit + ": w-07: it has a process in state T; w-08: it has a process in state T"},
		"P135: one is behind and another one stopped":                    {waiting(20, atStep(7, 118), seen(8, "T")), noCulprit + ": w-07: it reported step 118 last, the other 19 reported step 119; w-08: it has a process in state T"},
		"P135: two are behind":                                           {waiting(20, atStep(7, 118), atStep(8, 118)), noCulprit},
		"P135: half of them are behind":                                  {waiting(2, noSteps), noCulprit},
		"P135: one told no step":                                         {waiting(20, func(all []ending) { all[3].step = nil }, atStep(7, 118)), noCulprit},
		"P135: one that was replaced told nothing":                       {waiting(20, toldNothing(3), atStep(7, 118), silentFor(7, time.Hour)), noCulprit},
		"P135: and another one is stopped":                               {waiting(20, toldNothing(3), seen(7, "T")), "likely culprit: worker pod w-07 on node n7: it has a process in state T"},
		"P135: the first deadline is not the oldest sign":                {waiting(20, silentFor(7, 34*time.Second)), noCulprit},
		"P135: one that took all of its grace to stop":                   {waiting(20, silentFor(7, 35*time.Second)), noCulprit},
		"P135: a long gap is usual":                                      {waiting(20, silentFor(7, 90*time.Second), func(all []ending) { all[3].longestGap = 70 * time.Second }), noCulprit},
		"P135: nobody gave two signs":                                    {waiting(20, silentFor(7, 90*time.Second), each(func(e *ending) { e.longestGap = 0 })), noCulprit},
		"P135: a group of one":                                           {waiting(1, seen(0, "T")), noCulprit},
		"P135: each of two ReplicatedJobs has one that is a step behind": {slices.Concat(waiting(3, atStep(1, 2)), waiting(3, atStep(2, 2), each(func(e *ending) { e.replicatedJob = "x" }))), noCulprit + ": w-01: it reported step 2 last, the other 2 reported step 119; w-02: it reported step 2 last, the other 2 reported step 119"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(3) { // caches have no stable order
				all := slices.Clone(test.all)
				rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				if got := standsOut(all, late); got != test.want {
					t.Errorf("%q, want %q", got, test.want)
				}
			}
		})
	}
}

// TestNobodyIsNamedWithoutATrace: whatever differs for reasons of its own among workers that all wait, in a thousand
// groups (P135).
func TestNobodyIsNamedWithoutATrace(t *testing.T) {
	t.Parallel()
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 0))
		all := waiting(2 + random.IntN(60))
		gap := time.Duration(1+random.IntN(20_000)) * time.Millisecond
		for i := range all {
			all[i].longestGap = gap/2 + time.Duration(random.Int64N(int64(gap)))
			all[i].silent = 30*time.Second + time.Duration(random.Int64N(int64(gap/2+3*time.Second)))
		}
		if got := standsOut(all, 3*time.Second); got != noCulprit {
			t.Fatalf("seed %d: %s", seed, got)
		}
	}
}
