/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func TestAPodThatPulls(t *testing.T) {
	t.Parallel()
	waits := func(reason string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
	}
	runs := func(started bool) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "agent", Started: ptr.To(started), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	}
	done := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	prepares := runs(true)
	prepares.Name = "prepare"
	type statuses = []corev1.ContainerStatus
	for name, tc := range map[string]struct {
		sandbox      corev1.ConditionStatus
		init, worker statuses
		want         bool
	}{
		"the image of the worker, behind an agent that runs":                  {"True", statuses{done, runs(true)}, statuses{waits("PodInitializing")}, true},
		"the image of the agent":                                              {"True", statuses{done, waits("PodInitializing")}, statuses{waits("PodInitializing")}, true},
		"the image of one worker of two":                                      {"True", statuses{runs(true)}, statuses{runs(true), waits("PodInitializing")}, true},
		"an init container that runs is no pull, though it counts as started": {"True", statuses{prepares, waits("PodInitializing")}, statuses{waits("PodInitializing")}, false},
		"nor is one that has not":                                             {"True", statuses{runs(false), waits("PodInitializing")}, statuses{waits("PodInitializing")}, false},
		"nor is an agent that holds the workers back":                         {"True", statuses{runs(false)}, statuses{waits("PodInitializing")}, false},
		"a kubelet that cannot pull says so":                                  {"True", statuses{runs(true)}, statuses{waits("ErrImagePull")}, false},
		"without a sandbox it is a volume or the network":                     {"False", statuses{waits("PodInitializing")}, statuses{waits("PodInitializing")}, false},
		"where kubelets do not report sandboxes, nothing is known":            {"", statuses{waits("PodInitializing")}, statuses{waits("PodInitializing")}, false},
		"all run": {"True", statuses{runs(true)}, statuses{runs(true)}, false},
	} {
		t.Run("P48: "+name, func(t *testing.T) {
			t.Parallel()
			always := corev1.ContainerRestartPolicyAlways
			spec := corev1.PodSpec{InitContainers: []corev1.Container{{Name: "prepare"}, {Name: "agent", RestartPolicy: &always}}}
			pod := &corev1.Pod{Spec: spec, Status: corev1.PodStatus{Phase: corev1.PodPending, InitContainerStatuses: tc.init, ContainerStatuses: tc.worker}}
			if tc.sandbox != "" {
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: tc.sandbox}}
			}
			if got := Of(pod).Pulling; got != tc.want {
				t.Errorf("pulling is %t, want %t", got, tc.want)
			}
			pod.Status.Phase = corev1.PodRunning
			if Of(pod).Pulling {
				t.Error("a Pod that runs pulls nothing")
			}
		})
	}
}

// TestAPodInProcessModeThatPulls: its agent runs and copies the supervisor before the images of the workers are there.
func TestAPodInProcessModeThatPulls(t *testing.T) {
	t.Parallel()
	job := &batchv1.Job{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "a", Command: []string{"a"}}, {Name: "b", Command: []string{"b"}}},
	}}}}
	policy := &jobset.FailurePolicy{InPlaceRestart: &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}}
	template := workerpod.Inject(job, policy, workerpod.Injection{Image: "agent"}, workerpod.Place{})
	running, waiting := corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}
	for name, tc := range map[string]struct {
		agent, a, b corev1.ContainerState
		want        bool
	}{
		"the image of the agent":                {waiting, waiting, waiting, true},
		"the images of both workers":            {running, waiting, waiting, true},
		"that of one, the other is connected":   {running, running, waiting, true},
		"nobody pulls, and nobody has reported": {running, running, running, false},
	} {
		t.Run("P24 P48: "+name, func(t *testing.T) {
			t.Parallel()
			pod := &corev1.Pod{Spec: template.Spec, Status: corev1.PodStatus{
				Phase:             corev1.PodPending,
				Conditions:        []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: corev1.ConditionTrue}},
				ContainerStatuses: []corev1.ContainerStatus{{Name: "a", State: tc.a}, {Name: "b", State: tc.b}},
			}}
			for _, init := range template.Spec.InitContainers {
				started := tc.agent.Running != nil && init.StartupProbe == nil // what has no such probe has started when it runs
				pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, corev1.ContainerStatus{Name: init.Name, Started: &started, State: tc.agent})
			}
			if got := Of(pod).Pulling; got != tc.want {
				t.Errorf("pulling is %t, want %t", got, tc.want)
			}
		})
	}
}
