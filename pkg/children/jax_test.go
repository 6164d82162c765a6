/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestTheEnvironmentOfJax(t *testing.T) {
	const (
		atStart     = "JOBSET_EPOCH={epoch} JOBSET_RESTARTS={restarts} JOBSET_WORLD_SIZE={size} JOBSET_RANK={rank} JOBSET_MASTER_ADDR={master}"
		master, jax = "train-workers-0-0.train", jobset.JaxEnvironment
	)
	none := map[string]string{"JOBSET_SUPERVISOR_DIR": "/jobset", "JOBSET_CONTAINER": "worker", "JOBSET_VARIABLES": atStart}
	process := with(none, "JOBSET_VARIABLES", atStart+" JAX_COORDINATOR_ADDRESS={master}:8476 JAX_NUM_PROCESSES={size} JAX_PROCESS_ID={rank}")
	setting := func(name, value string) func(*jobset.JobSet, *corev1.PodSpec) {
		return func(_ *jobset.JobSet, spec *corev1.PodSpec) {
			spec.Containers[0].Env = []corev1.EnvVar{{Name: name, Value: value}}
		}
	}
	for name, tc := range map[string]struct {
		mode               jobset.InPlaceRestartMode
		written, byDefault jobset.WorkerEnvironment
		change             func(js *jobset.JobSet, spec *corev1.PodSpec)
		want               map[string]string
	}{
		"P127: process mode":                         {mode: jobset.ProcessMode, written: jax, want: process},
		"P127: by the configuration":                 {mode: jobset.ProcessMode, byDefault: jax, want: process},
		"P127: instead of that in the configuration": {mode: jobset.ProcessMode, byDefault: jobset.TorchEnvironment, written: jax, want: process},
		"P127: not with None":                        {mode: jobset.ProcessMode, byDefault: jax, written: jobset.NoEnvironment, want: none},
		"P127: variables that configure JAX are the author's": {
			mode: jobset.ProcessMode, written: jax, change: setting("JAX_PLATFORMS", "cpu"), want: with(process, "JAX_PLATFORMS", "cpu"),
		},
		"P127: a container that sets one of the three gets none": {
			mode: jobset.ProcessMode, byDefault: jax, change: setting("JAX_PROCESS_ID", "7"), want: with(none, "JAX_PROCESS_ID", "7"),
		},
		"P127: without host names none": {
			mode: jobset.ProcessMode, byDefault: jax,
			change: func(js *jobset.JobSet, _ *corev1.PodSpec) { js.Spec.Network.EnableDNSHostnames = ptr.To(false) },
			want:   none,
		},
		"P127: several Jobs of several Pods": {
			mode: jobset.ProcessMode, written: jax, change: func(js *jobset.JobSet, _ *corev1.PodSpec) { sized(js, 2, 4) }, want: process,
		},
		"P127: container mode": {
			mode: jobset.ContainerMode, written: jax,
			want: map[string]string{
				"JOBSET_WORLD_SIZE": "4", "JOBSET_RANK": "@" + completionIndex, "JOBSET_MASTER_ADDR": master,
				"JAX_COORDINATOR_ADDRESS": master + ":8476", "JAX_NUM_PROCESSES": "4", "JAX_PROCESS_ID": "@" + completionIndex,
			},
		},
		"P127: container mode, all or none: the rank is not known": {
			mode: jobset.ContainerMode, byDefault: jax,
			change: func(js *jobset.JobSet, _ *corev1.PodSpec) { sized(js, 2, 4) },
			want:   map[string]string{"JOBSET_WORLD_SIZE": "8", "JOBSET_MASTER_ADDR": master},
		},
	} {
		t.Run(name, func(t *testing.T) {
			policy := jobset.InPlaceRestartPolicy{Mode: tc.mode, Environment: tc.written}
			if diff := cmp.Diff(tc.want, environmentOfFour(policy, tc.byDefault, tc.change)); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
		})
	}
}
