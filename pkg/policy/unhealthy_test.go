/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/tolerance"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// pods gives the JobSet Jobs that started so long ago, with the Pods of a picture: "|" separates Jobs, words are Pods.
//
//	R  Running    F  Failed                     t  Running, and told to stop
//	P  Pending    S  Succeeded, not counted     .  there is no Pod
func pods(ago time.Duration, picture string, changes ...func(*Input)) Input {
	in := tolerant()
	in.Pods = map[types.UID][]*facts.Member{}
	groups := strings.Split(picture, "|")
	in.JobSet.Spec.ReplicatedJobs[0].Replicas = int32(len(groups))
	for j, words := range groups {
		size := len(strings.Fields(words))
		job := builders.MakeJob(in.JobSet, "w", j).Workers(int32(size)).Obj()
		job.Status.StartTime = ptr.To(metav1Time(now.Add(-ago)))
		in.Jobs = append(in.Jobs, job)
		for i, word := range strings.Fields(words) {
			if word == "." {
				continue
			}
			pod := builders.MakePod(job, i)
			switch word {
			case "P":
				pod.Phase(corev1.PodPending)
			case "F":
				pod.Phase(corev1.PodFailed).Counted()
			case "S":
				pod.Phase(corev1.PodSucceeded)
			case "t":
				pod.Terminating(now.Add(10 * time.Second))
			}
			in.Pods[job.UID] = append(in.Pods[job.UID], memberOf(pod.Obj()))
		}
	}
	in.JobSet.Status.FaultTolerance.CompleteAttempt = ptr.To[int64](0)
	for _, change := range changes {
		change(&in)
	}
	return in
}

// another Pod in the place of that of an index.
func another(j, index int, phase corev1.PodPhase) func(*Input) {
	return func(in *Input) {
		pod := builders.MakePod(in.Jobs[j], index).Phase(phase).Name("another").Obj()
		pod.UID = "another"
		in.Pods[in.Jobs[j].UID] = append(in.Pods[in.Jobs[j].UID], memberOf(pod))
	}
}

// unhealthySince: the condition has said so for so long.
func unhealthySince(ago time.Duration) func(*Input) {
	return func(in *Input) {
		in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, builders.Condition(jobset.JobSetUnhealthy, true, "PodsFailed", "m", now.Add(-ago)))
	}
}

// toldOf: the condition has said this for 40 s.
func toldOf(reason, message string) func(*Input) {
	return func(in *Input) {
		in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, builders.Condition(jobset.JobSetUnhealthy, true, reason, message, now.Add(-40*time.Second)))
	}
}

// upTo the end of both periods, one is 60 s and the other 300 s.
const bothPeriods = 6 * time.Minute

func TestUnhealthyPods(t *testing.T) {
	t.Parallel()
	waits := func(after time.Duration) func(*summary) { return func(w *summary) { w.RequeueAfter = after } }
	told := func(reason, message string) func(*summary) {
		return behindDeployed(func(w *summary) {
			message := message + "; waiting 1m0s for them"
			w.RequeueAfter = time.Minute
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetUnhealthy, true, reason, message, now)}
			w.Events, w.Outcomes = []Event{{Type: "Warning", Reason: reason, Message: message}}, []Outcome{BecameUnhealthy}
		})
	}
	heals := func(reason, message string) func(*summary) {
		return behindDeployed(func(w *summary) {
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetUnhealthy, false, reason, message, now)}
			w.Events = []Event{{Type: "Normal", Reason: reason, Message: message}}
		})
	}
	const notWatched = "the JobSet has ended, is reset or suspended, or its group restarts in place"
	resets := func(reason, message string) func(*summary) {
		return behindDeployed(func(w *summary) {
			message := "applying RestartJobSet failure policy action (" + message + " for more than 1m0s)"
			w.Status.Restarts, w.Status.RestartsCountTowardsMax, w.Restart = 1, 1, jobset.RestartJobSet
			w.Status.FaultTolerance.Reset = &jobset.ResetStatus{StartTime: metav1Time(now)}
			w.Status.Conditions = []metav1.Condition{
				builders.Condition(jobset.JobSetUnhealthy, false, "NotWatched", notWatched, now),
				builders.Condition(jobset.JobSetRestarting, true, reason, message, now),
			}
			w.Events = []Event{{Type: "Warning", Reason: reason, Message: message}, {Type: "Warning", Reason: "RestartJobSetFailurePolicyAction", Message: message}}
			w.Outcomes = []Outcome{WasReset}
		})
	}
	spent := behindDeployed(func(w *summary) {
		message := "jobset failed due to reaching max number of restarts (last failure: 1 of 2 Pods are Failed and not replaced for more than 1m0s)"
		failsWith("ReachedMaxRestarts", message)(w)
		w.Status.Conditions = append([]metav1.Condition{builders.Condition(jobset.JobSetUnhealthy, false, "NotWatched", notWatched, now)}, w.Status.Conditions...)
		w.Status.FaultTolerance.MaxRestarts = 0
	})
	stillReportedOf := func(generation int64) func(*summary) {
		return behindDeployed(func(w *summary) {
			w.RequeueAfter = 20 * time.Second
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetUnhealthy, true, "PodsNotRunning",
				"1 of 2 Pods are Running 6m0s after the start of their Jobs; waiting 1m0s for them", now.Add(-40*time.Second))}
			w.Status.Conditions[0].ObservedGeneration = generation
		})
	}
	edited := func(in *Input) { in.JobSet.Generation = 1 }
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P80: all run": {pods(time.Hour, "R R|R R"), nil},
		"P80: one is missing, and has time to come":               {pods(30*time.Second, "R R|R ."), waits(30 * time.Second)},
		"P80: one is missing, and its time is up":                 {pods(time.Minute, "R R|R ."), told("PodsMissing", "3 of 4 Pods exist 1m0s after the start of their Jobs")},
		"P80: a second before it is not":                          {pods(59*time.Second, "R R|R ."), waits(time.Second)},
		"P80: one does not run, and has time to":                  {pods(time.Minute, "R P"), waits(5 * time.Minute)},
		"P80: one does not run, and its time is up":               {pods(bothPeriods, "R P"), told("PodsNotRunning", "1 of 2 Pods are Running 6m0s after the start of their Jobs")},
		"P80: a second before it is not, either":                  {pods(bothPeriods-time.Second, "R P"), waits(time.Second)},
		"P80: one that is told to stop counts no more":            {pods(time.Hour, "R t"), told("PodsMissing", "1 of 2 Pods exist 1m0s after the start of their Jobs")},
		"P80: one that succeeded is done":                         {pods(time.Hour, "R S"), nil},
		"P80: a Failed one has no time":                           {pods(0, "R F"), told("PodsFailed", "1 of 2 Pods are Failed and not replaced")},
		"P80: a Failed one that is replaced is nothing":           {pods(time.Hour, "R F", another(0, 1, corev1.PodRunning)), nil},
		"P80: its successor has time to run":                      {pods(0, "R F", another(0, 1, corev1.PodPending)), waits(bothPeriods)},
		"P80: each Job has a clock of its own":                    {pods(time.Hour, "R R|. .", onJob(1, func(j *batchv1.Job) { j.Status.StartTime = ptr.To(metav1Time(now)) })), waits(time.Minute)},
		"P80: a Job that has not started has no Pods to wait for": {pods(0, ".", onJob(0, func(j *batchv1.Job) { j.Status.StartTime = nil })), nil},
		"P80: a Job that is suspended has none either": {pods(time.Hour, ". .", onJob(0, func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }), func(in *Input) { in.JobSet.Spec.Suspend = ptr.To(true) }), func(w *summary) {
			w.Status.Conditions = append(w.Status.Conditions, suspendedNow())
			w.Events = []Event{{Type: "Normal", Reason: "SuspendedJobs", Message: "jobset is suspended"}}
		}},
		"P80a: a Job that is about to be resumed has its first start behind it": {pods(time.Hour, ". .", onJob(0, withCondition(batchv1.JobSuspended))), nil},
		"P80a: even if 0 is the grace": {pods(time.Hour, ". .", onJob(0, withCondition(batchv1.JobSuspended)),
			tolerates(func(f *jobset.FaultTolerance) { f.FailureGracePeriodSeconds = ptr.To[int32](0) })), nil},
		"P80a: an index that failed for good is not expected":     {pods(time.Hour, "R F R", onJob(0, failedIndexes("1"))), nil},
		"P80a: the others are":                                    {pods(time.Hour, "R F .", onJob(0, failedIndexes("1"))), told("PodsMissing", "1 of 2 Pods exist 1m0s after the start of their Jobs")},
		"P80: a Job that is about to fail is up to others":        {pods(time.Hour, "F F", onJob(0, withCondition(batchv1.JobFailureTarget))), nil},
		"P80: a work queue wants nothing more when one succeeded": {pods(time.Hour, "S .", onJob(0, func(j *batchv1.Job) { j.Spec.Completions = nil })), nil},
		"P80: 0 is no grace":                                      {pods(time.Hour, "R F", tolerates(func(f *jobset.FaultTolerance) { f.FailureGracePeriodSeconds = ptr.To[int32](0) })), nil},
		"P80: healthy in time is forgotten":                       {pods(time.Hour, "R R", unhealthySince(59*time.Second)), heals("PodsHealthy", "2 of 2 Pods are Running")},
		"P80: numbers that change are not written":                {pods(time.Hour, "R P|R P", toldOf("PodsNotRunning", "1 of 4 Pods are Running 6m0s after the start of their Jobs; waiting 1m0s for them")), waits(20 * time.Second)},
		"P80: another trouble is, and is no news":                 {pods(time.Hour, "R P", unhealthySince(40*time.Second)), stillReportedOf(0)},
		"P80: so is another time that is waited for":              {pods(time.Hour, "R P", toldOf("PodsNotRunning", "0 of 2 Pods are Running 6m0s after the start of their Jobs; waiting 2m0s for them"), edited), stillReportedOf(1)},
		"P80, P82: too long is a reset":                           {pods(time.Hour, "R F", unhealthySince(time.Minute)), resets("PodsFailed", "1 of 2 Pods are Failed and not replaced")},
		"P80, P84: and the end, if none is left":                  {pods(time.Hour, "R F", unhealthySince(time.Minute), limitOf(0)), spent},
		"P80: gate off, nobody looks":                             {pods(time.Hour, "R F", gateOff), nobodyKeeps},
		"P84: suspended, nobody looks": {pods(time.Hour, "R R", unhealthySince(time.Hour), onJob(0, func(j *batchv1.Job) { j.Spec.Suspend = ptr.To(true) }), suspend), behindDeployed(func(w *summary) {
			heals("NotWatched", notWatched)(w)
			w.Status.Conditions = append(w.Status.Conditions[1:], suspendedNow())
			w.Events = append(w.Events, Event{Type: "Normal", Reason: "SuspendedJobs", Message: "jobset is suspended"})
		})},
	}
	noGrace := resets("PodsFailed", "1 of 2 Pods are Failed and not replaced")
	for name, tc := range tests {
		if name == "P80: 0 is no grace" {
			tc.want = func(w *summary) {
				noGrace(w)
				message := strings.Replace(w.Events[0].Message, "1m0s", "0s", 1)
				w.Status.Conditions = []metav1.Condition{deployed(), builders.Condition(jobset.JobSetRestarting, true, "PodsFailed", message, now)}
				w.Events[0].Message, w.Events[1].Message = message, message
			}
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// failedIndexes are those whose backoffLimitPerIndex is used up.
func failedIndexes(indexes string) func(*batchv1.Job) {
	return func(job *batchv1.Job) { job.Status.FailedIndexes = &indexes }
}

func suspendedNow() metav1.Condition {
	return builders.Condition(jobset.JobSetSuspended, true, "SuspendedJobs", "jobset is suspended", now)
}

// inPlaceTolerant makes a group that restarts in place one that tolerates faults, with a period of so long.
func inPlaceTolerant(warmup int32) func(*Input) {
	return func(in *Input) {
		in.JobSet.Spec.FaultTolerance = &jobset.FaultTolerance{WarmupGracePeriodSeconds: &warmup}
		in.JobSet.Status.FaultTolerance = &jobset.FaultToleranceStatus{MaxRestarts: 3, CompleteAttempt: ptr.To[int64](0)}
		in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, deployed())
		in.Gates.FaultTolerance, in.Tolerance, in.ServiceExists = true, tolerance.Builtin(), true
	}
}

// TestAGroupThatDoesNotAssembleIsReset: by the deadline of P24, and charged once.
func TestAGroupThatDoesNotAssembleIsReset(t *testing.T) {
	t.Parallel()
	isPending := onPod(0, 1, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodPending })
	for name, tc := range map[string]struct {
		in      Input
		charged int32
	}{
		"P80: at the start it is charged":                          {inPlace(0, 0, "1 _", sinceAgo(2*time.Hour)), 1},
		"P80, P82: its Pods cannot be created":                     {inPlace(0, 0, ". .", sinceAgo(2*time.Hour)), 1},
		"P80, P82: one is not created, or gone with its node":      {inPlace(0, 0, "1 .", sinceAgo(2*time.Hour)), 1},
		"P80, P82: one is Pending on its node":                     {inPlace(0, 0, "1 _", sinceAgo(2*time.Hour), isPending), 1},
		"P80, P82: one has failed and is not replaced":             {inPlace(0, 0, "1 F_", sinceAgo(2*time.Hour)), 1},
		"P80: after a break, which was charged, it is not charged": {inPlace(1, 1, "2 _", sinceAgo(2*time.Hour), brokeAgo(2*time.Hour)), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := tc.in
			inPlaceTolerant(1800)(&in)
			editAll(&in, func(pod *corev1.Pod) {
				pod.CreationTimestamp, pod.Spec.NodeName = metav1Time(now.Add(-2*time.Hour)), "node"
			})
			plan := decideOnce(t, in)
			got := fmt.Sprint(plan.Status.Restarts, plan.Status.RestartsCountTowardsMax, plan.Status.FaultTolerance.Reset != nil)
			if want := fmt.Sprint(1, tc.charged, true); got != want {
				t.Errorf("restarts, charged, reset: %s, want %s", got, want)
			}
		})
	}
}
