/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// leavingFor: the Pod should have been gone so long ago.
func leavingFor(j, i int, ago time.Duration) func(*Input) {
	return func(in *Input) {
		edit(in.Pods[in.Jobs[j].UID][i], func(pod *corev1.Pod) { pod.DeletionTimestamp = ptr.To(metav1Time(now.Add(-ago))) })
	}
}

// ends makes the JobSet one that finished so long ago.
func ends(as jobset.JobSetConditionType, ago time.Duration) func(*Input) {
	return func(in *Input) {
		in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, builders.Condition(as, true, "R", "m", now.Add(-ago)))
		in.JobSet.Status.TerminalState = string(as)
	}
}

// onSilentNode: the second Pod is on a node that was silent for so long, and the JobSet waits 25 s for such Pods.
func onSilentNode(ago time.Duration) func(*Input) {
	return func(in *Input) {
		in.JobSet.Spec.FaultTolerance.LostNode = &jobset.LostNodePolicy{ReplaceAfterSeconds: ptr.To[int32](25)}
		edit(in.Pods[in.Jobs[0].UID][1], func(pod *corev1.Pod) { pod.Spec.NodeName = "n1" })
		in.Heard = map[string]facts.Heard{"n1": {Version: "1", From: now.Add(-ago), To: now}}
	}
}

func TestOverdueIsDeletedByForce(t *testing.T) {
	t.Parallel()
	const grace = 10 * time.Minute
	waits := func(after time.Duration) func(*summary) { return func(w *summary) { w.RequeueAfter = after } }
	goes := func(pods ...string) func(*summary) {
		return func(w *summary) {
			w.Outcomes, w.RequeueAfter = []Outcome{DeletedByForce}, pass.RecheckInterval
			for _, pod := range pods {
				w.Pods = append(w.Pods, pod+"!")
			}
			w.Told = []Event{{Type: "Warning", Reason: "ForcefulDeletion", Message: "1 Pods should have stopped more than 10m0s ago; they are deleted by force: " + pods[0]}}
		}
	}
	replaced := another(0, 1, corev1.PodRunning)
	foreground := func(ago time.Duration) func(*Input) {
		return func(in *Input) {
			job := in.Jobs[0]
			job.DeletionTimestamp, job.Finalizers = ptr.To(metav1Time(now.Add(-ago))), []string{metav1.FinalizerDeleteDependents}
		}
	}
	noPods := func(in *Input) { in.Pods = nil }
	withoutGrace := func(in *Input) {
		edit(in.Pods[in.Jobs[0].UID][1], func(pod *corev1.Pod) { pod.DeletionGracePeriodSeconds = ptr.To[int64](0) })
	}
	stray := func(in *Input) {
		in.Strays, in.Pods[in.Jobs[0].UID] = in.Pods[in.Jobs[0].UID][1:2], append(in.Pods[in.Jobs[0].UID][:1:1], in.Pods[in.Jobs[0].UID][2:]...)
	}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P85: a Pod that stops has its time":                  {pods(time.Hour, "R R", replaced, leavingFor(0, 1, grace-time.Second)), waits(time.Second)},
		"P85: then it is deleted by force, whatever its node": {pods(time.Hour, "R R", replaced, leavingFor(0, 1, grace)), goes("js-w-0-1")},
		"P85: once": {pods(time.Hour, "R R", replaced, leavingFor(0, 1, grace), withoutGrace, func(in *Input) {
			edit(in.Pods[in.Jobs[0].UID][1], func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed })
		}), nil},
		"P85: one that was deleted without grace, and that its Job keeps, too": {pods(time.Hour, "R R", replaced, leavingFor(0, 1, grace), withoutGrace), goes("js-w-0-1")},
		"P85: but not one that only others keep": {pods(time.Hour, "R R", replaced, leavingFor(0, 1, grace), withoutGrace, func(in *Input) {
			edit(in.Pods[in.Jobs[0].UID][1], func(pod *corev1.Pod) { pod.Finalizers = []string{"example.com/other"} })
		}), nil},
		"P177: one on a silent node, once its own time is over": {pods(time.Hour, "R R", replaced, leavingFor(0, 1, 25*time.Second), onSilentNode(25*time.Second)),
			func(w *summary) {
				goes("js-w-0-1")(w)
				w.Told = []Event{{Type: "Warning", Reason: "ForcefulDeletion", Message: "1 Pods should have stopped, and their nodes are silent (n1); they are deleted by force: js-w-0-1"}}
			}},
		"P177: not before":                            {pods(time.Hour, "R R", replaced, leavingFor(0, 1, 24*time.Second), onSilentNode(25*time.Second)), waits(time.Second)},
		"P177: nor on a node that is heard":           {pods(time.Hour, "R R", replaced, leavingFor(0, 1, time.Minute), onSilentNode(20*time.Second)), waits(5 * time.Second)},
		"P177: nor while it has its grace":            {pods(time.Hour, "R R", replaced, leavingFor(0, 1, -time.Second), onSilentNode(time.Minute)), waits(time.Second)},
		"P177: nor if the JobSet does not ask for it": {pods(time.Hour, "R R", replaced, leavingFor(0, 1, time.Minute), onSilentNode(time.Minute), func(in *Input) { in.JobSet.Spec.FaultTolerance.LostNode = nil }), waits(grace - time.Minute)},
		"P85: a Pod whose Job is gone, too":           {pods(time.Hour, "R R", replaced, leavingFor(0, 1, grace), stray), goes("js-w-0-1")},
		"P85: a cluster may switch it off":            {pods(time.Hour, "R R", replaced, leavingFor(0, 1, grace), func(in *Input) { in.Tolerance.NoForce = true }), nil},
		"P85: gate off, nothing is":                   {pods(time.Hour, "R R", replaced, leavingFor(0, 1, grace), gateOff), nobodyKeeps},
		"P85: when the JobSet has ended, too": {pods(time.Hour, "R R", replaced, leavingFor(0, 1, grace), foreground(0), ends(jobset.JobSetFailed, time.Hour)),
			goes("js-w-0-1")},
		"P85: a Job without Pods has its time": {pods(time.Hour, "R", noPods, foreground(grace-time.Second)), waits(time.Second)},
		"P85: then it is deleted by force":     {pods(time.Hour, "R", noPods, foreground(grace)), func(w *summary) { w.Forces, w.Outcomes = []string{"js-w-0"}, []Outcome{DeletedByForce} }},
		"P85: one with Pods is not":            {pods(time.Hour, "R", foreground(grace)), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func TestFinishedJobsAreKept(t *testing.T) {
	t.Parallel()
	keeps := tolerates(func(f *jobset.FaultTolerance) { f.DeletionOnFailureGracePeriodSeconds = ptr.To[int32](60) })
	deletes := func(w *summary) { w.Deletes = []string{"js-w-0"} }
	until := now.Add(20 * time.Second)
	kept := func(w *summary) {
		w.RequeueAfter, w.Status.FaultTolerance.PodsKeptUntil = 20*time.Second, ptr.To(metav1Time(until))
	}
	noted := func(in *Input) { in.JobSet.Status.FaultTolerance.PodsKeptUntil = ptr.To(metav1Time(until)) }
	ttl := func(seconds int32) func(*Input) {
		return tolerates(func(f *jobset.FaultTolerance) { f.SuccessTTLSeconds = &seconds })
	}
	over := func(in *Input) {
		editAll(in, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded })
		in.Jobs[0].Status.Conditions = builders.MakeJob(in.JobSet, "w", 0).Complete().Obj().Status.Conditions
		in.JobSet.Status.Conditions[0].Status = metav1.ConditionFalse // ResourcesDeployed
	}
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P87: without a delay what runs is deleted at once": {pods(time.Hour, "R R", ends(jobset.JobSetFailed, 0)), deletes},
		"P87: with one it is kept, and that is told": {pods(time.Hour, "R R", keeps, ends(jobset.JobSetFailed, 40*time.Second)), func(w *summary) {
			kept(w)
			w.Events = []Event{{Type: "Normal", Reason: "PodsKept", Message: "1 Jobs that run are kept for 1m0s, until 2026-03-14T12:00:20Z, so that their Pods can be inspected"}}
		}},
		"P87: which is told once": {pods(time.Hour, "R R", keeps, noted, ends(jobset.JobSetFailed, 40*time.Second)), kept},
		"P87: then it is deleted": {pods(time.Hour, "R R", keeps, noted, ends(jobset.JobSetFailed, time.Minute)), func(w *summary) {
			deletes(w)
			w.Status.FaultTolerance.PodsKeptUntil = nil
		}},
		"P87: if no Job runs, nothing is kept or told": {pods(time.Hour, "R R", over, keeps, ends(jobset.JobSetFailed, 40*time.Second)), nil},
		"P87: nor from when the last has ended": {pods(time.Hour, "R R", over, keeps, noted, ends(jobset.JobSetFailed, 40*time.Second)), func(w *summary) {
			w.Status.FaultTolerance.PodsKeptUntil = nil
		}},
		"P87: completion keeps nothing that runs":   {pods(time.Hour, "R R", keeps, ends(jobset.JobSetCompleted, 0)), func(w *summary) { deletes(w); w.RequeueAfter = 7 * 24 * time.Hour }},
		"P88: Jobs that ended are kept for a while": {pods(time.Hour, "R R", over, ttl(60), ends(jobset.JobSetCompleted, 59*time.Second)), func(w *summary) { w.RequeueAfter = time.Second }},
		"P88: then they are deleted, and the JobSet is not": {pods(time.Hour, "R R", over, ttl(60), ends(jobset.JobSetCompleted, time.Minute)), func(w *summary) {
			deletes(w)
			w.Told = []Event{{Type: "Normal", Reason: "SuccessTTLExpired", Message: "the JobSet completed 1m0s ago: its 1 Jobs are deleted, and it stays"}}
		}},
		"P88: with the time to live of the JobSet the earlier wins": {pods(time.Hour, "R R", over, ttl(60), ends(jobset.JobSetCompleted, 30*time.Second), func(in *Input) {
			in.JobSet.Spec.TTLSecondsAfterFinished = ptr.To[int32](20)
		}), func(w *summary) { w.RequeueAfter, w.DeleteJobSet = 30*time.Second, true }},
		"P88: gate off, they stay": {pods(time.Hour, "R R", over, ttl(0), ends(jobset.JobSetCompleted, time.Minute), gateOff), func(w *summary) {
			nobodyKeeps(w)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func TestDeletedJobs(t *testing.T) {
	t.Parallel()
	complete := func(n int64) func(*Input) {
		return func(in *Input) { in.JobSet.Status.FaultTolerance.CompleteAttempt = &n }
	}
	const message = "1 Jobs of the running attempt were deleted, and not by the JobSet controller (first: js-w-1)"
	creates := func(w *summary) { w.Creates = [][]string{{"js-w-1"}} }
	counted := func(n int64) func(*summary) {
		return func(w *summary) { w.Status.FaultTolerance.CompleteAttempt = &n }
	}
	ttl := func(in *Input) {
		in.JobSet.Spec.ReplicatedJobs[0].Template.Spec.TTLSecondsAfterFinished = ptr.To[int32](0)
	}
	restarted := func(in *Input) { in.JobSet.Status.Restarts = 1 }
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P81: that all Jobs exist is recorded":                     {tolerant(has(0, 0, 1)), counted(0)},
		"P81: of each attempt":                                     {tolerant(restarted, complete(0), has(1, 0, 1)), counted(1)},
		"P81: once":                                                {tolerant(restarted, complete(1), has(1, 0, 1)), nil},
		"P81: a Job that was not created yet is created":           {tolerant(has(0, 0)), creates},
		"P81: so is one of the next attempt":                       {tolerant(restarted, complete(0), has(1, 0)), creates},
		"P81: a deleted Job is confirmed past the cache":           {tolerant(complete(0), has(0, 0)), func(w *summary) { w.Reads = true }},
		"P81: and then fails the JobSet, whatever the limit":       {tolerant(complete(0), has(0, 0), read), behindDeployed(failsWith("ChildJobDeleted", message))},
		"P81: a Job with a time to live of its own may be missing": {tolerant(complete(0), ttl, has(0, 0)), creates},
		"P81: suspended, it is created again": {tolerant(complete(0), has(0, 0), suspend), func(w *summary) {
			creates(w)
			w.Suspends = []string{"js-w-0"}
			w.Status.FaultTolerance.CompleteAttempt = nil
			w.Status.Conditions = append(w.Status.Conditions, suspendedNow())
			w.Events = []Event{{Type: "Normal", Reason: "SuspendedJobs", Message: "jobset is suspended"}}
		}},
		"P81: gate off, it is created again": {tolerant(complete(0), has(0, 0), gateOff), func(w *summary) { creates(w); nobodyKeeps(w) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestAJobDeletedWhileSuspended disappears only after the JobSet was resumed.
func TestAJobDeletedWhileSuspended(t *testing.T) {
	t.Parallel()
	for name, seen := range map[string]bool{
		"P81: it is created again": true,
		"P81: also if no pass saw the JobSet suspended since it was deleted": false,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := tolerant(has(0, 0, 1), suspend, read)
			in.JobSet.Status.FaultTolerance.CompleteAttempt = ptr.To[int64](0)
			in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, suspendedNow())
			for _, job := range in.Jobs {
				job.Spec.Suspend = ptr.To(true)
			}
			in.Jobs[1].DeletionTimestamp = ptr.To(metav1Time(now))
			pass := func() summary {
				plan := decideOnce(t, in)
				in.JobSet.Status = plan.Status
				return summarize(plan)
			}
			if seen {
				pass()
			}
			resume(&in)
			pass() // that the JobSet uses resources may have to be written first (P86)
			pass()
			in.Jobs = in.Jobs[:1]
			last := pass()
			if got := fmt.Sprint(last.Creates, last.Status.TerminalState); got != "[[js-w-1]]" {
				t.Errorf("creates, and ends as: %s, want [[js-w-1]] and no end", got)
			}
		})
	}
}

func TestResourcesDeployed(t *testing.T) {
	t.Parallel()
	fresh := func(in *Input) { in.JobSet.Status.Conditions = nil }
	says := func(in bool, reason, message string) func(*summary) {
		return func(w *summary) {
			w.Status.Conditions = append([]metav1.Condition{builders.Condition(jobset.JobSetResourcesDeployed, in, reason, message, now)}, w.Status.Conditions[min(1, len(w.Status.Conditions)):]...)
			w.Events = append(w.Events, Event{Type: "Normal", Reason: reason, Message: message})
		}
	}
	inUse := says(true, "ResourcesInUse", "Jobs of the JobSet may run Pods")
	asleep := func(in *Input) {
		for _, job := range in.Jobs {
			job.Spec.Suspend, job.Status.StartTime = ptr.To(true), nil
		}
	}
	stays := func(*summary) {}
	wakes := func(w *summary) { inUse(w); w.Events = w.Events[:1] }
	released := func(left string) func(*summary) {
		return says(false, "ResourcesReleased", "0 Pods run and 0 of "+left+" Jobs may start any")
	}
	isAsleep := func(in *Input) {
		suspend(in)
		in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, suspendedNow())
	}
	gonePods := func(in *Input) { in.Pods = map[types.UID][]*facts.Member{} }
	strayOf := func(in *Input) { in.Strays, in.Pods = in.Pods[in.Jobs[0].UID][:1], nil }
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P86: True comes before the first Job":                           {tolerant(fresh), inUse},
		"P86: then the Jobs":                                             {tolerant(), func(w *summary) { w.Creates = [][]string{{"js-w-0", "js-w-1"}} }},
		"P86: Jobs that are created suspended use nothing":               {tolerant(fresh, isAsleep), func(w *summary) { w.Creates = [][]string{{"js-w-0", "js-w-1"}} }},
		"P86: True comes before they are resumed":                        {pods(time.Hour, "R", fresh, gonePods, asleep), wakes},
		"P86: a JobSet that runs already says so when it asks":           {pods(time.Hour, "R", fresh), inUse},
		"P86: suspended, while a Pod lives it stays True":                {pods(time.Hour, "R", asleep, isAsleep), stays},
		"P86: a Pod whose Job is gone lives, too":                        {pods(time.Hour, "R", asleep, isAsleep, strayOf), stays},
		"P86: that nothing runs is confirmed past the cache":             {pods(time.Hour, "R", asleep, isAsleep, gonePods), func(w *summary) { w.Reads = true }},
		"P86: and then it is False":                                      {pods(time.Hour, "R", asleep, isAsleep, gonePods, read), released("1")},
		"P86: a Pod that is found past the cache keeps it True":          {pods(time.Hour, "R", asleep, isAsleep, read), stays},
		"P86: failed, while a Job may start Pods it stays True":          {pods(time.Hour, "R", gonePods, read, ends(jobset.JobSetFailed, 0)), func(w *summary) { w.Deletes = []string{"js-w-0"} }},
		"P86: failed, and nothing is left":                               {tolerant(read, ends(jobset.JobSetFailed, 0)), released("0")},
		"P86: completed, Pods that ended use nothing":                    {pods(time.Hour, "S", read, onJob(0, withCondition("Complete")), ends(jobset.JobSetCompleted, 0)), func(w *summary) { released("1")(w); w.RequeueAfter = 7 * 24 * time.Hour }},
		"P86: it stays True through a reset":                             {tolerant(afterReset(time.Hour, -1), has(0, 0, 1)), func(w *summary) { w.Deletes = []string{"js-w-0", "js-w-1"} }},
		"P86: without a Job it stays True as long as the JobSet goes on": {tolerant(read), func(w *summary) { w.Creates = [][]string{{"js-w-0", "js-w-1"}} }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}
