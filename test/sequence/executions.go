/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package sequence

import (
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// Executions are numbered (C396 to C399), where the scenario has them.

// executed is what the status says of executions: attempts, if it counts any, and that Jobs are being suspended.
type executed struct {
	attempts           int8
	counts, suspending bool
}

// numbered is the number that a Job carries, and 1 more than the greatest with which it ran. again: it ran with one of them again.
type numbered struct {
	number, ran int8
	again       bool
}

func executionCases() []searched {
	two, pair := []replicatedJob{{"w", 1, 2, -1}}, []replicatedJob{{"w", 2, 1, -1}}
	return []searched{
		{scenario{name: "executions, 2 Jobs, suspend, crash", rjobs: pair, executions: true, left: budgets{suspends: 1, leaders: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "executions, 2 Jobs, 2 suspends, crash", rjobs: pair, executions: true, left: budgets{suspends: 2, leaders: 1}, lag: 1, lagInAll: 1, running: true}, full},
		{scenario{name: "executions, 2 workers, 1 failure, suspend", rjobs: two, executions: true, kinds: workerExit | podFailure, left: budgets{failures: 1, suspends: 1}, lag: 1, lagInAll: 1, running: true}, bounded},
		{scenario{name: "executions, a Job failure, suspend, new leader", rjobs: pair, executions: true, kinds: workerExit, left: budgets{jobFailures: 1, suspends: 1, leaders: 1}, maxRestarts: 2, lag: 1, lagInAll: 1}, bounded},
	}
}

func (x executed) writeTo(js *jobset.JobSet) {
	if x.counts {
		js.Status.ExecutionAttempts = ptr.To(int32(x.attempts))
	}
}

func executedOf(s *jobset.JobSetStatus) executed {
	c := apimeta.FindStatusCondition(s.Conditions, string(jobset.JobSetSuspended))
	return executed{
		attempts: int8(ptr.Deref(s.ExecutionAttempts, 0)), counts: s.ExecutionAttempts != nil,
		suspending: c != nil && c.Reason == constants.SuspendingReason,
	}
}

func (o *objects) setNumber(j *batchv1.Job, v job) {
	if o.sc.executions {
		j.Annotations[jobset.ExecutionAttemptKey] = strconv.Itoa(int(v.number))
		j.Spec.Template.Annotations[jobset.ExecutionAttemptKey] = strconv.Itoa(int(v.number))
	}
}

func executionOf(j *batchv1.Job) int8 {
	n, _ := strconv.Atoi(j.Spec.Template.Annotations[jobset.ExecutionAttemptKey])
	return int8(n)
}

// begins: a Job runs, if it is not suspended, with a number.
func (j *job) begins(number int8) {
	if j.number = number; j.suspend {
		return
	}
	j.again = j.again || number < j.ran
	j.ran = max(j.ran, number+1)
}

// resume: a Job that runs already stays as it is.
func (j *job) resume(number int8) {
	if j.suspend {
		j.suspend = false
		j.begins(number)
	}
}

// checkExecutions: no Job runs again with a number of before, and none with a number that the status has not.
func (w *world) checkExecutions(js *jobSet) error {
	if !w.sc.executions {
		return nil
	}
	for _, j := range w.jobs.live() {
		switch {
		case j.owner != js.uid:
		case j.again:
			return violates(4, "Job %s runs again with number %d", jobName(w.sc, &j), j.number)
		case j.number > js.attempts:
			return violates(4, "Job %s runs with number %d of %d", jobName(w.sc, &j), j.number, js.attempts)
		}
	}
	return nil
}

// judgeExecutions: one is counted for each charged break, restart of all Jobs and resumption, and no other.
func (w *world) judgeExecutions(_ basis, was, next status) error {
	if !w.sc.executions {
		return nil
	}
	want := was.attempts + next.inPlace - was.inPlace + next.restarts - was.restarts
	if asleep := was.suspending || was.suspended == isTrue; asleep && !next.suspending && next.suspended != isTrue {
		want++
	}
	switch {
	case next.attempts < next.restarts:
		return violates(4, "%d executions, and %d restarts", next.attempts, next.restarts)
	case next.attempts != want && was.counts: // the first execution is 0
		return violates(4, "%d executions, not %d", next.attempts, want)
	}
	return nil
}
