/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// notReady makes a Pod not ready since some time, with containers that show these reasons to wait.
func notReady(ago time.Duration, reasons ...string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.NodeName = "n1"
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(now.Add(-ago))}}
		for _, reason := range reasons {
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: "worker",
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}})
		}
	}
}

// nodeSilent is a Pod as kube-controller-manager leaves it when its node stops reporting.
func nodeSilent(ago time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		notReady(ago)(pod)
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.ContainersReady, Status: corev1.ConditionTrue})
	}
}

func TestReadinessOf(t *testing.T) {
	t.Parallel()
	ended := func(code int32) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			notReady(time.Minute)(pod)
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{
				{Name: "helper", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}},
				{Name: "worker", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
			}
		}
	}
	tests := map[string]struct {
		change func(*corev1.Pod)
		want   facts.Readiness
		why    string
	}{
		"C373: nobody said anything": {func(*corev1.Pod) {}, facts.Ready, ""},
		"C373: it is ready": {func(pod *corev1.Pod) {
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
		}, facts.Ready, ""},
		"C373: its containers are created":                              {notReady(time.Minute, "PodInitializing", "ContainerCreating"), facts.Starting, "its containers have not started, or are not ready"},
		"C373: its image cannot be pulled":                              {notReady(time.Minute, "ImagePullBackOff"), facts.Blocked, "container worker waits: ImagePullBackOff"},
		"C373: the same, as the kubelet says it when it has just tried": {notReady(time.Minute, "ErrImagePull"), facts.Blocked, "container worker waits: ImagePullBackOff"},
		"C373: a ConfigMap is missing":                                  {notReady(time.Minute, "CreateContainerConfigError"), facts.Blocked, "container worker waits: CreateContainerConfigError"},
		"C373: its node is silent":                                      {nodeSilent(time.Minute), facts.NodeSilent, "its node has stopped reporting"},
		"C373: a readiness gate is not met, the node is well": {func(pod *corev1.Pod) {
			nodeSilent(time.Minute)(pod)
			pod.Status.Conditions[0].Reason = "ReadinessGatesNotReady"
		}, facts.Starting, "its containers have not started, or are not ready"},
		"C373: a container of several is done, so the Pod is never ready again": {ended(0), facts.Ready, ""},
		"C373: a container of several has failed":                               {ended(1), facts.Starting, "its containers have not started, or are not ready"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{}
			tc.change(pod)
			got := facts.Of(pod)
			if got.Readiness != tc.want || got.Readiness != facts.Ready && !got.UnreadySince.Equal(now.Add(-time.Minute)) {
				t.Errorf("got %q since %s, want %q", got.Readiness, got.UnreadySince, tc.want)
			}
			if got.Readiness != facts.Ready && WhyUnready(got) != tc.why {
				t.Errorf("why: %q, want %q", WhyUnready(got), tc.why)
			}
		})
	}
}

func TestWorkersThatDoNotRunAreReported(t *testing.T) {
	t.Parallel()
	patience := func(changes ...func(*Input)) func(*Input) {
		return func(in *Input) {
			in.Deadlines.NotReady = time.Minute
			for _, change := range changes {
				change(in)
			}
		}
	}
	told := func(in *Input) {
		in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions,
			builders.Condition(jobset.JobSetWorkersNotReady, true, "WorkersNotReady", "earlier", past))
	}
	lifted := func(ago time.Duration) func(*Input) {
		return func(in *Input) {
			in.JobSet.Status.LastSyncTime = ptr.To(metav1.NewTime(now.Add(-ago)))
		}
	}
	says := func(message string) func(*summary) {
		return func(w *summary) {
			w.CountsInterval = time.Second
			w.Status.Conditions = append(w.Status.Conditions, builders.Condition(jobset.JobSetWorkersNotReady, true, "WorkersNotReady", message, now))
			w.Events = []Event{{Type: "Warning", Reason: "WorkersNotReady", Message: message}}
		}
	}
	clears := func(reason, message string) func(*summary) {
		return func(w *summary) {
			for i := range w.Status.Conditions {
				if c := &w.Status.Conditions[i]; c.Type == string(jobset.JobSetWorkersNotReady) {
					*c = builders.Condition(jobset.JobSetWorkersNotReady, false, reason, message, now)
				}
			}
		}
	}
	looksIn := func(d time.Duration) func(*summary) { return func(w *summary) { w.RequeueAfter = d } }
	const pulled = "1 of 2 workers of epoch 1 not ready: js-w-0-1 on node n1 since 2026-03-14T11:59:00Z, container worker waits: ImagePullBackOff"
	const idle = "the group restarts, is suspended, not watched or has ended: no worker is expected to be ready"
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"C373: all run": {inPlace(0, 1, "1 1", patience()), nil},
		"C373: an image cannot be pulled, for a minute":      {inPlace(0, 1, "1 1", patience(onPod(0, 1, notReady(time.Minute, "ErrImagePull")))), says(pulled)},
		"C373: for less than a minute, it is looked at then": {inPlace(0, 1, "1 1", patience(onPod(0, 1, notReady(20*time.Second, "ErrImagePull")))), looksIn(40 * time.Second)},
		"C373: a node has been silent for a minute": {inPlace(0, 1, "1 1", patience(onPod(0, 0, nodeSilent(time.Minute)))),
			says("1 of 2 workers of epoch 1 not ready: js-w-0-0 on node n1 since 2026-03-14T11:59:00Z, its node has stopped reporting")},
		"C373: one that starts has five minutes":                                                 {inPlace(0, 1, "1 1", patience(lifted(time.Hour), onPod(0, 0, notReady(2*time.Minute, "ContainerCreating")))), looksIn(3 * time.Minute)},
		"C373: nothing tells when its group was let start: it may have been held until just now": {inPlace(0, 1, "1 1", patience(onPod(0, 0, notReady(time.Hour)))), nil},
		"C373: and is told of then": {inPlace(0, 1, "1 1", patience(lifted(time.Hour), onPod(0, 0, notReady(5*time.Minute)))),
			says("1 of 2 workers of epoch 1 not ready: js-w-0-0 on node n1 since 2026-03-14T11:55:00Z, its containers have not started, or are not ready")},
		"C373: the time that it was held at the barrier does not count": {inPlace(0, 1, "1 1", patience(lifted(10*time.Second), onPod(0, 1, notReady(time.Hour, "ErrImagePull")))), looksIn(50 * time.Second)},
		"C373: while the group assembles nobody is expected to run":     {inPlace(1, 1, "2 1", patience(onPod(0, 0, notReady(time.Hour, "ErrImagePull")))), func(w *summary) { w.CountsInterval = time.Second }},
		"C373: without a period nothing is said":                        {inPlace(0, 1, "1 1", onPod(0, 1, notReady(time.Hour, "ErrImagePull"))), nil},
		"C373: once it was told, more of it is no new event": {inPlace(0, 1, "1 1", patience(told, onPod(0, 1, notReady(time.Minute, "ErrImagePull")))), func(w *summary) {
			w.CountsInterval = time.Second
			w.Status.Conditions[0].Message = pulled
		}},
		"C373: all run again": {inPlace(0, 1, "1 1", patience(told)), func(w *summary) {
			clears("WorkersReady", "all 2 workers of epoch 1 are ready")(w)
			w.CountsInterval = time.Second
			w.Events = []Event{{Type: "Normal", Reason: "WorkersReady", Message: "all 2 workers of epoch 1 are ready"}}
		}},
		"C373: another has just stopped: nobody says that all run": {inPlace(0, 1, "1 1", patience(told, lifted(time.Hour), onPod(0, 1, notReady(0)))), looksIn(5 * time.Minute)},
		"C373: the Pod is evicted, and inside its grace: nobody says that all run": {inPlace(0, 1, "1 T1", patience(told, onPod(0, 1, func(pod *corev1.Pod) {
			nodeSilent(time.Hour)(pod)
			pod.DeletionTimestamp = ptr.To(metav1.NewTime(now.Add(time.Minute)))
		}))), looksIn(time.Minute)},
		"C373: the break takes it back, in the same write": {inPlace(0, 1, "2 1", patience(told, onPod(0, 1, notReady(time.Hour, "ErrImagePull")))), func(w *summary) {
			was := w.Status.Conditions
			broken(1, reported)(w)
			w.Status.Conditions = append(was, w.Status.Conditions...)
			clears("GroupNotRunning", idle)(w)
		}},
		"C373: and what is switched off": {inPlace(0, 1, "1 1", told), clears("GroupNotRunning", idle)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

func TestFivePodsThatAreNotReadyAreNamed(t *testing.T) {
	t.Parallel()
	in := inPlace(0, 1, strings.Repeat("1 ", 2000), func(in *Input) {
		in.Deadlines.NotReady = time.Minute
		editAll(in, notReady(time.Hour, "ImagePullBackOff"))
	})
	plan := decideOnce(t, in)
	if len(plan.Events) != 1 || !strings.HasPrefix(plan.Events[0].Message, "2000 of 2000 workers") || !strings.HasSuffix(plan.Events[0].Message, "; and 1995 more") {
		t.Errorf("C373: events are %v, want one that names five", plan.Events)
	}
	if plan.CountsInterval != 20*time.Second {
		t.Errorf("P22: it is written at a distance of %s, want that of counts", plan.CountsInterval)
	}
}
