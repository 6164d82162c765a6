/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

func TestASupervisorKnowsTheStopSignalOfItsContainer(t *testing.T) {
	for signal, want := range map[corev1.Signal]string{
		"": "", corev1.SIGTERM: "", corev1.SIGINT: "", corev1.SIGKILL: "",
		corev1.SIGUSR1: "10", corev1.SIGWINCH: "28", corev1.SIGRTMINPLUS3: "37", corev1.SIGRTMAXMINUS14: "50", corev1.SIGRTMAX: "64",
	} {
		job := &batchv1.Job{}
		job.Spec.Template.Spec.Containers = []corev1.Container{{Name: "worker", Command: []string{"worker"}}}
		if signal != "" {
			job.Spec.Template.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{StopSignal: ptr.To(signal)}
		}
		policy := &jobset.FailurePolicy{InPlaceRestart: &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}}
		injectProcess(job, policy, Injection{}, environment{}, &job.Spec.Template.Spec)
		worker, got := &job.Spec.Template.Spec.Containers[0], ""
		if at := FindEnv(worker, protocol.StopSignalEnv); at >= 0 {
			got = worker.Env[at].Value
		}
		if got != want {
			t.Errorf("P69b: of stopSignal %q the supervisor is told %q, want %q", signal, got, want)
		}
	}
}

func TestSignalsThatCannotBePassedOn(t *testing.T) {
	for _, signal := range []corev1.Signal{corev1.SIGCHLD, corev1.SIGCLD, corev1.SIGPIPE, corev1.SIGPROF, corev1.SIGURG, corev1.SIGSTOP, corev1.SIGSEGV, corev1.SIGABRT,
		corev1.SIGRTMIN, "SIGRTMIN+", "SIGRTMIN+31", "SIGRTMIN+-1", "SIGRTMAX-30", "SIGRTMAX-99", "USR1", ""} {
		if number, ok := stopSignal(signal); ok {
			t.Errorf("P69b: signal %q is %d, want that it cannot be passed on", signal, number)
		}
	}
}

func TestProgramsThatMustBeTheFirstProcess(t *testing.T) {
	for command, want := range map[string]string{
		"/init": "spec.replicatedJobs[0].template.spec.template.spec.containers[0].command[0]", "/sbin/init": "spec.replicatedJobs[0].template.spec.template.spec.containers[0].command[0]",
		"/lib/systemd/systemd": "spec.replicatedJobs[0].template.spec.template.spec.containers[0].command[0]", "/usr/bin/tini": "", "dumb-init": "", "/init.sh": "",
	} {
		js := &jobset.JobSet{Spec: jobset.JobSetSpec{ReplicatedJobs: make([]jobset.ReplicatedJob, 1)}}
		js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers = []corev1.Container{{Name: "worker", Command: []string{command, "train"}}}
		mode, why := DefaultMode(js)
		if want == "" && (mode != jobset.ProcessMode || len(why) > 0) || want != "" && (mode != jobset.ContainerMode || len(why) != 1 || why[0].Path.String() != want) {
			t.Errorf("P60b: with command %s the mode is %s because of %+v, want %q", command, mode, why, want)
		}
		if len(Obstacles(js)) > 0 {
			t.Errorf("P60b: command %s is refused with mode Process", command)
		}
	}
}
