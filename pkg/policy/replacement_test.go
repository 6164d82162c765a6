/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"math"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// eachIndex: the Job controller counts the failures of each index of these Jobs, or of all, by itself.
func eachIndex(jobs ...int) func(*Input) {
	return func(in *Input) {
		if len(jobs) == 0 {
			for j := range in.Jobs {
				jobs = append(jobs, j)
			}
		}
		for _, j := range jobs {
			in.Jobs[j].Spec.BackoffLimitPerIndex = ptr.To[int32](math.MaxInt32)
		}
	}
}

// failedBefore: the index of a Pod of the first Job failed so often before it.
func failedBefore(i, times int) func(*Input) {
	return onPod(0, i, func(pod *corev1.Pod) { pod.Annotations[batchv1.JobIndexFailureCountAnnotation] = strconv.Itoa(times) })
}

// counts: the Job controller last saw so many Pods of the first Job that run, or stop.
func counts(active, terminating int32) func(*Input) {
	return onJob(0, func(job *batchv1.Job) { job.Status.Active, job.Status.Terminating = active, &terminating })
}

func podFailures(action batchv1.PodFailurePolicyAction) func(*Input) {
	return onJob(0, func(job *batchv1.Job) {
		job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{Action: action}}}
	})
}

// TestAFailedPodIsLostBeforeItIsReplaced: the Job controller keeps its finalizer until then, which may take ten minutes.
func TestAFailedPodIsLostBeforeItIsReplaced(t *testing.T) {
	t.Parallel()
	deadline := onJob(0, func(job *batchv1.Job) { job.Spec.ActiveDeadlineSeconds = ptr.To[int64](3600) })
	failsJob := podFailures(batchv1.PodFailurePolicyActionFailJob)
	unseen := looksAgain(time.Second)
	for name, tc := range map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P170, P14: it is read past the cache first":                         {inPlace(0, 1, "f1 1", eachIndex()), confirms("js-w-0")},
		"P170, P14: and breaks the group":                                    {inPlace(0, 1, "f1 1", eachIndex(), confirmed(0)), broken(1, lost)},
		"P170: an evicted one inside its grace, too":                         {inPlace(0, 1, "f1 1", eachIndex(), confirmed(0), evicted), broken(1, lost)},
		"P170: not one that is replaced":                                     {inPlace(0, 1, "f1 1", eachIndex(), more(0, 0, "_")), nil},
		"P170: nor one whose index is done":                                  {inPlace(0, 1, "f1 1", eachIndex(), onJob(0, func(job *batchv1.Job) { job.Status.CompletedIndexes = "0" })), nil},
		"P170: a Job of an older version is waited for, one of this is not":  {inPlace(0, 1, "f1|f1", eachIndex(1)), confirms("js-w-1")},
		"P170: of a Job whose rules count or ignore it, whatever its counts": {inPlace(0, 1, "f1 1", eachIndex(), podFailures(batchv1.PodFailurePolicyActionIgnore), counts(2, 0)), confirms("js-w-0")},
		"P170, P10: it may fail its Job, which has not seen it":              {inPlace(0, 1, "f1 1", eachIndex(), failsJob, counts(2, 0)), unseen},
		"P170, P10: it stopped before it failed, which its Job has not seen": {inPlace(0, 1, "f1 1", eachIndex(), failsJob, counts(1, 1)), unseen},
		"P170, P10: its Job has seen it, and goes on":                        {inPlace(0, 1, "f1 1", eachIndex(), failsJob, counts(1, 0), confirmed(0)), broken(1, lost)},
		"P170, P10: another stops":                                           {inPlace(0, 1, "f1 t1 1", eachIndex(), failsJob, counts(1, 1), confirmed(0)), broken(1, lost)},
		"P170, P10: its Job has seen one of two":                             {inPlace(0, 1, "f1 f1 1", eachIndex(), failsJob, counts(2, 0)), unseen},
		"P170, P10: its Job fails":                                           {inPlace(0, 1, "f1 1", eachIndex(), failsJob, counts(0, 0), onJob(0, withCondition(batchv1.JobFailureTarget))), nil},
		"P170, P10: the time of its Job may be over":                         {inPlace(0, 1, "f1 1", eachIndex(), deadline, counts(2, 0)), unseen},
		"P170, P10: it is not":                                               {inPlace(0, 1, "f1 1", eachIndex(), deadline, counts(1, 0), confirmed(0)), broken(1, lost)},
		"P170, P45: the success policy of the Job that a Succeeded Pod may meet": {inPlace(0, 1, "ok1 f1", eachIndex(), confirmed(0, 1), onJob(0, func(job *batchv1.Job) {
			job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: ptr.To("0")}}}
		})), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestABackoffThatRunsStopsTheClock: nobody is late because the Job controller waits, but who fails again and again reaches the deadline.
func TestABackoffThatRunsStopsTheClock(t *testing.T) {
	t.Parallel()
	ended := func(ago time.Duration) func(*Input) {
		return onPod(0, 0, func(pod *corev1.Pod) {
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "worker", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, FinishedAt: metav1.NewTime(now.Add(-ago))},
			}}}
		})
	}
	broke := func(ago time.Duration) func(*Input) {
		return onJobSet(func(js *jobset.JobSet) { js.Status.BreakTime = ptr.To(metav1.NewMicroTime(now.Add(-ago))) })
	}
	started := func(ago time.Duration) func(*Input) {
		return onJob(0, func(job *batchv1.Job) { job.Status.StartTime = ptr.To(metav1.NewTime(now.Add(-ago))) })
	}
	stands := func(left time.Duration) func(*summary) {
		return func(w *summary) { w.ClockStands, w.RequeueAfter = true, left }
	}
	goes := looksAgain(9 * time.Minute)
	failed := func(changes ...func(*Input)) Input {
		return inPlace(1, 1, "f1 2", append([]func(*Input){eachIndex(), sinceAgo(time.Minute), broke(time.Minute)}, changes...)...)
	}
	for name, tc := range map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P170, P48: the first failure of an index":                                      {failed(ended(4 * time.Second)), stands(6 * time.Second)},
		"P170, P48: its fourth":                                                         {failed(failedBefore(0, 3), ended(20*time.Second)), stands(time.Minute)},
		"P170, P24: when it is over, the Job controller is late":                        {failed(ended(10 * time.Second)), goes},
		"P170, P24: it counts for ten minutes in one assembly":                          {failed(failedBefore(0, 9), ended(0), broke(599*time.Second)), stands(time.Second)},
		"P170, P24: and no longer":                                                      {failed(failedBefore(0, 9), ended(0), broke(600*time.Second)), goes},
		"P170, P24: counted from the start of the Job if that is later":                 {failed(failedBefore(0, 9), ended(0), broke(time.Hour), started(599*time.Second)), stands(time.Second)},
		"P170, P34b: counted from the end of a bypass if that is later":                 {failed(failedBefore(0, 9), ended(0), broke(time.Hour), bypassEndedAgo(599*time.Second)), stands(time.Second)},
		"P170: the clock of a node that is ahead":                                       {failed(ended(-time.Hour)), stands(10 * time.Second)},
		"P170, P48: a Failed Pod that has lost its finalizer is waited for by nobody":   {inPlace(1, 1, "F1 2", eachIndex(), sinceAgo(time.Minute), broke(time.Minute), ended(0)), goes},
		"P170: a Job of an older version counts all indexes, and its wait is not known": {inPlace(1, 1, "F1 2", sinceAgo(time.Minute), broke(time.Minute), ended(0)), goes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestMovesWaitForTheirOwnIndexes: what the others of the Job lost does not make a move slower.
func TestMovesWaitForTheirOwnIndexes(t *testing.T) {
	t.Parallel()
	ignored := onPod(0, 1, func(pod *corev1.Pod) { pod.Annotations[batchv1.JobIndexIgnoredFailureCountAnnotation] = "2" })
	for name, tc := range map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P170, P92: nine Pods of other indexes have failed":            {inPlace(0, 1, "1 1", marked(second), eachIndex(), onJob(0, podsFailed(9)), failedBefore(0, 9)), movesByRestart(oneSick)},
		"P170, P92: the fourth of its index is replaced in 80 seconds": {inPlace(0, 1, "1 1", marked(second), eachIndex(), failedBefore(1, 3)), movesByRestart(oneSick)},
		"P170, P92: the fifth in 160, so that a reset is faster":       {inPlace(0, 1, "1 1", marked(second), eachIndex(), failedBefore(1, 4)), movesByReset(oneSick, slow)},
		"P170, P92: those that a podFailurePolicy ignores count":       {inPlace(0, 1, "1 1", marked(second), eachIndex(), failedBefore(1, 2), ignored), movesByReset(oneSick, slow)},
		"P170, P92: a Job of an older version beside it has its own":   {inPlace(0, 1, "1 1|1 1", marked(second), eachIndex(0), onJob(1, podsFailed(9)), onJob(0, podsFailed(9))), movesByRestart(oneSick)},
		"P170, P92: two Pods of one Job do not wait for one another":   {inPlace(0, 1, "1 1", marked("node-of-js-w-0-0", second), eachIndex(), failedBefore(0, 3), failedBefore(1, 3)), movesByRestart(bothSick)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkMove(t, tc.in, tc.want)
		})
	}
}

// TestAvoidedNodesAreLeftInPlace: the same of nodes that failed the JobSet (P93).
func TestAvoidedNodesAreLeftInPlace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		failures int
		want     bool
	}{
		"P170, P93: other indexes failed": {0, false},
		"P170, P93: this index failed":    {4, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := inPlace(0, 1, "1 2", eachIndex(), avoids(failedAt(badNode, 10*time.Minute)), fails(func(*Failure) {}), onJob(0, podsFailed(9)),
				onPod(0, 0, func(pod *corev1.Pod) { pod.Spec.NodeName = badNode }), failedBefore(0, tc.failures))
			status := decideOnce(t, in).Status
			if got := status.Restarts == 1; got != tc.want {
				t.Errorf("all Jobs are recreated: %t, want %t; in place %d", got, tc.want, status.InPlaceRestarts)
			}
		})
	}
}
