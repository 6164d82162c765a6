/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

const (
	policyPath   = "spec.failurePolicy.inPlaceRestart"
	leaderWorker = leaderPod + ".containers[0]"
)

// processJobSet can restart in process mode.
func processJobSet() *jobset.JobSet {
	js := oneLineJobSet()
	for i := range js.Spec.ReplicatedJobs {
		pod(js, i).Containers[0].Command = []string{"python", "train.py"}
	}
	return js
}

func withMode(mode jobset.InPlaceRestartMode, changes ...func(js *jobset.JobSet)) func(js *jobset.JobSet) {
	return func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: mode}
		for _, change := range changes {
			change(js)
		}
	}
}

func withGrace(seconds int32) func(js *jobset.JobSet) {
	return func(js *jobset.JobSet) { js.Spec.FailurePolicy.InPlaceRestart.StopGracePeriodSeconds = &seconds }
}

func inOrder(js *jobset.JobSet) {
	js.Spec.StartupPolicy = &jobset.StartupPolicy{StartupPolicyOrder: jobset.InOrder}
}

func afterReady(js *jobset.JobSet) {
	js.Spec.ReplicatedJobs[1].DependsOn = []jobset.DependsOn{{Name: "leader", Status: jobset.DependencyReady}}
}

func TestMode(t *testing.T) {
	process := func(change func(spec *corev1.PodSpec, worker *corev1.Container)) func(*jobset.JobSet) {
		return withMode(jobset.ProcessMode, func(js *jobset.JobSet) { change(pod(js, 0), &pod(js, 0).Containers[0]) })
	}
	runCreate(t, processJobSet, map[string]createCase{
		"P60: process mode":                               {gates: gateOn, mut: withMode(jobset.ProcessMode, withGrace(0))},
		"P60: container mode":                             {gates: gateOn, mut: withMode(jobset.ContainerMode)},
		"P126: process mode, in order":                    {gates: gateOn, mut: withMode(jobset.ProcessMode, inOrder)},
		"P126: process mode, after others are ready":      {gates: gateOn, mut: withMode(jobset.ProcessMode, afterReady)},
		"P19: container mode, in order":                   {gates: gateOn, mut: withMode(jobset.ContainerMode, inOrder), want: []violation{invalid("spec.startupPolicy.startupPolicyOrder", "use mode Process")}},
		"P19: no mode is container mode":                  {gates: gateOn, mut: afterReady, want: []violation{invalid("spec.replicatedJobs[1].dependsOn[0].status", "use mode Process")}},
		"P60: container mode asks nothing of a container": {gates: gateOn, mut: withMode(jobset.ContainerMode, func(js *jobset.JobSet) { pod(js, 0).Containers[0].Command = nil })},
		"P60: what is not possible is refused with its place, all at once": {
			gates: gateOn,
			mut: process(func(s *corev1.PodSpec, w *corev1.Container) {
				w.Command, w.LivenessProbe, s.HostPID = nil, &corev1.Probe{}, true
			}),
			want: []violation{
				invalid(leaderPod+".hostPID", "makes processes of other containers look like those of the worker, when failurePolicy.inPlaceRestart.mode is Process: remove it, or use mode Container"),
				required(leaderWorker+".command", "the entrypoint of the image is not known here, when failurePolicy.inPlaceRestart.mode is Process: write the entrypoint of the image here, or use mode Container"),
				invalid(leaderWorker+".livenessProbe", "would act on a worker that waits for its group"),
			},
		},
		"P60: an agent of the author's restarts containers": {
			gates: gateOn,
			mut: withMode(jobset.ProcessMode, func(js *jobset.JobSet) {
				*pod(js, 0) = *pod(inPlaceJobSet(), 0)
				pod(js, 0).Containers[0].Command = []string{"train"}
				pod(js, 0).Containers[0].RestartPolicyRules = nil
			}),
			want: []violation{invalid(leaderAgent, "is an agent, which restarts containers")},
		},
		"P60: a grace that nobody would give": {
			gates: gateOn, mut: withMode(jobset.ContainerMode, withGrace(5)),
			want: []violation{forbidden(policyPath+".stopGracePeriodSeconds", "with Container the kubelet stops the containers, and always gives them 2 seconds; remove it, or set mode: Process")},
		},
		"P60: a grace without a mode is that of container mode": {
			gates: gateOn, mut: withMode("", withGrace(5)),
			want: []violation{forbidden(policyPath+".stopGracePeriodSeconds", "is read only when")},
		},
		"P53: the code of a supervisor for a new Pod": {
			gates: gateOn, mut: withMode(jobset.ProcessMode, func(js *jobset.JobSet) {
				js.Spec.FailurePolicy.InPlaceRestart.RecreatePodOnExitCodes = []int32{64, 65}
			}),
			want: []violation{invalid(policyPath+".recreatePodOnExitCodes[1]", "is the exit code by which a supervisor asks for a new Pod")},
		},
		"P53: the code of a supervisor in podFailurePolicy": {
			gates: gateOn, mut: withMode(jobset.ProcessMode, func(js *jobset.JobSet) { job(js, 0).PodFailurePolicy = onExitCodes("NotIn", 3) }),
			want: []violation{invalid(leaderJob+".podFailurePolicy.rules[1].onExitCodes.values", "make the rule act on exit code 65, by which a supervisor asks for a new Pod")},
		},
		"P53: a podFailurePolicy that leaves it alone": {
			gates: gateOn, mut: withMode(jobset.ProcessMode, func(js *jobset.JobSet) { job(js, 0).PodFailurePolicy = onExitCodes("NotIn", 3, 65) }),
		},
		"P61: names that are ours": {
			gates: gateOn,
			mut: process(func(s *corev1.PodSpec, w *corev1.Container) {
				s.InitContainers = []corev1.Container{{Name: "setup"}, {Name: "jobset-supervisor"}}
				s.Volumes = []corev1.Volume{{Name: "jobset-supervisor"}}
				w.Name = "jobset-supervisor"
				w.VolumeMounts = []corev1.VolumeMount{{Name: "a", MountPath: "/jobset/"}, {Name: "b", MountPath: "/data"}, {Name: "c", MountPath: "/jobset/cache"}}
				w.Env = []corev1.EnvVar{{Name: "JOBSET_NAME"}, {Name: "JOBSET_EPOCH"}}
			}),
			want: []violation{
				invalid(leaderPod+".initContainers[1].name", "is reserved for the supervisor, when failurePolicy.inPlaceRestart.mode is Process: rename this container, or use mode Container"),
				invalid(leaderPod+".volumes[0].name", "rename this volume"),
				invalid(leaderWorker+".name", "rename this container"),
				invalid(leaderWorker+".volumeMounts[0].mountPath", "is reserved for the supervisor, with everything in /jobset, when failurePolicy.inPlaceRestart.mode is Process: mount it elsewhere"),
				invalid(leaderWorker+".volumeMounts[2].mountPath", "mount it elsewhere"),
				invalid(leaderWorker+".env[1].name", "rename this variable"),
			},
		},
		"P61: the same names in container mode": {
			gates: gateOn,
			mut: withMode(jobset.ContainerMode, func(js *jobset.JobSet) {
				pod(js, 0).InitContainers = []corev1.Container{{Name: "jobset-supervisor"}}
				pod(js, 0).Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "a", MountPath: "/jobset"}}
				pod(js, 0).Containers[0].Env = []corev1.EnvVar{{Name: "JOBSET_EPOCH"}}
			}),
		},
		"P61: a claim with the name of the shared volume": {
			gates: gateOn,
			mut: withMode(jobset.ProcessMode, func(js *jobset.JobSet) {
				claim := corev1.PersistentVolumeClaim{}
				claim.Name = "jobset-supervisor"
				js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{{Templates: []corev1.PersistentVolumeClaim{claim}}}
				pod(js, 0).Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: claim.Name, MountPath: "/data"}}
			}),
			want: []violation{invalid("spec.volumeClaimPolicies[0].templates[0].metadata.name", "is reserved for the supervisor, when failurePolicy.inPlaceRestart.mode is Process: rename this claim")},
		},
		"P66 P122 P137: reports in a Pod template": {
			gates: gateOn,
			mut: func(js *jobset.JobSet) {
				job(js, 0).Template.Annotations = map[string]string{jobset.EpochKey: "1", "jobset.sigs.k8s.io/worker-exit": "{}", "jobset.sigs.k8s.io/progress": "{}", "jobset.sigs.k8s.io/address": "10.0.0.1"}
			},
			want: []violation{
				forbidden(leaderEpoch, "counts as back before it runs; remove it"),
				forbidden(leaderJob+".template.metadata.annotations[jobset.sigs.k8s.io/worker-exit]", "counts as one whose worker has ended; remove it"),
				forbidden(leaderJob+".template.metadata.annotations[jobset.sigs.k8s.io/progress]", "counts as one that has reported steps; remove it"),
				forbidden(leaderJob+".template.metadata.annotations[jobset.sigs.k8s.io/address]", "sends the other workers to that address; remove it"),
			},
		},
	})
}

func TestDefaultWarnings(t *testing.T) {
	const is = "spec.failurePolicy.inPlaceRestart.mode: is Container, with which a restart takes seconds longer than with Process: "
	noCommand := is + leaderWorker + ".command of container worker is missing: the supervisor starts the worker, and the entrypoint of the image is not known here; " +
		"write the entrypoint of the image here, or set mode: Container"
	withInit := func(js *jobset.JobSet) { pod(js, 0).Containers[0].Command = []string{"/init", "train"} }
	mustBeFirst := leaderWorker + ".command[0] of container worker has the name of an init, as s6-overlay and systemd have one, " +
		"which must be the first process of its container, and here the supervisor is; start the program without it, or set mode: Container"
	mixed := func(js *jobset.JobSet) {
		js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, oneLineJobSet().Spec.ReplicatedJobs[1])
	}
	for name, tc := range map[string]struct {
		js   *jobset.JobSet
		mut  func(js *jobset.JobSet)
		want []string
	}{
		"P60: nothing is said of process mode":                   {js: processJobSet()},
		"P60: nor of container mode, if the author chose it":     {js: oneLineJobSet(), mut: withMode(jobset.ContainerMode)},
		"P60: nor if the author brings an agent":                 {js: inPlaceJobSet()},
		"P60: nor if the author brings an agent to some workers": {js: inPlaceJobSet(), mut: mixed},
		"P60: else each container without a command is a reason": {js: oneLineJobSet(), want: []string{noCommand}},
		"P60: and so is what the Pod has": {js: processJobSet(), mut: func(js *jobset.JobSet) { pod(js, 0).HostPID = true },
			want: []string{is + leaderPod + ".hostPID makes processes of other containers look like those of the worker; remove it, or set mode: Container"}},
		"P60b: and an init that must be the first process": {js: processJobSet(), mut: withInit, want: []string{is + mustBeFirst}},
		"P60: all reasons are said at once": {js: oneLineJobSet(), mut: func(js *jobset.JobSet) { pod(js, 0).Containers[0].TTY = true },
			want: []string{noCommand, is + leaderWorker + ".tty of container worker hands a terminal to one process, and every restart has a new one; remove it, or set mode: Container"}},
	} {
		t.Run(name, func(t *testing.T) {
			leaderOnly(tc.js)
			if tc.mut != nil {
				tc.mut(tc.js)
			}
			if diff := cmp.Diff(tc.want, DefaultWarnings(tc.js, gateOn)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if off := DefaultWarnings(tc.js, gateOff); off != nil {
				t.Errorf("W6: warnings with the gate off: %q", off)
			}
		})
	}
	t.Run("P60b: with mode Process written, an init is admitted with a warning", func(t *testing.T) {
		js := processJobSet()
		leaderOnly(js)
		withMode(jobset.ProcessMode, withInit)(js)
		if diff := cmp.Diff([]string{mustBeFirst}, firstProcessWarnings(js)); diff != "" {
			t.Errorf("warnings (-want +got):\n%s", diff)
		}
		if errs := processMode(js); len(errs) > 0 {
			t.Errorf("it is refused: %v", errs)
		}
	})
}
