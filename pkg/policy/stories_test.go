/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func isComplete(job *batchv1.Job) {
	withCondition(batchv1.JobComplete)(job)
	job.Status.CompletionTime = ptr.To(metav1Time(now))
}

func completed(indexes string) func(*batchv1.Job) {
	return func(job *batchv1.Job) { job.Status.CompletedIndexes = indexes }
}

func resume(in *Input) { in.JobSet.Spec.Suspend = ptr.To(false) }

// gone removes the Jobs that are being deleted, or of those only some.
func gone(names ...string) func(*Input) {
	return func(in *Input) {
		in.Jobs = slices.DeleteFunc(in.Jobs, func(job *batchv1.Job) bool {
			return job.DeletionTimestamp != nil && (len(names) == 0 || slices.Contains(names, job.Name))
		})
	}
}

func maxRestarts(n int32, rules ...jobset.FailurePolicyRule) func(*Input) {
	return onJobSet(func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.MaxRestarts, js.Spec.FailurePolicy.Rules = n, rules
	})
}

// TestWorkersThatAreDone: whose index ran to its end is not waited for.
func TestWorkersThatAreDone(t *testing.T) {
	t.Parallel()
	tellAll(t, map[string]story{
		"C261: a worker fails after another succeeded: all Jobs are recreated, charged once": {moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"one succeeds", "ok1 1", "0/1", nil},
			{"the other fails", "ok1 2", "1/1, 1 restarts, 1 counted", nil},
			{"the old Pods are gone", "", "1/1, 1 restarts, 1 counted", gone()},
			{"one new Pod reports", "2 _", "1/1, 1 restarts, 1 counted", nil},
			{"both do", "2 2", "1/2, 1 restarts, 1 counted", nil},
		}},
		"C261: the same when a whole Job is complete": {moments: []moment{
			{"all run", "1|1", "0/1", nil},
			{"a Job is complete", "ok1|1", "0/1", onJob(0, isComplete)},
			{"the other fails", "ok1|2", "1/1, 1 restarts, 1 counted", nil},
			{"the old Pods are gone", "|", "1/1, 1 restarts, 1 counted", gone()},
			{"all report", "2|2", "1/2, 1 restarts, 1 counted", nil},
		}},
		"C261: the same when the Pod that succeeded is gone": {moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"one succeeds and is collected", ". 1", "0/1", onJob(0, completed("0"))},
			{"the other fails", ". 2", "1/1, 1 restarts, 1 counted", nil},
			{"the old Pods are gone", "", "1/1, 1 restarts, 1 counted", gone()},
			{"all report", "2 2", "1/2, 1 restarts, 1 counted", nil},
		}},
		"C262: who waits for others to complete joins them, and the first start does not wait": {given: []func(*Input){afterFirst}, moments: []moment{
			{"the first report", "1 1", "0/1", nil},
			{"they are done", "ok1 ok1", "1/1", onJob(0, isComplete)},
			{"the next appears", "ok1 ok1|_", "1/1", nil},
			{"it reports", "ok1 ok1|2", "1/2", nil},
		}},
		"C262: who runs beside them restarts with them, uncharged": {given: []func(*Input){afterFirst, withSecond}, moments: []moment{
			{"they start", "_ _", "0/0", nil},
			{"all run", "1 1|1", "0/1", nil},
			{"the first are done", "ok1 ok1|1", "1/1", onJob(0, isComplete)},
			{"the next appears", "ok1 ok1|_|2", "1/1", nil},
			{"all that remain report", "ok1 ok1|2|2", "1/2", nil},
		}},
		"C285: a worker exits 0 because it was suspended: all Jobs restart at the resume, uncharged": {moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"suspended", "1 1", "1/1", suspend},
			{"one stopped with 0", "ok1 .", "1/1", nil},
			{"resumed", "ok1 .", "1/1, 1 restarts", resume},
			{"the old Pods are gone", "", "1/1, 1 restarts", gone()},
			{"all report", "2 2", "1/2, 1 restarts", nil},
		}},
		"C285: a worker exits 0 because it was drained: its index is done, the rest runs on, and a restart brings all back": {moments: []moment{
			{"all run", "1 1 1", "0/1", nil},
			{"one is told to stop", "t1 1 1", "0/1", nil},
			{"it stopped with 0 and is gone", ". 1 1", "0/1", onJob(0, completed("0"))},
			{"another fails", ". 2 1", "1/1, 1 restarts, 1 counted", nil},
			{"the old Pods are gone", "", "1/1, 1 restarts, 1 counted", gone()},
			{"all report", "2 2 2", "1/2, 1 restarts, 1 counted", nil},
		}},
	})
}

// withSecond is a ReplicatedJob beside the one of the first picture.
func withSecond(in *Input) {
	in.JobSet.Spec.ReplicatedJobs = append(in.JobSet.Spec.ReplicatedJobs, builders.MakeReplicatedJob("wb").Workers(1).Obj())
}

// TestPodsThatGo: a lost worker is noticed when it is lost, and nothing is lifted without it.
func TestPodsThatGo(t *testing.T) {
	t.Parallel()
	var crashLoop []moment
	for range 10 {
		crashLoop = append(crashLoop, moment{"a Pod fails before it reports", "F_ 1", "0/0", nil}, moment{"it is replaced", "_ 1", "0/0", nil})
	}
	tellAll(t, map[string]story{
		"C264: a member that is deleted breaks the group once, at the end of its grace, and its replacement joins": {moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"one is told to stop", "t1 1", "0/1", nil},
			{"its grace is over", "T1 1", "1/1, 1 in place", nil},
			{"it is gone, the other is back", ". 2", "1/1, 1 in place", nil},
			{"its replacement starts", "_ 2", "1/1, 1 in place", nil},
			{"and reports", "2 2", "1/2, 1 in place", nil},
		}},
		"C264: nothing is lifted over the head of a member that reported and is being deleted": {moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"one fails and is back", "2 1", "1/1, 1 in place", nil},
			{"it is deleted, and the other is back", "t2 2", "1/1, 1 in place", nil},
			{"its replacement starts", "_ 2", "1/1, 1 in place", nil},
			{"and reports the same epoch", "2 2", "1/2, 1 in place", nil},
		}},
		"C266: a node dies: the group breaks when the grace of its Pod is over, and waits for the replacement": {moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"the Pod is evicted from a node that does not answer", "t1 1", "0/1", nil},
			{"its grace is over", "T1 1", "1/1, 1 in place", nil},
			{"the other is back, the Pod still stands there", "T1 2", "1/1, 1 in place", nil},
			{"the Pod is removed", ". 2", "1/1, 1 in place", nil},
			{"its replacement reports", "2 2", "1/2, 1 in place", nil},
		}},
		"C267: a Pod fails: the group breaks then, not when the replacement reports": {moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"one Pod fails", "f1 1", "0/1", nil},
			{"the Job controller has counted it", "F1 1", "1/1, 1 in place", nil},
			{"the replacement finds no node", "_ 2", "1/1, 1 in place", nil},
			{"it does, and reports", "2 2", "1/2, 1 in place", nil},
		}},
		"C268: a Job was recreated, another still terminates: nothing is lifted for half the group": {moments: []moment{
			{"all run", "1|1", "0/1", nil},
			{"a worker fails", "2|1", "1/1, 1 in place", nil},
			{"a Job fails", "2|F1", "1/1, 1 in place, 1 restarts, 1 counted", onJob(1, failed)},
			{"it is recreated first", "2|_", "1/1, 1 in place, 1 restarts, 1 counted", gone("js-w-1")},
			{"its new Pod reports beside the old one", "2|2", "1/1, 1 in place, 1 restarts, 1 counted", nil},
			{"the other Job is recreated too", "_|2", "1/1, 1 in place, 1 restarts, 1 counted", gone()},
			{"all report", "2|2", "1/2, 1 in place, 1 restarts, 1 counted", nil},
		}},
		"C263: a worker without an agent that got past admission is waited for, but not indefinitely": {given: []func(*Input){deadline, maxRestarts(1)}, moments: []moment{
			{"one never reports", "1 _", "0/0", nil},
			{"the deadline", "1 _", "0/0, deletes js-w-0-1", later(period)},
			{"twice of it", "1 _", "0/0, 1 restarts, 1 counted", later(period)},
			{"the old Pods are gone", "", "0/0, 1 restarts, 1 counted", gone()},
			{"the same again", "1 _", "0/0, 1 restarts, 1 counted", nil},
			{"twice the deadline", "1 _", "0/0, 1 restarts, 1 counted, Failed", later(2 * period)},
		}},
		"C273: Jobs of more completions than Pods at a time, that got past admission, are not waited for indefinitely": {
			given: []func(*Input){deadline, maxRestarts(0), onJob(0, func(job *batchv1.Job) { job.Spec.Completions = ptr.To[int32](4) })},
			moments: []moment{
				{"two of four report", "1 1", "0/0", nil},
				{"twice the deadline", "1 1", "0/0, Failed", later(2 * period)},
			},
		},
		"C291: not indefinitely: at twice the deadline all Jobs are recreated, charged": {given: []func(*Input){deadline, maxRestarts(1)}, moments: []moment{
			{"one reports, another fails", "F_ 1", "0/0", nil},
			{"and fails", "F_ 1", "0/0", later(period)},
			{"and fails", "F_ 1", "0/0, 1 restarts, 1 counted", later(period)},
			{"the old Pods are gone", "", "0/0, 1 restarts, 1 counted", gone()},
			{"and fails", "F_ 1", "0/0, 1 restarts, 1 counted, Failed", later(2 * period)},
		}},
		"C291: a Pod that fails again and again before the lift is waited for, and nothing is charged": {
			moments: slices.Concat([]moment{{"one reports", "_ 1", "0/0", nil}}, crashLoop, []moment{{"it stays up", "1 1", "0/1", nil}}),
		},
	})
}

// TestAgentsThatDie: an annotation outlives the process that wrote it.
func TestAgentsThatDie(t *testing.T) {
	t.Parallel()
	tellAll(t, map[string]story{
		"C265: an agent dies between its report and the lift: one more restart, and the group runs in one epoch": {moments: []moment{
			{"one reports", "1 _", "0/0", nil},
			{"it dies, and the other reports: lifted", "1 1", "0/1", nil},
			{"it is back, at the next epoch", "2 1", "1/1, 1 in place", nil},
			{"so is the other", "2 2", "1/2, 1 in place", nil},
		}},
		"C265: if it is back before the others, nothing is charged": {moments: []moment{
			{"one reports", "1 _", "0/0", nil},
			{"it dies and reports again", "1 _", "0/0", nil},
			{"the other reports", "1 1", "0/1", nil},
		}},
		"C274: an epoch that somebody made up, far too high, locks nobody out": {moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"somebody writes 900", "900 1", "0/1", nil},
			{"the other fails", "900 2", "1/1, 1 in place", nil},
			{"its agent restarts, and reports what is right", "2 2", "1/2, 1 in place", nil},
		}},
		"C275: the status is lost: the agents come again, and the group assembles again": {moments: []moment{
			{"Pods of epoch 4 without a status", "4 4", "0/0", nil},
			{"one is back", "1 4", "0/0", nil},
			{"both are", "1 1", "0/1", nil},
		}},
		"C275: an older status is restored: charged once for all that come again": {given: []func(*Input){restored(1, 2)}, moments: []moment{
			{"Pods of epoch 4", "4 4", "1/2", nil},
			{"one is back", "3 4", "2/2, 1 in place", nil},
			{"both are", "3 3", "2/3, 1 in place", nil},
		}},
		"C278: an agent dies after the lift: the group restarts, charged once": {moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"an agent died, and all containers with it", "2 1", "1/1, 1 in place", nil},
			{"the other obeys", "2 2", "1/2, 1 in place", nil},
		}},
		"C279: an agent is cut off: the others wait until it is back or replaced": {moments: []moment{
			{"all run", "1 1 1", "0/1", nil},
			{"one fails", "2 1 1", "1/1, 1 in place", nil},
			{"one does not hear of it", "2 2 1", "1/1, 1 in place", nil},
			{"it is back", "2 2 2", "1/2, 1 in place", nil},
		}},
		"C279: an agent that stays away: its Pod is deleted at the deadline": {given: []func(*Input){deadline}, moments: []moment{
			{"all run", "1 1 1", "0/1", nil},
			{"one fails", "2 1 1", "1/1, 1 in place", nil},
			{"one does not hear of it", "2 2 1", "1/1, 1 in place", later(period - 1)},
			{"the deadline", "2 2 1", "1/1, 1 in place, deletes js-w-0-2", later(1)},
			{"it is told to stop", "2 2 t1", "1/1, 1 in place", nil},
			{"its replacement reports", "2 2 2", "1/2, 1 in place", nil},
		}},
	})
}

// deadline is that of a group that does not come together (P24).
func deadline(in *Input) { in.Deadlines.Assembly = period }

func later(by time.Duration) func(*Input) {
	return func(in *Input) { in.Now = in.Now.Add(by) }
}

func restored(deprecated, synced int32) func(*Input) {
	return onJobSet(func(js *jobset.JobSet) {
		js.Status.DeprecatedEpoch, js.Status.SyncedEpoch = ptr.To(deprecated), ptr.To(synced)
	})
}

// TestUsersWhoIntervene: what users and queueing systems do is no failure.
func TestUsersWhoIntervene(t *testing.T) {
	t.Parallel()
	var preempted []moment
	for epoch := range 20 {
		preempted = append(preempted,
			moment{"they report", fmt.Sprintf("%[1]d %[1]d", epoch+1), fmt.Sprintf("%d/%d", epoch, epoch+1), nil},
			moment{"suspended", fmt.Sprintf("%[1]d %[1]d", epoch+1), fmt.Sprintf("%d/%d", epoch+1, epoch+1), suspend},
			moment{"the Pods are gone", ". .", fmt.Sprintf("%d/%d", epoch+1, epoch+1), nil},
			moment{"resumed", ". .", fmt.Sprintf("%d/%d", epoch+1, epoch+1), resume},
		)
	}
	tellAll(t, map[string]story{
		"C281: the disable annotation comes in the middle of a restart and goes again: the restart goes on": {moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"one fails", "2 1", "1/1, 1 in place", nil},
			{"the annotation comes, and the agents are told", "2 1", "1/1, 1 in place", annotated},
			{"nothing is lifted", "2 2", "1/1, 1 in place", nil},
			{"the annotation goes, and an epoch with it", "2 2", "2/2, 1 in place", onJobSet(func(js *jobset.JobSet) { js.Annotations = nil })},
			{"one is back", "3 2", "2/2, 1 in place", nil},
			{"all are", "3 3", "2/3, 1 in place", nil},
		}},
		"C283: suspended and resumed twenty times with maxRestarts 1: nothing is charged, and a failure may still come": {
			given: []func(*Input){maxRestarts(1)},
			moments: slices.Concat(preempted, []moment{
				{"they report", "21 21", "20/21", nil},
				{"one fails", "22 21", "21/21, 1 in place", nil},
				{"all are back", "22 22", "21/22, 1 in place", nil},
			}),
		},
		"C284: a suspend arrives when all have reported: no epoch is spent": {moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"one fails", "2 1", "1/1, 1 in place", nil},
			{"all report, and the suspend is there", "2 2", "1/1, 1 in place", suspend},
			{"the Pods stop", "t2 T2", "1/1, 1 in place", nil},
			{"they are gone", ". .", "1/1, 1 in place", nil},
			{"resumed", ". .", "1/1, 1 in place", resume},
			{"the new Pods report the same epoch", "2 2", "1/2, 1 in place", nil},
		}},
		"C292: a group grows and shrinks: it assembles at its new size, and nothing is charged": {
			given: []func(*Input){func(in *Input) { in.Gates.ElasticJobSet = true }},
			moments: []moment{
				{"both run", "1 1", "0/1", nil},
				{"four are wanted", "1 1", "1/1", resize(4)},
				{"those that were there are back", "2 2 _ _", "1/1", nil},
				{"all four are", "2 2 2 2", "1/2", nil},
				{"two are wanted", "2 2 2 2", "2/2", resize(2)},
				{"two are back, two stop and may still run", "3 3 t2 t2", "2/2", nil},
				{"they are gone", "3 3", "2/3", nil},
			},
		},
	})
}

func resize(workers int32) func(*Input) {
	return onJobSet(func(js *jobset.JobSet) {
		spec := &js.Spec.ReplicatedJobs[0].Template.Spec
		spec.Parallelism, spec.Completions = ptr.To(workers), ptr.To(workers)
	})
}

// TestOneBudget: epochs are no budget, and whatever restarts draws on one.
func TestOneBudget(t *testing.T) {
	t.Parallel()
	ignored := jobset.FailurePolicyRule{Name: "r", Action: jobset.RestartJobSetAndIgnoreMaxRestarts}
	single := jobset.FailurePolicyRule{Name: "r", Action: jobset.RestartJobAndIgnoreMaxRestarts}
	tellAll(t, map[string]story{
		"C287, C288: restarts in place and of the JobSet draw on one budget, whichever Pods are new": {moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"one fails", "2 1", "1/1, 1 in place", nil},
			{"all are back", "2 2", "1/2, 1 in place", nil},
			{"the Job fails", "2 F2", "2/2, 1 in place, 1 restarts, 1 counted", onJob(0, failed)},
			{"its Pods are gone", "", "2/2, 1 in place, 1 restarts, 1 counted", gone()},
			{"new ones report", "3 3", "2/3, 1 in place, 1 restarts, 1 counted", nil},
			{"one is deleted", ". 3", "3/3, 2 in place, 1 restarts, 1 counted", nil},
			{"its replacement reports", "4 4", "3/4, 2 in place, 1 restarts, 1 counted", nil},
			{"one fails: three of three are spent", "5 4", "3/4, 2 in place, 1 restarts, 1 counted, Failed", nil},
		}},
		"C288: the budget is spent in place: a Job that fails ends the JobSet, and nothing is recreated": {given: []func(*Input){maxRestarts(1)}, moments: []moment{
			{"both run", "1 1", "0/1", nil},
			{"one fails", "2 1", "1/1, 1 in place", nil},
			{"all are back", "2 2", "1/2, 1 in place", nil},
			{"the Job fails", "2 F2", "1/2, 1 in place, Failed", onJob(0, failed)},
		}},
		"C289: restarts that do not count, before and between lifts, neither give nor take": {given: []func(*Input){maxRestarts(1, ignored)}, moments: []moment{
			{"they start", "_ _", "0/0", nil},
			{"the Job fails before the first lift", "_ F_", "0/0, 1 restarts", onJob(0, failed)},
			{"its Pods are gone", "", "0/0, 1 restarts", gone()},
			{"new ones report", "1 1", "0/1, 1 restarts", nil},
			{"the Job fails after it", "1 F1", "1/1, 2 restarts", onJob(0, failed)},
			{"its Pods are gone", "", "1/1, 2 restarts", gone()},
			{"new ones report", "2 2", "1/2, 2 restarts", nil},
			{"one fails: the one that counts", "3 2", "2/2, 1 in place, 2 restarts", nil},
			{"all are back", "3 3", "2/3, 1 in place, 2 restarts", nil},
			{"one more", "4 3", "2/3, 1 in place, 2 restarts, Failed", nil},
		}},
		"C290: a rule for one Job that got past admission: the group comes back together, uncharged": {
			given: []func(*Input){maxRestarts(1, single), func(in *Input) { in.Gates.RestartJob = true }},
			moments: []moment{
				{"all run", "1|1", "0/1", nil},
				{"a Job fails", "1|F1", "1/1", onJob(1, failed)},
				{"it is recreated", "2|_", "1/1", gone()},
				{"all report", "2|2", "1/2", nil},
			},
		},
	})
}
