/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// withTorchIn asks for the variables of PyTorch in a mode.
func withTorchIn(mode jobset.InPlaceRestartMode, changes ...func(js *jobset.JobSet)) func(js *jobset.JobSet) {
	return withMode(mode, append([]func(js *jobset.JobSet){func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.InPlaceRestart.Environment = jobset.TorchEnvironment
	}}, changes...)...)
}

func TestEnvironmentOfJax(t *testing.T) {
	const env = "spec.replicatedJobs[1].template.spec.template.spec.containers[0].env"
	jax := func(mode jobset.InPlaceRestartMode, changes ...func(js *jobset.JobSet)) func(js *jobset.JobSet) {
		return withMode(mode, append([]func(js *jobset.JobSet){func(js *jobset.JobSet) {
			js.Spec.FailurePolicy.InPlaceRestart.Environment = jobset.JaxEnvironment
		}}, changes...)...)
	}
	sets := func(name string) func(js *jobset.JobSet) {
		return func(js *jobset.JobSet) {
			pod(js, 1).Containers[0].Env = []corev1.EnvVar{{Name: "JAX_PLATFORMS", Value: "cpu"}, {Name: "PET_NNODES", Value: "4"}, {Name: name, Value: "4"}}
		}
	}
	taken := func(name string) []violation {
		return []violation{invalid(env+"[2].name", "must not be set when failurePolicy.inPlaceRestart.environment is Jax, which sets JAX_COORDINATOR_ADDRESS, JAX_NUM_PROCESSES, "+
			"JAX_PROCESS_ID together; remove these variables, or set environment: None, and make them from JOBSET_MASTER_ADDR, JOBSET_WORLD_SIZE and JOBSET_RANK")}
	}
	runCreate(t, processJobSet, map[string]createCase{
		"P127: process mode provides it": {gates: gateOn, mut: jax(jobset.ProcessMode, sets("JAX_ENABLE_X64"))},
		"P127: container mode knows no rank among several Jobs of several Pods": {
			gates: gateOn, mut: jax(jobset.ContainerMode),
			want: []violation{invalid(policyPath+".mode", "cannot provide environment Jax for replicatedJob workers: it has several Jobs of several Pods, "+
				"so the rank of a Pod is not known before it is created; use mode Process, which sets the variables at each start of a worker, or set replicas or parallelism to 1")},
		},
		"P127: an address of the author's own": {gates: gateOn, mut: jax(jobset.ProcessMode, sets("JAX_COORDINATOR_ADDRESS")), want: taken("JAX_COORDINATOR_ADDRESS")},
		"P127: a size of the author's own":     {gates: gateOn, mut: jax(jobset.ProcessMode, sets("JAX_NUM_PROCESSES")), want: taken("JAX_NUM_PROCESSES")},
		"P127: a rank of the author's own":     {gates: gateOn, mut: jax(jobset.ProcessMode, sets("JAX_PROCESS_ID")), want: taken("JAX_PROCESS_ID")},
		"P127: no host names": {
			gates: gateOn, mut: jax(jobset.ProcessMode, func(js *jobset.JobSet) { js.Spec.Network.EnableDNSHostnames = ptr.To(false) }),
			want: []violation{invalid("spec.network.enableDNSHostnames", "must be true when failurePolicy.inPlaceRestart.environment is Jax: workers find rank 0 by its host name")},
		},
	})
}

func TestEnvironment(t *testing.T) {
	const workersPod = "spec.replicatedJobs[1].template.spec.template.spec"
	elastic := gates.Set{InPlaceRestart: true, ElasticJobSet: true}
	oneJob := func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[1].Replicas = 1 }
	ownVariable := func(js *jobset.JobSet) {
		pod(js, 1).Containers[0].Env = []corev1.EnvVar{{Name: "RANK"}, {Name: "PET_NNODES", Value: "4"}, {Name: "PET_MASTER_PORT"}}
	}
	runCreate(t, processJobSet, map[string]createCase{
		"P121: process mode provides it for any size":  {gates: elastic, mut: withTorchIn(jobset.ProcessMode)},
		"P121: container mode provides it for one Job": {gates: gateOn, mut: withTorchIn(jobset.ContainerMode, oneJob)},
		"P121: container mode provides it for Jobs of one Pod": {
			gates: gateOn, mut: withTorchIn(jobset.ContainerMode, func(js *jobset.JobSet) {
				job(js, 1).Completions, job(js, 1).Parallelism = ptr.To[int32](1), ptr.To[int32](1)
			}),
		},
		"P121: container mode knows no rank among several Jobs of several Pods": {
			gates: gateOn, mut: withTorchIn(jobset.ContainerMode),
			want: []violation{invalid(policyPath+".mode", "cannot provide environment Torch for replicatedJob workers: it has several Jobs of several Pods, "+
				"so the rank of a Pod is not known before it is created; use mode Process, which sets the variables at each start of a worker, or set replicas or parallelism to 1")},
		},
		"P121: container mode knows no size that may change": {
			gates: elastic, mut: withTorchIn(jobset.ContainerMode, leaderOnly),
			want: []violation{invalid(policyPath+".mode", "cannot provide environment Torch for replicatedJob leader: its size may change, and the environment of a container cannot; "+
				"use mode Process, which sets the variables at each start of a worker, or set elastic with minInstances equal to maxInstances")},
		},
		"P121: equal bounds fix the size": {
			gates: elastic,
			mut: withTorchIn(jobset.ContainerMode, leaderOnly, func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs[0].Elastic = &jobset.ElasticBounds{MinInstances: 1, MaxInstances: 1}
			}),
		},
		"P121: variables of the author's own": {
			gates: gateOn, mut: withTorchIn(jobset.ProcessMode, ownVariable),
			want: []violation{invalid(workersPod+".containers[0].env[1].name", "must not begin with PET_ when failurePolicy.inPlaceRestart.environment is Torch: "+
				"torchrun gets these variables from there; remove all of them, and set what is to differ as an argument of torchrun, or set environment: None")},
		},
		"P121: they are the author's business with None": {
			gates: gateOn, mut: withTorchIn(jobset.ProcessMode, ownVariable, func(js *jobset.JobSet) {
				js.Spec.FailurePolicy.InPlaceRestart.Environment = jobset.NoEnvironment
			}),
		},
		"P121: and without an environment, which the configuration may set": {gates: gateOn, mut: withMode(jobset.ProcessMode, ownVariable)},
		"P121: Windows": {
			gates: gateOn,
			mut: withTorchIn(jobset.ContainerMode, leaderOnly, func(js *jobset.JobSet) {
				pod(js, 0).OS = &corev1.PodOS{Name: corev1.Windows}
				pod(js, 0).NodeSelector = map[string]string{corev1.LabelOSStable: "windows"}
			}),
			want: []violation{
				invalid(leaderPod+".os.name", "must not be set when failurePolicy.inPlaceRestart.environment is Torch, which is for programs on Linux: use Linux, or remove environment"),
				invalid(leaderPod+".nodeSelector[kubernetes.io/os]", "use Linux, or remove environment"),
			},
		},
		"P121: an agent of the author's": {
			gates: gateOn,
			mut:   withTorchIn(jobset.ContainerMode, leaderOnly, func(js *jobset.JobSet) { *pod(js, 0) = *pod(inPlaceJobSet(), 0) }),
			want: []violation{forbidden(leaderPod+".initContainers", "must not hold an agent of your own when failurePolicy.inPlaceRestart.environment is Torch: "+
				"nothing is added to such a template; remove the agent, or write the variables into the containers and remove environment")},
		},
		"P121: no host names": {
			gates: gateOn, mut: withTorchIn(jobset.ProcessMode, func(js *jobset.JobSet) { js.Spec.Network.EnableDNSHostnames = ptr.To(false) }),
			want: []violation{invalid("spec.network.enableDNSHostnames", "must be true when failurePolicy.inPlaceRestart.environment is Torch: workers find rank 0 by its host name")},
		},
	})
}
