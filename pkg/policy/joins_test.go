/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// TestOthersJoinAGroupThatLostOne: a Job that completed by itself is not brought back because others join, which would happen
// again in each attempt, but after a failure it is.
func TestOthersJoinAGroupThatLostOne(t *testing.T) {
	t.Parallel()
	tellAll(t, map[string]story{
		"P17: a Job that completes by itself before others join stays out, whatever runs on beside it": {given: []func(*Input){afterFirst, withSecond, besideBoth}, moments: []moment{
			{"they start", "_ _", "0/0", nil},
			{"all run", "1 1|1|1", "0/1", nil},
			{"the second is done", "1 1|ok1|1", "0/1", onJob(1, isComplete)},
			{"the first is done", "ok1 ok1|ok1|1", "1/1", onJob(0, isComplete)},
			{"the next appears", "ok1 ok1|ok1|2|_", "1/1", nil},
			{"it reports", "ok1 ok1|ok1|2|2", "1/2", nil},
		}},
		"P17: the same when nobody runs on": {given: []func(*Input){afterFirst, withSecond}, moments: []moment{
			{"they start", "_ _", "0/0", nil},
			{"all run", "1 1|1", "0/1", nil},
			{"the second is done", "1 1|ok1", "0/1", onJob(1, isComplete)},
			{"the first is done", "ok1 ok1|ok1", "1/1", onJob(0, isComplete)},
			{"the next appears", "ok1 ok1|ok1|_", "1/1", nil},
			{"it reports", "ok1 ok1|ok1|2", "1/2", nil},
		}},
		"P17: but not after a break, even if others join then": {given: []func(*Input){afterFirst, withSecond, besideBoth}, moments: []moment{
			{"they start", "_ _", "0/0", nil},
			{"all run", "1 1|1|1", "0/1", nil},
			{"the third fails", "1 1|1|2", "1/1, 1 in place", nil},
			{"the others are done", "ok1 ok1|ok1|2", "1/1, 1 in place, 1 restarts", first2(isComplete)},
		}},
		"P17: nor after a break of an older manager, which wrote no time of it": {given: []func(*Input){afterFirst, withSecond, besideBoth}, moments: []moment{
			{"they start", "_ _", "0/0", nil},
			{"all run", "1 1|1|1", "0/1", nil},
			{"the third fails", "1 1|1|2", "1/1, 1 in place", nil},
			{"the others are done", "ok1 ok1|ok1|2", "1/1, 1 in place, 1 restarts", func(in *Input) {
				in.JobSet.Status.BreakTime = nil
				first2(isComplete)(in)
			}},
		}},
		"C285: nor if it was suspended, even if others join at the resume": {given: []func(*Input){afterFirst, withSecond}, moments: []moment{
			{"they start", "_ _", "0/0", nil},
			{"all run", "1 1|1", "0/1", nil},
			{"suspended", "1 1|1", "1/1", suspend},
			{"they stopped with 0", "ok1 ok1|ok1", "1/1", first2(isComplete)},
			{"resumed", "ok1 ok1|ok1", "1/1, 1 restarts", resume},
		}},
	})
}

// afterFirst is a ReplicatedJob that waits for the one of the first picture to complete.
func afterFirst(in *Input) {
	in.JobSet.Spec.ReplicatedJobs = append(in.JobSet.Spec.ReplicatedJobs,
		builders.MakeReplicatedJob("x").Workers(1).DependsOn("w", jobset.DependencyComplete).Obj())
}

// besideBoth is a ReplicatedJob beside those of withSecond.
func besideBoth(in *Input) {
	in.JobSet.Spec.ReplicatedJobs = append(in.JobSet.Spec.ReplicatedJobs, builders.MakeReplicatedJob("wc").Workers(1).Obj())
}

// first2 changes the first two Jobs.
func first2(change func(*batchv1.Job)) func(*Input) {
	return func(in *Input) {
		change(in.Jobs[0])
		change(in.Jobs[1])
	}
}
