/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// secondWorker is the second worker of the first Job, the one that has not reported.
const secondWorker = types.UID("js-w-0-1-uid")

// initRuns: an init container of the author runs in the Pod of the second worker.
var initRuns = onPod(0, 1, func(pod *corev1.Pod) {
	pod.Spec.InitContainers = []corev1.Container{{Name: "download"}}
	pod.Status.Phase = corev1.PodPending
	pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "download", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
})

// awaitsSandbox: the kubelet of the second worker has made no sandbox yet.
var awaitsSandbox = onPod(0, 1, func(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodPending
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse}}
})

// seenPreparing: the second worker was first seen being prepared so long ago, and no longer since some other time, 0 if it still was.
func seenPreparing(since, until time.Duration) func(*Input) {
	return func(in *Input) {
		at := Prepared{Since: now.Add(-since)}
		if until > 0 {
			at.Until = now.Add(-until)
		}
		in.Clock.Prepared = map[types.UID]Prepared{secondWorker: at}
	}
}

func notReadyNode(in *Input) { in.NotReady = map[string]bool{"node-of-js-w-0-1": true} }

func TestPodsThatArePrepared(t *testing.T) {
	t.Parallel()
	const overdue = 11 * time.Minute
	anHourAtMost := func(in *Input) { in.Deadlines.Preparation = time.Hour }
	type outcome struct {
		Stands   bool
		Deleted  int
		After    time.Duration
		Prepared map[types.UID]Prepared
	}
	begins, still := now, time.Time{}
	remembers := func(since, until time.Time) map[types.UID]Prepared {
		return map[types.UID]Prepared{secondWorker: {Since: since, Until: until}}
	}
	stands := func(since time.Time, left time.Duration) outcome {
		return outcome{Stands: true, After: left, Prepared: remembers(since, still)}
	}
	half := now.Add(-30 * time.Minute)
	for name, tc := range map[string]struct {
		pods string
		in   []func(*Input)
		want outcome
	}{
		"P48a: an init container that runs is waited for":                    {"2 _", []func(*Input){initRuns}, stands(begins, 30*time.Second)},
		"P48a: as long as it may run":                                        {"2 _", []func(*Input){initRuns, seenPreparing(30*time.Minute, 0)}, stands(half, 30*time.Second)},
		"P48a: another look when that is over":                               {"2 _", []func(*Input){initRuns, seenPreparing(time.Hour-time.Second, 0)}, stands(now.Add(time.Second-time.Hour), time.Second)},
		"P48a: then its period begins":                                       {"2 _", []func(*Input){initRuns, seenPreparing(time.Hour, 0)}, outcome{After: 9 * time.Minute, Prepared: remembers(now.Add(-time.Hour), now)}},
		"P48a: and ends":                                                     {"2 _", []func(*Input){initRuns, seenPreparing(71*time.Minute, 10*time.Minute)}, outcome{Deleted: 1, After: 9 * time.Minute, Prepared: remembers(now.Add(-71*time.Minute), now.Add(-10*time.Minute))}},
		"P48a: one that was prepared a moment ago has a period to report":    {"2 _", []func(*Input){seenPreparing(30*time.Minute, 0)}, outcome{After: 9 * time.Minute, Prepared: remembers(half, now)}},
		"P48a: and no longer":                                                {"2 _", []func(*Input){seenPreparing(30*time.Minute, 10*time.Minute)}, outcome{Deleted: 1, After: 9 * time.Minute, Prepared: remembers(half, now.Add(-10*time.Minute))}},
		"P48a: an image whose pull is retried":                               {"2 _", []func(*Input){pulls("ErrImagePull")}, stands(begins, 30*time.Second)},
		"P48a: and waits for the next try":                                   {"2 _", []func(*Input){pulls("ImagePullBackOff"), seenPreparing(30*time.Minute, 20*time.Minute)}, stands(half, 30*time.Second)},
		"P48a: a missing sandbox, volume or device for one period":           {"2 _", []func(*Input){awaitsSandbox, seenPreparing(9*time.Minute+50*time.Second, 0)}, stands(now.Add(-9*time.Minute-50*time.Second), 10*time.Second)},
		"P48a: and no longer: another node may have it":                      {"2 _", []func(*Input){awaitsSandbox, seenPreparing(21*time.Minute, 11*time.Minute)}, outcome{Deleted: 1, After: 9 * time.Minute, Prepared: remembers(now.Add(-21*time.Minute), now.Add(-11*time.Minute))}},
		"P48a: after the sandbox the images have the rest of their time":     {"2 _", []func(*Input){pulls("PodInitializing"), seenPreparing(30*time.Minute, 20*time.Minute)}, stands(half, 30*time.Second)},
		"P48a: nothing is waited for on a node that is not ready":            {"2 _", []func(*Input){awaitsSandbox, notReadyNode, seenPreparing(11*time.Minute, 11*time.Minute)}, outcome{Deleted: 1, After: 9 * time.Minute, Prepared: remembers(now.Add(-11*time.Minute), now.Add(-11*time.Minute))}},
		"P48a: nor is an init container, whose end such a node does not say": {"2 _", []func(*Input){initRuns, notReadyNode, seenPreparing(11*time.Minute, 11*time.Minute)}, outcome{Deleted: 1, After: 9 * time.Minute, Prepared: remembers(now.Add(-11*time.Minute), now.Add(-11*time.Minute))}},
		"P48a: with 0 nothing is waited for":                                 {"2 _", []func(*Input){initRuns, func(in *Input) { in.Deadlines.Preparation = 0 }, seenPreparing(11*time.Minute, 11*time.Minute)}, outcome{Deleted: 1, After: 9 * time.Minute, Prepared: remembers(now.Add(-11*time.Minute), now.Add(-11*time.Minute))}},
		"P48a: who has reported is not prepared":                             {"2 2", []func(*Input){initRuns, seenPreparing(time.Minute, 0)}, outcome{Prepared: map[types.UID]Prepared{}}},
		"P48a: a group that runs forgets it":                                 {"1 1", []func(*Input){func(in *Input) { *in.JobSet.Status.DeprecatedEpoch = 0 }, initRuns, seenPreparing(time.Minute, 0)}, outcome{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := inPlace(1, 1, tc.pods, append([]func(*Input){sinceAgo(overdue), anHourAtMost}, tc.in...)...)
			plan := decideOnce(t, in)
			got := outcome{Stands: plan.ClockStands, Deleted: len(plan.Of(DeletePod)), After: plan.RequeueAfter, Prepared: plan.Prepared}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestPreparationEndsLate plays an init container that outlasts the period, twice as long, and a worker that reports then.
func TestPreparationEndsLate(t *testing.T) {
	t.Parallel()
	in := inPlace(0, 0, "1 _", sinceAgo(time.Second, initRuns))
	onPod(0, 1, func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(now) })(&in)
	var stood time.Duration
	for at := time.Duration(0); at <= 45*time.Minute; at += 15 * time.Second {
		if in.Now = now.Add(at); at == 20*time.Minute {
			onPod(0, 1, func(pod *corev1.Pod) { pod.Status.InitContainerStatuses, pod.Status.Phase = nil, corev1.PodRunning })(&in)
		}
		in.Clock.Stood = stood
		plan := decideOnce(t, in)
		if late := plan.Does(DeletePod); late != (at >= 30*time.Minute) {
			t.Fatalf("P48a: after %s, %d Pods are deleted", at, len(plan.Of(DeletePod)))
		} else if late {
			return
		}
		if plan.ClockStands {
			stood += 15 * time.Second
		}
		in.Clock.Prepared = plan.Prepared
	}
	t.Error("P48a: it is never late")
}
