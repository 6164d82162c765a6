/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/constants"
)

// TestASuccessThatDoesNotCome: a break is held back for it until its Pod has had its grace period and a minute.
func TestASuccessThatDoesNotCome(t *testing.T) {
	t.Parallel()
	const (
		done  = `{"container":"worker","epoch":1,"code":0,"time":"2026-03-14T11:59:00Z","done":true}`
		cause = "worker pod js-w-1-0 restarted, its exit code was not seen"
		proxy = "the workers of Pod js-w-0-0 are done, but a failure was held back for 1m30s to let the Pod succeed, and is now handled; " +
			"container proxy keeps running: let it end with the worker, or make it an init container with restartPolicy Always"
		node = "the workers of Pod js-w-0-0 are done, but a failure was held back for 1m30s to let the Pod succeed, and is now handled; " +
			"node n1 does not report that the Pod has ended"
	)
	kept := onPod(0, 0, func(pod *corev1.Pod) {
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{
			{Name: "worker", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}},
			{Name: "proxy", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
		}
	})
	pendingFor := func(d time.Duration) func(*Input) { return func(in *Input) { in.PendingSince = in.Now.Add(-d) } }
	grace := func(seconds int64) func(*Input) {
		return func(in *Input) { in.Jobs[0].Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To(seconds) }
	}
	waits := func(left time.Duration) func(*summary) { return func(w *summary) { w.RequeueAfter = left } }
	told := func(message string, then func(*summary)) func(*summary) {
		return func(w *summary) {
			then(w)
			w.Events = append([]Event{{Type: "Warning", Reason: constants.SuccessOverdueReason, Message: message}}, w.Events...)
		}
	}
	breaks := broken(1, cause)
	for name, tc := range map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P45d: a container beside the workers keeps the Pod": {inPlace(0, 1, "1|2", driven, exitReport(0, done), kept), waits(90 * time.Second)},
		"P45d: for its grace period and a minute":            {inPlace(0, 1, "1|2", driven, exitReport(0, done), kept, grace(600), pendingFor(time.Minute)), waits(10 * time.Minute)},
		"P45d: not yet": {inPlace(0, 1, "1|2", driven, exitReport(0, done), kept, pendingFor(89*time.Second)), waits(time.Second)},
		"P45d: then the group breaks, and an event says why":     {inPlace(0, 1, "1|2", driven, exitReport(0, done), kept, pendingFor(90*time.Second)), told(proxy, breaks)},
		"P45d: all containers have ended, and the node is quiet": {inPlace(0, 1, "1|2", driven, exitReport(0, done), ended(0, 0, 0), pendingFor(90*time.Second)), told(node, breaks)},
		"P45d: nor does a drastic break wait any longer":         {inPlace(0, 1, "1|2", driven, exitReport(0, done), kept, noMoreRestarts, heldFor(time.Minute), pendingFor(90*time.Second)), told(proxy, outOfBudgetBy(cause))},
		"P45d: one that has succeeded is waited for":             {inPlace(0, 1, "ok1|2", driven, pendingFor(time.Hour)), nil},
		"P45d: a Job that only counts is waited for":             {inPlace(0, 1, "1|2", driven, onJob(0, withCondition("SuccessCriteriaMet")), pendingFor(time.Hour)), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
	t.Run("P45d: the wait is remembered until the break is written", func(t *testing.T) {
		t.Parallel()
		for _, in := range []Input{inPlace(0, 1, "1|2", driven, exitReport(0, done), kept), inPlace(0, 1, "1|2", driven, exitReport(0, done), kept, pendingFor(time.Hour))} {
			if !decideOnce(t, in).Pending {
				t.Error("the plan is not Pending")
			}
		}
		if decideOnce(t, inPlace(0, 1, "1|1", driven, exitReport(0, done), kept)).Pending {
			t.Error("a plan without a break is Pending")
		}
	})
}
