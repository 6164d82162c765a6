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

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
)

// noSandbox: a Pod of the first Job that had started has had no sandbox for so long.
func noSandbox(i int, ago time.Duration) func(*Input) {
	return func(in *Input) {
		noSandboxYet(i, ago)(in)
		onPod(0, i, func(pod *corev1.Pod) {
			pod.Status.Phase = corev1.PodRunning
			pod.Status.InitContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 255, Reason: "Unknown"},
			}}}
		})(in)
	}
}

// noSandboxYet: the status of a Pod of the first Job, written so long ago, is from before it had a sandbox.
func noSandboxYet(i int, ago time.Duration) func(*Input) {
	return onPod(0, i, func(pod *corev1.Pod) {
		pod.Spec.NodeName = "n1"
		pod.Status.Phase = corev1.PodPending
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionFalse, LastTransitionTime: metav1Time(now.Add(-ago)),
		})
	})
}

// shown: the status of a Pod of the first Job shows this of a container.
func shown(i int, status corev1.ContainerStatus) func(*Input) {
	return onPod(0, i, func(pod *corev1.Pod) { pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status) })
}

func TestAPodWithoutSandboxIsLost(t *testing.T) {
	t.Parallel()
	const cause = "worker pod js-w-0-0 lost its sandbox: node n1 restarted, or the runtime of the Pod was killed"
	unknown := corev1.ContainerStatus{Name: "worker", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 255, Reason: "Unknown"}}}
	waiting := func(reason string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "worker", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
	}
	restarting := onPod(0, 0, func(pod *corev1.Pod) {
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.AllContainersRestarting, Status: corev1.ConditionTrue})
	})
	deletes := func(w *summary) {
		looksAgain(pass.RecheckInterval)(w)
		assembling(w)
		w.Pods = []string{"js-w-0-0"}
		w.Told = []Event{{Type: corev1.EventTypeWarning, Reason: constants.WorkerReplacedReason, Message: "1 worker Pods lost their sandbox, as when their node restarts, and cannot start again; they are deleted to be recreated: js-w-0-0"}}
	}
	endUnseen := func(i int) func(*Input) {
		return func(in *Input) {
			in.FirstFailure = &Failure{Pod: fmt.Sprintf("js-w-0-%d", i), Container: "worker", ExitCode: 255, Node: "n1"}
		}
	}
	leaving := onPod(0, 0, func(pod *corev1.Pod) { pod.DeletionTimestamp = ptr.To(metav1Time(now.Add(time.Minute))) })
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P74: for 10 s: confirmed by a read first":                       {inPlace(0, 1, "1 1", noSandbox(0, 10*time.Second)), confirms("js-w-0", 0)},
		"P74: then the group breaks, and is charged":                     {inPlace(0, 1, "1 1", noSandbox(0, 10*time.Second), confirmed(0, 0)), broken(1, cause)},
		"P74: a failure that was seen before is the cause":               {inPlace(0, 1, "1 1", noSandbox(0, 10*time.Second), confirmed(0, 0), sawExit), broken(1, exited)},
		"P74: it is the cause if the runtime did not see the end either": {inPlace(0, 1, "1 1", noSandbox(0, 10*time.Second), confirmed(0, 0), endUnseen(0)), broken(1, cause)},
		"P74: so it is if another Pod lost its sandbox, too": {inPlace(0, 1, "1 1", noSandbox(0, 10*time.Second), noSandbox(1, 10*time.Second), confirmed(0, 0, 1), endUnseen(1)),
			broken(1, strings.Replace(cause, "js-w-0-0", "js-w-0-1", 1))},
		"P74: but not of another Pod": {inPlace(0, 1, "1 1", noSandbox(0, 10*time.Second), confirmed(0, 0), endUnseen(1)),
			broken(1, "container worker of worker pod js-w-0-1 exited with code 255 on node n1")},
		"P74: it is the cause when a peer restarts because of it":        {inPlace(0, 1, "1 2", noSandbox(0, 10*time.Second)), broken(1, cause)},
		"P74: no budget is left":                                         {inPlace(0, 1, "1 1", noSandbox(0, time.Minute), confirmed(0, 0), noMoreRestarts), outOfBudgetBy(cause)},
		"P74: not before: another look at the end of the 10 s":           {inPlace(0, 1, "1 1", noSandbox(0, 4*time.Second)), looksAgain(6 * time.Second)},
		"P74: while assembling it is deleted":                            {inPlace(1, 1, "1 2", noSandbox(0, 10*time.Second)), deletes},
		"P74: also if it had reported: the group is not lifted":          {inPlace(1, 1, "2 2", noSandbox(0, 10*time.Second)), deletes},
		"P74: and waited for":                                            {inPlace(1, 1, "2 2", noSandbox(0, 10*time.Second), leaving), assembling},
		"P74: at the first start, its agent had not reported":            {inPlace(0, 0, "_ 1", noSandbox(0, time.Minute), shown(0, unknown)), deletes},
		"P74: a Pod that has not started has none yet":                   {inPlace(0, 0, "_ 1", noSandboxYet(0, time.Minute), shown(0, waiting("ContainerCreating"))), assembling},
		"P74: nor has one whose agent reports before its kubelet writes": {inPlace(0, 0, "1 _", noSandboxYet(0, time.Minute), shown(0, waiting("PodInitializing"))), assembling},
		"P74: container mode: the kubelet makes another":                 {inPlace(0, 1, "1 1", noSandbox(0, time.Minute), restarting, shown(0, unknown)), nil},
		"P74: container mode: its containers wait for it":                {inPlace(0, 1, "1 1", noSandbox(0, time.Minute), shown(0, waiting("RestartingAllContainers"))), nil},
		"P74: a Pod about to succeed needs none":                         {inPlace(0, 1, "1 1", ended(0, 0, 0), noSandbox(0, time.Minute)), nil},
		"P74: bypassed, nothing":                                         {inPlace(0, 1, "1 1", noSandbox(0, time.Minute), disabled), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}
