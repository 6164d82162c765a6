/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

const completionIndex = "metadata.annotations['batch.kubernetes.io/job-completion-index']"

// environment returns the variables of the first container of a Pod, those from a field as "@path".
func environment(spec *corev1.PodSpec) map[string]string {
	env := map[string]string{}
	for _, v := range spec.Containers[0].Env {
		env[v.Name] = v.Value
		if v.ValueFrom != nil {
			env[v.Name] = "@" + v.ValueFrom.FieldRef.FieldPath
		}
	}
	return env
}

// sized gives each Job of a ReplicatedJob so many Pods.
func sized(js *jobset.JobSet, replicas, pods int32) {
	rjob := &js.Spec.ReplicatedJobs[0]
	rjob.Replicas = replicas
	rjob.Template.Spec.Parallelism, rjob.Template.Spec.Completions = &pods, &pods
}

func TestTheEnvironmentOfAWorker(t *testing.T) {
	const atStart = "JOBSET_EPOCH={epoch} JOBSET_RESTARTS={restarts} JOBSET_WORLD_SIZE={size} JOBSET_RANK={rank}"
	for name, tc := range map[string]struct {
		mode    jobset.InPlaceRestartMode
		change  func(js *jobset.JobSet, worker *corev1.Container)
		elastic bool
		job     int
		want    map[string]string
	}{
		"P120: process mode lists what each start sets": {
			mode:   jobset.ProcessMode,
			change: func(js *jobset.JobSet, _ *corev1.Container) { sized(js, 2, 4) },
			want: map[string]string{"JOBSET_SUPERVISOR_DIR": "/jobset", "JOBSET_CONTAINER": "worker",
				"JOBSET_VARIABLES": atStart + " JOBSET_MASTER_ADDR={master}"},
		},
		"P120: the coordinator never changes": {
			mode: jobset.ProcessMode,
			change: func(js *jobset.JobSet, _ *corev1.Container) {
				js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "workers", JobIndex: 0, PodIndex: 1}
			},
			want: map[string]string{"JOBSET_SUPERVISOR_DIR": "/jobset", "JOBSET_CONTAINER": "worker",
				"JOBSET_VARIABLES": atStart + " JOBSET_MASTER_ADDR={master}", "JOBSET_COORDINATOR": "train-workers-0-1.train"},
		},
		"P120: what the author sets stays": {
			mode: jobset.ProcessMode,
			change: func(js *jobset.JobSet, worker *corev1.Container) {
				js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "workers"}
				worker.Env = []corev1.EnvVar{{Name: "JOBSET_MASTER_ADDR", Value: "mine"}, {Name: "JOBSET_COORDINATOR", Value: ""}}
			},
			want: map[string]string{"JOBSET_SUPERVISOR_DIR": "/jobset", "JOBSET_CONTAINER": "worker",
				"JOBSET_VARIABLES": atStart, "JOBSET_MASTER_ADDR": "mine", "JOBSET_COORDINATOR": ""},
		},
		"P120: container mode, one Job: the rank is that of the Pod": {
			mode:   jobset.ContainerMode,
			change: func(js *jobset.JobSet, _ *corev1.Container) { sized(js, 1, 4) },
			want:   map[string]string{"JOBSET_WORLD_SIZE": "4", "JOBSET_RANK": "@" + completionIndex, "JOBSET_MASTER_ADDR": "train-workers-0-0.train"},
		},
		"P120: container mode, one Pod for each Job: the rank is that of the Job": {
			mode: jobset.ContainerMode, job: 3,
			change: func(js *jobset.JobSet, _ *corev1.Container) { sized(js, 4, 1) },
			want:   map[string]string{"JOBSET_WORLD_SIZE": "4", "JOBSET_RANK": "3", "JOBSET_MASTER_ADDR": "train-workers-0-0.train"},
		},
		"P120: container mode, several of both: the rank is left out": {
			mode:   jobset.ContainerMode,
			change: func(js *jobset.JobSet, _ *corev1.Container) { sized(js, 2, 4) },
			want:   map[string]string{"JOBSET_WORLD_SIZE": "8", "JOBSET_MASTER_ADDR": "train-workers-0-0.train"},
		},
		"P120: container mode, a size that may change is left out": {
			mode: jobset.ContainerMode, elastic: true,
			change: func(js *jobset.JobSet, _ *corev1.Container) { sized(js, 1, 4) },
			want:   map[string]string{"JOBSET_RANK": "@" + completionIndex, "JOBSET_MASTER_ADDR": "train-workers-0-0.train"},
		},
		"P120: container mode, bounds that are equal fix the size": {
			mode: jobset.ContainerMode, elastic: true,
			change: func(js *jobset.JobSet, _ *corev1.Container) {
				sized(js, 1, 4)
				js.Spec.ReplicatedJobs[0].Elastic = &jobset.ElasticBounds{MinInstances: 4, MaxInstances: 4}
			},
			want: map[string]string{"JOBSET_WORLD_SIZE": "4", "JOBSET_RANK": "@" + completionIndex, "JOBSET_MASTER_ADDR": "train-workers-0-0.train"},
		},
		"P120: container mode, bounds count while the gate is off, too": {
			mode: jobset.ContainerMode,
			change: func(js *jobset.JobSet, _ *corev1.Container) {
				sized(js, 1, 4)
				js.Spec.ReplicatedJobs[0].Elastic = &jobset.ElasticBounds{MinInstances: 2, MaxInstances: 4}
			},
			want: map[string]string{"JOBSET_RANK": "@" + completionIndex, "JOBSET_MASTER_ADDR": "train-workers-0-0.train"},
		},
		"P120: container mode, Jobs of one Pod that may become more: no rank": {
			mode: jobset.ContainerMode, elastic: true,
			change: func(js *jobset.JobSet, _ *corev1.Container) { sized(js, 4, 1) },
			want:   map[string]string{"JOBSET_MASTER_ADDR": "train-workers-0-0.train"},
		},
		"P120: without host names rank 0 has no address": {
			mode: jobset.ContainerMode,
			change: func(js *jobset.JobSet, _ *corev1.Container) {
				js.Spec.Network = &jobset.Network{EnableDNSHostnames: ptr.To(false)}
			},
			want: map[string]string{"JOBSET_WORLD_SIZE": "1", "JOBSET_RANK": "@" + completionIndex},
		},
		"P120: container mode reserves no names": {
			mode: jobset.ContainerMode,
			change: func(_ *jobset.JobSet, worker *corev1.Container) {
				worker.Env = []corev1.EnvVar{{Name: "JOBSET_WORLD_SIZE", Value: "9"}, {Name: "JOBSET_RANK", Value: "7"}}
			},
			want: map[string]string{"JOBSET_WORLD_SIZE": "9", "JOBSET_RANK": "7", "JOBSET_MASTER_ADDR": "train-workers-0-0.train"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			js := builders.MakeJobSet("train", "ns").FailurePolicy(jobset.InPlaceRestart, 3).ReplicatedJob(builders.MakeReplicatedJob("workers")).Obj()
			js.UID = "uid"
			js.Spec.Network = &jobset.Network{EnableDNSHostnames: ptr.To(true)}
			js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: tc.mode}
			rjob := &js.Spec.ReplicatedJobs[0]
			rjob.Template.Spec.Template.Spec.Containers = []corev1.Container{{Name: "worker", Command: []string{"train"}}}
			sized(js, 1, 1)
			if tc.change != nil {
				tc.change(js, &rjob.Template.Spec.Template.Spec.Containers[0])
			}
			before := js.DeepCopy()

			job := NewBuilder(js).InjectAgents(workerpod.Injection{Image: "agent"}).Elastic(tc.elastic).Job(rjob, tc.job)

			if diff := cmp.Diff(tc.want, environment(&job.Spec.Template.Spec)); diff != "" {
				t.Errorf("variables (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, js); diff != "" {
				t.Errorf("the JobSet changed:\n%s", diff)
			}
		})
	}
}

func TestTheEnvironmentOfPyTorch(t *testing.T) {
	const atStart = "JOBSET_EPOCH={epoch} JOBSET_RESTARTS={restarts} JOBSET_WORLD_SIZE={size} JOBSET_RANK={rank} JOBSET_MASTER_ADDR={master}"
	process := map[string]string{
		"JOBSET_SUPERVISOR_DIR": "/jobset", "JOBSET_CONTAINER": "worker",
		"PET_MASTER_PORT": "29500", "PET_MAX_RESTARTS": "0", "PET_MONITOR_INTERVAL": "0.5",
		"LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_PORT": "29500",
		"JOBSET_VARIABLES": atStart + " PET_NNODES={size} PET_NODE_RANK={rank} PET_MASTER_ADDR={master} PET_RDZV_ID=uid-{epoch}" +
			" RANK={rank} WORLD_SIZE={size} MASTER_ADDR={master}",
	}
	none := map[string]string{"JOBSET_SUPERVISOR_DIR": "/jobset", "JOBSET_CONTAINER": "worker", "JOBSET_VARIABLES": atStart}
	const master, torch = "train-workers-0-0.train", jobset.TorchEnvironment
	for name, tc := range map[string]struct {
		mode               jobset.InPlaceRestartMode
		written, byDefault jobset.WorkerEnvironment
		change             func(js *jobset.JobSet, spec *corev1.PodSpec)
		want               map[string]string
	}{
		"P121: process mode":                   {mode: jobset.ProcessMode, written: torch, want: process},
		"P121: by the configuration":           {mode: jobset.ProcessMode, byDefault: torch, want: process},
		"P121: not with None":                  {mode: jobset.ProcessMode, byDefault: torch, written: jobset.NoEnvironment, want: none},
		"P121: not without being asked for":    {mode: jobset.ProcessMode, want: none},
		"P121: the configuration may say None": {mode: jobset.ProcessMode, byDefault: jobset.NoEnvironment, want: none},
		"P121: what the author sets stays": {
			mode: jobset.ProcessMode, written: torch,
			change: func(_ *jobset.JobSet, spec *corev1.PodSpec) {
				spec.Containers[0].Env = []corev1.EnvVar{{Name: "MASTER_PORT", Value: "1234"}, {Name: "RANK", Value: "7"}}
			},
			want: with(process, "MASTER_PORT", "1234", "RANK", "7", "JOBSET_VARIABLES", atStart+
				" PET_NNODES={size} PET_NODE_RANK={rank} PET_MASTER_ADDR={master} PET_RDZV_ID=uid-{epoch} WORLD_SIZE={size} MASTER_ADDR={master}"),
		},
		"P121: a container that talks to torchrun itself gets none": {
			mode: jobset.ProcessMode, byDefault: torch,
			change: func(_ *jobset.JobSet, spec *corev1.PodSpec) {
				spec.Containers[0].Env = []corev1.EnvVar{{Name: "PET_NNODES", Value: "2"}}
			},
			want: with(none, "PET_NNODES", "2"),
		},
		"P121: without host names none": {
			mode: jobset.ProcessMode, byDefault: torch,
			change: func(js *jobset.JobSet, _ *corev1.PodSpec) { js.Spec.Network.EnableDNSHostnames = ptr.To(false) },
			want:   none,
		},
		"P121: container mode": {
			mode: jobset.ContainerMode, written: torch,
			want: map[string]string{
				"JOBSET_WORLD_SIZE": "4", "JOBSET_RANK": "@" + completionIndex, "JOBSET_MASTER_ADDR": master,
				"PET_NNODES": "4", "PET_NODE_RANK": "@" + completionIndex, "PET_MASTER_ADDR": master, "PET_MASTER_PORT": "29500",
				"PET_MAX_RESTARTS": "0", "PET_MONITOR_INTERVAL": "0.5", "PET_RDZV_ID": "uid",
				"RANK": "@" + completionIndex, "WORLD_SIZE": "4", "LOCAL_RANK": "0", "LOCAL_WORLD_SIZE": "1", "MASTER_ADDR": master, "MASTER_PORT": "29500",
			},
		},
		"P121: container mode, all or none: the rank is not known": {
			mode: jobset.ContainerMode, byDefault: torch,
			change: func(js *jobset.JobSet, _ *corev1.PodSpec) { sized(js, 2, 4) },
			want:   map[string]string{"JOBSET_WORLD_SIZE": "8", "JOBSET_MASTER_ADDR": master},
		},
		"P121: container mode, not on Windows": {
			mode: jobset.ContainerMode, byDefault: torch,
			change: func(_ *jobset.JobSet, spec *corev1.PodSpec) { spec.OS = &corev1.PodOS{Name: corev1.Windows} },
			want:   map[string]string{"JOBSET_WORLD_SIZE": "4", "JOBSET_RANK": "@" + completionIndex, "JOBSET_MASTER_ADDR": master},
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

// environmentOfFour returns the variables of the first of four workers.
func environmentOfFour(policy jobset.InPlaceRestartPolicy, byDefault jobset.WorkerEnvironment, change func(js *jobset.JobSet, spec *corev1.PodSpec)) map[string]string {
	js := builders.MakeJobSet("train", "ns").FailurePolicy(jobset.InPlaceRestart, 3).ReplicatedJob(builders.MakeReplicatedJob("workers")).Obj()
	js.UID = "uid"
	js.Spec.Network = &jobset.Network{EnableDNSHostnames: ptr.To(true)}
	js.Spec.FailurePolicy.InPlaceRestart = &policy
	spec := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
	spec.Containers = []corev1.Container{{Name: "worker", Command: []string{"torchrun", "train.py"}}}
	sized(js, 1, 4)
	if change != nil {
		change(js, spec)
	}
	built := NewBuilder(js).InjectAgents(workerpod.Injection{Image: "agent", Environment: byDefault}).Job(&js.Spec.ReplicatedJobs[0], 0)
	return environment(&built.Spec.Template.Spec)
}

// with returns a copy of variables with others.
func with(variables map[string]string, others ...string) map[string]string {
	all := maps.Clone(variables)
	for i := 0; i < len(others); i += 2 {
		all[others[i]] = others[i+1]
	}
	return all
}

func TestTheAgentKnowsTheNameOfRankZero(t *testing.T) {
	js := builders.MakeJobSet("train", "ns").FailurePolicy(jobset.InPlaceRestart, 3).ReplicatedJob(builders.MakeReplicatedJob("workers")).Obj()
	js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}
	for on, want := range map[bool]string{true: "train-workers-0-0.train", false: ""} {
		js.Spec.Network = &jobset.Network{EnableDNSHostnames: ptr.To(on)}
		agent := NewBuilder(js).Job(&js.Spec.ReplicatedJobs[0], 0).Spec.Template.Spec.InitContainers[0]
		got := ""
		if at := workerpod.FindEnv(&agent, workerpod.MasterNameEnv); at >= 0 {
			got = agent.Env[at].Value
		}
		if got != want {
			t.Errorf("P120: with host names %t the name is %q, want %q", on, got, want)
		}
	}
}
