/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// executionWorld is a JobSet, its Jobs, and a manager that stops anywhere between two of its writes.
type executionWorld struct {
	dice *rand.Rand
	js   *jobset.JobSet
	jobs map[string]*batchv1.Job
	// ran are the numbers with which each Job ran, by UID, the last one last.
	ran  map[types.UID][]int
	uids int
	// resumptions are how often the user set suspend to false.
	resumptions int
}

// TestEachExecutionHasItsNumber walks at random: whatever is retried, a Job that runs again after it was stopped has a
// greater number than before, and nothing else is counted.
func TestEachExecutionHasItsNumber(t *testing.T) {
	t.Parallel()
	for seed := range int64(300) {
		w := &executionWorld{dice: rand.New(rand.NewSource(seed)), jobs: map[string]*batchv1.Job{}, ran: map[types.UID][]int{}}
		w.js = twoKinds().Suspend(seed%2 == 0).FailurePolicy(jobset.Recreate, 1000).Obj()
		for step := range 150 {
			if err := w.step(); err != nil {
				t.Fatalf("C396 C398: seed %d, step %d: %v", seed, step, err)
			}
		}
		if attempts := ptr.Deref(w.js.Status.ExecutionAttempts, 0); seed == 0 && attempts < 5 {
			t.Errorf("only %d executions: nothing much happened", attempts)
		}
	}
}

func (w *executionWorld) step() error {
	switch n := w.dice.Intn(10); {
	case n == 0:
		suspend := !ptr.Deref(w.js.Spec.Suspend, false)
		w.js.Spec.Suspend = &suspend
		if !suspend {
			w.resumptions++
		}
	case n == 1 && w.dice.Intn(3) == 0:
		if job := w.any(); job != nil && !view.Suspended(job) {
			job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue})
		}
	case n < 5:
		if job := w.any(); job != nil { // the Job controller looks at it
			job.Status.Active, job.Status.StartTime = 1, at(now)
			if view.Suspended(job) {
				job.Status.Active, job.Status.StartTime = 0, nil
			}
		}
	default:
		return w.pass()
	}
	return nil
}

// any returns a Job, nil if there is none.
func (w *executionWorld) any() *batchv1.Job {
	names := slices.Sorted(maps.Keys(w.jobs))
	if len(names) == 0 {
		return nil
	}
	return w.jobs[names[w.dice.Intn(len(names))]]
}

// pass is one of the manager, which may stop after any of its writes.
func (w *executionWorld) pass() error {
	in := Input{JobSet: w.js.DeepCopy(), Gates: gates.Set{ExecutionAttemptsTracking: true}, Now: now, ServiceExists: true}
	for _, name := range slices.Sorted(maps.Keys(w.jobs)) {
		job := w.jobs[name]
		in.Jobs = append(in.Jobs, job.DeepCopy())
	}
	plan, err := Decide(in)
	if err != nil {
		return err
	}
	stopsAfter := w.dice.Intn(2 * (len(plan.Ops) + 1))
	for i, op := range plan.Ops {
		if i == stopsAfter {
			return nil
		}
		if err := w.do(&op); err != nil {
			return err
		}
	}
	if stopsAfter == len(plan.Ops) {
		return nil // before the status is written
	}
	w.js.Status = plan.Status
	attempts := int(ptr.Deref(plan.Status.ExecutionAttempts, 0))
	if least, most := int(plan.Status.Restarts), int(plan.Status.Restarts)+w.resumptions; attempts < least || attempts > most {
		return fmt.Errorf("%d executions, want %d to %d", attempts, least, most)
	}
	return nil
}

func (w *executionWorld) do(op *Op) error {
	switch op.Kind {
	case DeleteJob:
		delete(w.jobs, op.Job.Name)
	case SuspendJob:
		w.jobs[op.Job.Name].Spec.Suspend = ptr.To(true)
	case CreateJob:
		w.uids++
		job := op.Job.DeepCopy()
		job.UID = types.UID(strconv.Itoa(w.uids))
		w.jobs[job.Name] = job
		if !view.Suspended(job) {
			return w.runs(job)
		}
	case ResumeJob:
		job := w.jobs[op.Job.Name]
		job.Spec, job.Annotations = op.Resumed.Spec, op.Resumed.Annotations
		return w.runs(job)
	}
	return nil
}

func (w *executionWorld) runs(job *batchv1.Job) error {
	number, err := strconv.Atoi(job.Spec.Template.Annotations[jobset.ExecutionAttemptKey])
	if err != nil || job.Annotations[jobset.ExecutionAttemptKey] != strconv.Itoa(number) {
		return fmt.Errorf("Job %s carries %q, its Pods %q", job.Name, job.Annotations[jobset.ExecutionAttemptKey], job.Spec.Template.Annotations[jobset.ExecutionAttemptKey])
	}
	if stored := ptr.Deref(w.js.Status.ExecutionAttempts, 0); int(stored) != number {
		return fmt.Errorf("Job %s runs with %d, and the status says %d", job.Name, number, stored)
	}
	if before := w.ran[job.UID]; len(before) > 0 && before[len(before)-1] >= number {
		return fmt.Errorf("Job %s runs again with %d, and had %v", job.Name, number, before)
	}
	w.ran[job.UID] = append(w.ran[job.UID], number)
	return nil
}
