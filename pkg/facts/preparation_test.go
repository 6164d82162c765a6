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

func TestAPodThatIsPrepared(t *testing.T) {
	t.Parallel()
	type statuses = []corev1.ContainerStatus
	waits := func(reason string) corev1.ContainerStatus {
		return corev1.ContainerStatus{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
	}
	runs := func(started bool) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: "agent", Started: ptr.To(started), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}
	}
	done := corev1.ContainerStatus{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}
	named := func(name string, status corev1.ContainerStatus) corev1.ContainerStatus {
		status.Name = name
		return status
	}
	none := statuses(nil)
	for name, tc := range map[string]struct {
		sandbox      corev1.ConditionStatus
		init, worker statuses
		want         Preparation
	}{
		"P48: the image of the worker, behind an agent that runs":        {"True", statuses{done, runs(true)}, statuses{waits("PodInitializing")}, Preparing},
		"P48: the image of the agent":                                    {"True", statuses{done, waits("PodInitializing")}, statuses{waits("PodInitializing")}, Preparing},
		"P48: the image of one worker of two":                            {"True", statuses{runs(true)}, statuses{runs(true), waits("PodInitializing")}, Preparing},
		"P48a: an init container that runs, though it counts as started": {"True", statuses{named("prepare", runs(true)), waits("PodInitializing")}, statuses{waits("PodInitializing")}, Preparing},
		"P48a: one that runs where kubelets do not report sandboxes":     {"", statuses{named("prepare", runs(false)), waits("PodInitializing")}, statuses{waits("PodInitializing")}, Preparing},
		"P48a: a sidecar of the author that has not started":             {"True", statuses{named("proxy", runs(false)), waits("PodInitializing")}, statuses{waits("PodInitializing")}, Preparing},
		"P48a: one that has, and the agent is pulled":                    {"True", statuses{named("proxy", runs(true)), waits("PodInitializing")}, statuses{waits("PodInitializing")}, Preparing},
		"P48a: one that has, beside an agent that is to report":          {"True", statuses{named("proxy", runs(true)), runs(false)}, statuses{waits("PodInitializing")}, Prepared},
		"P48: an agent that holds the workers back is to report":         {"True", statuses{done, runs(false)}, statuses{waits("PodInitializing")}, Prepared},
		"P48a: a pull that failed is retried":                            {"True", statuses{runs(true)}, statuses{waits("ErrImagePull")}, Preparing},
		"P48a: and waits for that":                                       {"True", statuses{runs(true)}, statuses{waits("ImagePullBackOff")}, Preparing},
		"P48a: also of an init container":                                {"True", statuses{named("prepare", waits("ImagePullBackOff"))}, statuses{waits("PodInitializing")}, Preparing},
		"P48a: an image with a wrong name is not retried":                {"True", statuses{runs(true)}, statuses{waits("InvalidImageName")}, Prepared},
		"P48a: an init container that fails again and again is none":     {"True", statuses{named("prepare", waits("CrashLoopBackOff"))}, statuses{waits("PodInitializing")}, Prepared},
		"P48a: without a sandbox it waits for a volume or the network":   {"False", statuses{waits("PodInitializing")}, statuses{waits("PodInitializing")}, AwaitsSandbox},
		"P48a: its kubelet has just seen it":                             {"False", none, none, AwaitsSandbox},
		"P48a: no kubelet has seen it":                                   {"", none, none, Prepared},
		"P48a: without a sandbox after it has run, it is lost (P74)":     {"False", statuses{done}, statuses{waits("PodInitializing")}, Prepared},
		"P48: where kubelets do not report sandboxes, nothing is known":  {"", statuses{waits("PodInitializing")}, statuses{waits("PodInitializing")}, Prepared},
		"P48: all run": {"True", statuses{runs(true)}, statuses{runs(true)}, Prepared},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			always := corev1.ContainerRestartPolicyAlways
			spec := corev1.PodSpec{InitContainers: []corev1.Container{{Name: "prepare"}, {Name: "proxy", RestartPolicy: &always}, {
				Name: "agent", RestartPolicy: &always, Env: []corev1.EnvVar{{Name: workerpod.JobSetNameEnv}, {Name: workerpod.BarrierPortEnv}},
			}}}
			pod := &corev1.Pod{Spec: spec, Status: corev1.PodStatus{Phase: corev1.PodPending, InitContainerStatuses: tc.init, ContainerStatuses: tc.worker}}
			if tc.sandbox != "" {
				pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReadyToStartContainers, Status: tc.sandbox}}
			}
			if got := Of(pod).Preparation; got != tc.want {
				t.Errorf("preparation is %d, want %d", got, tc.want)
			}
			pod.Status.Phase = corev1.PodFailed
			if got := Of(pod).Preparation; got != Prepared {
				t.Errorf("preparation of a Pod that has failed is %d", got)
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
		want        Preparation
	}{
		"the image of the agent":                {waiting, waiting, waiting, Preparing},
		"the images of both workers":            {running, waiting, waiting, Preparing},
		"that of one, the other is connected":   {running, running, waiting, Preparing},
		"nobody pulls, and nobody has reported": {running, running, running, Prepared},
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
			if got := Of(pod).Preparation; got != tc.want {
				t.Errorf("preparation is %d, want %d", got, tc.want)
			}
		})
	}
}

// TestInitContainersRunAgain: RestartAllContainers starts them again, in a Pod that counts as running.
func TestInitContainersRunAgain(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: []corev1.Container{{Name: "prepare"}}}, Status: corev1.PodStatus{
		Phase:                 corev1.PodRunning,
		InitContainerStatuses: []corev1.ContainerStatus{{Name: "prepare", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
		ContainerStatuses:     []corev1.ContainerStatus{{Name: "worker", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}}}},
	}}
	if got := Of(pod).Preparation; got != Preparing {
		t.Errorf("P48a: preparation is %d", got)
	}
}
