/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

const period = 10 * time.Minute

// sinceAgo lets the group come together since some time; Pods without a node wait for one.
func sinceAgo(ago time.Duration, changes ...func(*Input)) func(*Input) {
	return func(in *Input) {
		in.Progress.Assembly = period
		if ago > 0 {
			in.JobSet.Status.AssemblingSince = ptr.To(metav1.NewTime(now.Add(-ago)))
		}
		for _, of := range in.Pods {
			for _, pod := range of {
				pod.Spec.NodeName = "node-of-" + pod.Name
				pod.CreationTimestamp = metav1.NewTime(past)
			}
		}
		for _, change := range changes {
			change(in)
		}
	}
}

func onPod(job, i int, change func(*corev1.Pod)) func(*Input) {
	return func(in *Input) { change(in.Pods[in.Jobs[job].UID][i]) }
}

func TestGroupsThatDoNotComeTogether(t *testing.T) {
	t.Parallel()
	assembling := func(w *summary) { w.CountsInterval = time.Second }
	waits := func(left time.Duration) func(*summary) {
		return func(w *summary) { assembling(w); w.RequeueAfter = left }
	}
	deletes := func(missing, of, epoch int, pods ...string) func(*summary) {
		return func(w *summary) {
			waits(9 * time.Minute)(w)
			w.Pods = pods
			names := ""
			for i, pod := range pods {
				if i > 0 {
					names += ", "
				}
				names += pod
			}
			w.Told = []Event{{"Warning", "WorkersMissing", fmt.Sprintf(
				"%d of %d workers have not reported epoch %d within 10m0s; their Pods are deleted to be recreated: %s", missing, of, epoch, names)}}
		}
	}
	clock := func(since time.Time) func(*summary) {
		return func(w *summary) { w.Status.AssemblingSince = ptr.To(metav1.NewTime(since)) }
	}
	recreates := func(missing, of, epoch int, pods string) func(*summary) {
		return func(w *summary) {
			assembling(w)
			restartsBy("DefaultFailurePolicy", jobset.RestartJobSet, 1, "")(w)
			message := fmt.Sprintf("applying RestartJobSet failure policy action (%d of %d workers have not reported epoch %d within 20m0s: %s)", missing, of, epoch, pods)
			w.Status.Conditions[0].Message, w.Events[0].Message, w.Events[1].Message = message, message, message
			clock(now)(w)
		}
	}
	fresh := onPod(0, 1, func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(now) })
	unscheduled := onPod(0, 1, func(pod *corev1.Pod) { pod.Spec.NodeName = "" })
	bypassed := func(in *Input) { in.JobSet.Annotations = map[string]string{jobset.DisableInPlaceRestartKey: ""} }
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P24: the clock starts with the first start": {inPlace(0, 0, "1 _", sinceAgo(0)), func(w *summary) { assembling(w); clock(now)(w) }},
		"P24: the clock starts with the break": {inPlace(0, 1, "2 1", sinceAgo(0)), func(w *summary) {
			broken(1, reported)(w)
			clock(now)(w)
		}},
		"P24: the clock stops with the lift": {inPlace(1, 1, "2 2", sinceAgo(time.Minute)), func(w *summary) {
			assembling(w)
			w.Status.SyncedEpoch, w.Status.AssemblingSince = ptr.To[int32](2), nil
		}},
		"P24: nobody is waited for while the JobSet is suspended": {inPlace(1, 1, "2 1", sinceAgo(time.Hour, suspend), onJob(0, func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(true) })), func(w *summary) {
			isSuspended(w)
			w.Status.AssemblingSince = nil
		}},
		"P24: nobody is waited for while agents pass through": {inPlace(1, 1, "2 1", sinceAgo(time.Hour, bypassed)), func(w *summary) { w.Status.AssemblingSince = nil }},
		"P24: the first period is not over":                   {inPlace(1, 1, "2 1", sinceAgo(4*time.Minute)), waits(6 * time.Minute)},
		"P24: without a period the group waits for ever, and no clock is left behind": {inPlace(1, 1, "2 1", sinceAgo(time.Hour), func(in *Input) { in.Progress.Assembly = 0 }), func(w *summary) {
			assembling(w)
			w.Status.AssemblingSince = nil
		}},
		"P24: after a period who has not reported is deleted": {inPlace(1, 1, "2 1 _", sinceAgo(11*time.Minute)), deletes(2, 3, 2, "js-w-0-1", "js-w-0-2")},
		"P24: one that came since is not deleted again":       {inPlace(1, 1, "2 _", sinceAgo(11*time.Minute, fresh)), waits(9 * time.Minute)},
		"P24: one that waits for a node is not deleted":       {inPlace(1, 1, "2 _", sinceAgo(11*time.Minute, unscheduled)), waits(9 * time.Minute)},
		"P24: after two periods all Jobs are recreated":       {inPlace(1, 1, "2 _", sinceAgo(20*time.Minute)), recreates(1, 2, 2, "js-w-0-1")},
		"P24: after two periods, and its Pod is not there":    {inPlace(1, 1, "2 .", sinceAgo(20*time.Minute)), recreates(1, 2, 2, "no Pod is there")},
		"P24: a Pod stays on a lost node: the clock starts over": {inPlace(1, 1, "2 T1 _", sinceAgo(11*time.Minute)), func(w *summary) {
			deletes(2, 3, 2, "js-w-0-2")(w)
			w.RequeueAfter = period
			clock(now)(w)
		}},
		"P24: one that came late has a period of its own": {inPlace(1, 1, "2 _", sinceAgo(time.Hour, fresh)), waits(10 * time.Minute)},
		"P24: one that waits for a node is waited for":    {inPlace(1, 1, "2 _", sinceAgo(time.Hour, unscheduled)), assembling},
		"P24, P15: after two periods the budget is spent": {inPlace(1, 1, "2 _", sinceAgo(time.Hour), budget(3, 0, 3)), func(w *summary) {
			assembling(w)
			failsWith("ReachedMaxRestarts", "jobset failed due to reaching max number of restarts")(w)
			w.Status.AssemblingSince = nil
		}},
		"P24: the gate comes back, and nobody was waited for meanwhile": {inPlace(1, 1, "2 _", sinceAgo(time.Hour), onJobSet(func(js *jobset.JobSet) {
			js.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetInPlaceRestartDisabled, true, "FeatureGateDisabled", "m", past)}
		})), func(w *summary) {
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetInPlaceRestartDisabled, false, "FeatureGateEnabled", "feature gate InPlaceRestart is on", now)}
			clock(now)(w)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func TestPodsThatLostNodesHold(t *testing.T) {
	t.Parallel()
	// The Pod of slot 1 should have stopped ten minutes ago.
	held := func(deprecated int32, grace time.Duration, notReady bool) Input {
		return inPlace(deprecated, 1, "2 T1", func(in *Input) {
			in.Progress.ForcefulDeletion = grace
			pod := in.Pods[in.Jobs[0].UID][1]
			pod.DeletionTimestamp, pod.Spec.NodeName = ptr.To(metav1.NewTime(now.Add(-10*time.Minute))), "lost"
			in.NotReady = map[string]bool{"lost": notReady}
		})
	}
	assembling := func(w *summary) { w.CountsInterval = time.Second }
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P25: by default it is left to the node":  {held(1, 0, true), assembling},
		"P25: a node that is ready is waited for": {held(1, time.Minute, false), assembling},
		"P25: the grace is not over":              {held(1, 12*time.Minute, true), func(w *summary) { assembling(w); w.RequeueAfter = 2 * time.Minute }},
		"P25: the grace is over: it is deleted by force": {held(1, time.Minute, true), func(w *summary) {
			assembling(w)
			w.Pods = []string{"js-w-0-1!"}
			w.Told = []Event{{"Warning", "ForcefulDeletion",
				"1 worker Pods on nodes that are not ready should have stopped more than 1m0s ago; they are deleted by force: js-w-0-1"}}
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}
