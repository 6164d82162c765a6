/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"math"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

const (
	reported = "worker pod js-w-0-0 restarted, its exit code was not seen"
	lost     = "a worker pod of Job js-w-0 failed, was deleted or did not stop in time"
	exited   = "container worker of worker pod js-w-0-0 exited with code 137 (signal 9) on node n1"
)

// broken: D := S, charged, and told.
func broken(synced int32, cause string) func(*summary) {
	return func(w *summary) {
		message := cause + "; all workers of epoch " + string(rune('0'+synced)) + " restart in place"
		w.Status.DeprecatedEpoch = &synced
		w.Status.InPlaceRestarts++
		w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, true, "InPlaceRestart", message, now)}
		w.Events = []Event{{Type: "Warning", Reason: "InPlaceRestartStarted", Message: message}}
		w.Outcomes = []Outcome{GroupBroken}
	}
}

// confirms: these indexes of a Job, or its first, are to be read past the cache.
func confirms(job string, indexes ...int64) func(*summary) {
	if len(indexes) == 0 {
		indexes = []int64{0}
	}
	return func(w *summary) { w.Confirm, w.CountsInterval = fmt.Sprint(job, indexes), 0 }
}

func looksAgain(in time.Duration) func(*summary) { return func(w *summary) { w.RequeueAfter = in } }

// outOfBudget: the JobSet fails, by a report of the first worker.
func outOfBudget(w *summary) { outOfBudgetBy(reported)(w) }

func outOfBudgetBy(cause string) func(*summary) {
	return func(w *summary) {
		failedBySpentBudget(w, "jobset failed due to reaching max number of restarts (last failure: "+cause+")")
	}
}

func failedBySpentBudget(w *summary, message string) {
	w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetFailed, true, "ReachedMaxRestarts", message, now)}
	w.Status.TerminalState = "Failed"
	w.Events = []Event{{Type: "Warning", Reason: "ReachedMaxRestarts", Message: message}}
	w.Outcomes = []Outcome{Failed}
}

func budget(maxRestarts, counted, inPlace int32) func(*Input) {
	return onJobSet(func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.MaxRestarts = maxRestarts
		js.Status.Restarts, js.Status.RestartsCountTowardsMax, js.Status.InPlaceRestarts = counted, counted, inPlace
	})
}

func ofAttempt(attempt string) func(*Input) {
	return func(in *Input) {
		for _, job := range in.Jobs {
			job.Labels["jobset.sigs.k8s.io/restart-attempt"] = attempt
		}
	}
}

func sawExit(in *Input) {
	in.FirstFailure = &Failure{Pod: "js-w-0-0", Container: "worker", ExitCode: 137, Node: "n1"}
}

// evicted: the first Pod has been told to stop, and its grace is not over.
func evicted(in *Input) {
	edit(in.Pods[in.Jobs[0].UID][0], func(pod *corev1.Pod) { pod.DeletionTimestamp = ptr.To(metav1.NewTime(now.Add(30 * time.Second))) })
}

func uncountedStop(in *Input) {
	edit(in.Pods[in.Jobs[0].UID][1], func(pod *corev1.Pod) { pod.DeletionTimestamp = ptr.To(metav1.NewTime(now.Add(3 * time.Second))) })
}

func TestBreak(t *testing.T) {
	t.Parallel()
	nothing := func(*summary) {}
	invalidBeside := func(w *summary) { broken(1, lost)(w); w.Invalid = []string{"js-w-0-0"} }
	terminates := onJob(1, func(job *batchv1.Job) { job.DeletionTimestamp = ptr.To(metav1.NewTime(now)) })
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P14: a whole group that runs is left alone":                     {inPlace(0, 1, "1 1"), nothing},
		"P14: a member that reports S+1 breaks, unconfirmed":             {inPlace(0, 1, "2 1"), broken(1, reported)},
		"P14: a member whose Pod still shows the restart before is none": {inPlace(1, 2, "2 2", stillShowsRestart), nothing},
		"P14: all members report S+1, which is a break before any lift":  {inPlace(0, 1, "2 2"), broken(1, reported)},
		"P14, C274: a member that reports above S+1 is not reported":     {inPlace(0, 1, "3 1"), nothing},
		"P14: a new member that has not reported yet breaks nothing":     {inPlace(0, 1, "_ 1"), nothing},
		"P14: a terminating Pod that reported S+1 is no member":          {inPlace(0, 1, "t2 1"), looksAgain(10 * time.Second)},
		"P14: a failed Pod that reported S+1, not counted: wait":         {inPlace(0, 1, "f2 1"), nothing},
		"P14: a live Pod beside a Succeeded one that reported S+1":       {inPlace(0, 1, "ok1 1", more(0, 0, "2")), nothing},
		"P14: a live Pod in a completed index that reported S+1":         {inPlace(0, 1, "2 1", onJob(0, func(job *batchv1.Job) { job.Status.CompletedIndexes = "0" })), nothing},
		"P14: a Pod that is gone is lost: confirm":                       {inPlace(0, 1, ". 1"), confirms("js-w-0")},
		"P14: a Pod that is gone is lost: confirmed":                     {inPlace(0, 1, ". 1", confirmed(0)), broken(1, lost)},
		"P14: a failed Pod with the finalizer is not lost yet":           {inPlace(0, 1, "f1 1", confirmed(0)), nothing},
		"P14: a failed Pod without the finalizer is lost: confirm":       {inPlace(0, 1, "F1 1"), confirms("js-w-0")},
		"P14: a failed Pod without the finalizer is lost: confirmed":     {inPlace(0, 1, "F1 1", confirmed(0)), broken(1, lost)},
		"P14: an evicted Pod, Failed inside its grace, not counted":      {inPlace(0, 1, "f1 1", confirmed(0), evicted), nothing},
		"P14: an evicted Pod is lost once counted, inside its grace too": {inPlace(0, 1, "F1 1", confirmed(0), evicted), broken(1, lost)},
		"P14: its replacement stands already: not lost":                  {inPlace(0, 1, "F1 1", more(0, 0, "_")), nothing},
		"P14: a failed Pod while FailureTarget says more to come":        {inPlace(0, 1, "F1 1", confirmed(0), onJob(0, withCondition(batchv1.JobFailureTarget))), nothing},
		"P14: a report while FailureTarget says more to come":            {inPlace(0, 1, "2 1", onJob(0, withCondition(batchv1.JobFailureTarget))), nothing},
		"P14: a report in one Job while another has FailureTarget":       {inPlace(0, 1, "2|1", onJob(1, withCondition(batchv1.JobFailureTarget))), nothing},
		"P14: a Pod inside its grace is not lost, look again at its end": {inPlace(0, 1, "t1 1", confirmed(0)), looksAgain(10 * time.Second)},
		"P14: of several Pods that stop the first end counts":            {inPlace(0, 1, "t1 t1", uncountedStop), looksAgain(3 * time.Second)},
		"P14: a Pod past its deletionTimestamp is lost: confirm":         {inPlace(0, 1, "T1 1"), confirms("js-w-0")},
		"P14: a Pod past its deletionTimestamp is lost: confirmed":       {inPlace(0, 1, "T1 1", confirmed(0)), broken(1, lost)},
		"P14: a Succeeded Pod past its deletionTimestamp is done": {inPlace(0, 1, "ok1 1", func(in *Input) {
			edit(in.Pods["js-w-0-uid"][0], func(pod *corev1.Pod) { pod.DeletionTimestamp = ptr.To(metav1.NewTime(past)) })
		}), nothing},
		"P14: the confirmation of another Job is not enough":             {inPlace(0, 1, "1|.", confirmed(0)), confirms("js-w-1")},
		"P14: the lost Job that comes first by name is confirmed first":  {inPlace(0, 1, ".|."), confirms("js-w-0")},
		"P14: only those who are lost are asked for":                     {inPlace(0, 1, "1 . f1 F1 t1 T1 ok1"), confirms("js-w-0", 1, 3, 5)},
		"P14: not those whom the Job has counted":                        {inPlace(0, 1, ". . . . .", onJob(0, func(job *batchv1.Job) { job.Status.CompletedIndexes = "0-1,3" })), confirms("js-w-0", 2, 4)},
		"P14: one of those asked for is still lost":                      {inPlace(0, 1, "1 .", confirmed(0, 0, 1)), broken(1, lost)},
		"P14: another than those asked for is lost: it is asked for too": {inPlace(0, 1, "1 .", confirmed(0, 0)), confirms("js-w-0", 1)},
		"P14: the one asked for is done, another is lost":                {inPlace(0, 1, ". .", confirmed(0, 0), onJob(0, func(job *batchv1.Job) { job.Status.CompletedIndexes = "0" })), confirms("js-w-0", 1)},
		"P14: the Job has no longer the index asked for":                 {inPlace(0, 1, ".", confirmed(0, 1)), confirms("js-w-0")},
		"P14: a report needs no confirmation of a loss beside it":        {inPlace(0, 1, "2 .", sawExit), broken(1, exited)},
		"P14: a completed index is not lost":                             {inPlace(0, 1, ". 1", onJob(0, func(job *batchv1.Job) { job.Status.CompletedIndexes = "0" })), nothing},
		"P14: an unreadable index is still to run, hence lost":           {inPlace(0, 1, ". 1", onJob(0, func(job *batchv1.Job) { job.Status.CompletedIndexes = "x,-1" })), confirms("js-w-0")},
		"P14: no break while the group assembles":                        {inPlace(1, 1, "2 .", confirmed(0, 1)), assembling},
		"P10: a Job that terminates has no slots to lose":                {inPlace(0, 1, "1|.", terminates, confirmed(1)), nothing},
		"P10: a report in a Job that terminates is nothing":              {inPlace(0, 1, "1|2", terminates), nothing},
		"P12: an invalid epoch is told while the group runs":             {inPlace(0, 1, "x 1"), func(w *summary) { w.Invalid = []string{"js-w-0-0"} }},
		"P12, C271: an invalid epoch hides no loss beside it":            {inPlace(0, 1, "x . 1", confirmed(0, 1)), invalidBeside},
		"P14: at the largest int32 nothing overflows":                    {inPlace(0, math.MaxInt32, "2147483647 1"), nothing},

		"P15, C293: maxRestarts 0 fails the JobSet":               {inPlace(0, 1, "2 1", budget(0, 0, 0)), outOfBudget},
		"P15: the first of one":                                   {inPlace(0, 1, "2 1", budget(1, 0, 0)), broken(1, reported)},
		"P15, C293: the second of one fails":                      {inPlace(1, 2, "3 2", budget(1, 0, 1)), outOfBudget},
		"P15: the last of three":                                  {inPlace(2, 3, "4 3", budget(3, 0, 2)), broken(3, reported)},
		"P15, C288: restarts of the whole JobSet draw on it":      {inPlace(1, 2, "3 2", budget(2, 1, 1), ofAttempt("1")), outOfBudget},
		"P15: the sum does not overflow":                          {inPlace(1, 2, "3 2", budget(math.MaxInt32, math.MaxInt32, 1), ofAttempt("2147483647")), outOfBudget},
		"P15: charged once for all Pods that failed":              {inPlace(0, 1, "2 2 2 1"), broken(1, reported)},
		"P15: charged once for failures of both kinds":            {inPlace(0, 1, "2 F1 . 1"), broken(1, reported)},
		"P15: not charged again while assembling":                 {inPlace(1, 1, "F1 2", budget(3, 0, 1)), assembling},
		"P15: without a budget a loss is confirmed too":           {inPlace(0, 1, ". 1", budget(0, 0, 0)), confirms("js-w-0")},
		"P15: a confirmed loss without a budget fails the JobSet": {inPlace(0, 1, ". 1", budget(0, 0, 0), confirmed(0)), outOfBudgetBy(lost)},
		"P21: the cause that was caught is told":                  {inPlace(0, 1, "2 1", sawExit), broken(1, exited)},

		"P20, C284: suspended: no break":                      {inPlace(1, 1, "2 .", suspend, suspendedAlready, confirmed(0, 1)), nothing},
		"C286: how often containers restarted is not counted": {inPlace(0, 1, "1 1", budget(0, 0, 0), restartedOften), nothing},
		"C286: not while the group comes back either":         {inPlace(1, 1, "2 1", budget(1, 0, 1), restartedOften), assembling},

		"P20: disabled by the annotation: no lift":                    {inPlace(1, 1, "2 2", disabled), nothing},
		"P20, C281: disabled by the annotation: no break by a report": {inPlace(0, 1, "2 1", disabled), nothing},
		"P20: disabled by the annotation: no break by a loss":         {inPlace(0, 1, ". 1", disabled, confirmed(0)), nothing},
		"P20: disabled by the annotation: no ladder":                  {inPlace(1, 1, "ok1 2", disabled), nothing},
		"P20: another strategy: no lift":                              {inPlace(1, 1, "2 2", recreate), nothing},
		"P20: another strategy: no break":                             {inPlace(0, 1, "2 .", recreate), nothing},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// restartedOften: a log shipper that crashes, say.
func restartedOften(in *Input) {
	editAll(in, func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "shipper", RestartCount: 99}, {Name: "worker", RestartCount: 99}}
		pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "agent", RestartCount: 99}}
	})
}

func recreate(in *Input) { in.JobSet.Spec.FailurePolicy.RestartStrategy = jobset.Recreate }

func suspendedAlready(in *Input) {
	for _, job := range in.Jobs {
		job.Spec.Suspend = ptr.To(true)
	}
	in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, builders.Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", past))
}

// stillShowsRestart: the kubelet clears the condition of a restart late, after
// the new agent has reported and even after the lift.
func stillShowsRestart(in *Input) {
	for _, pods := range in.Pods {
		edit(pods[0], func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.AllContainersRestarting, Status: corev1.ConditionTrue}}
		})
	}
}
