/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// withTorch is part of every message about an environment that is written in the JobSet.
const withTorch = "when failurePolicy.inPlaceRestart.environment is Torch"

// inPlaceEnvironment refuses an environment that workers cannot have (P121). One that comes from the configuration of
// the manager is not looked at: such workers do without it.
func inPlaceEnvironment(js *jobset.JobSet, g gates.Set) field.ErrorList {
	if workerpod.WrittenEnvironment(js.Spec.FailurePolicy) != jobset.TorchEnvironment {
		return nil
	}
	var errs field.ErrorList
	if !children.NeedsService(js) {
		errs = append(errs, field.Invalid(specPath.Child("network", "enableDNSHostnames"), false, fmt.Sprintf(
			"must be true %s: workers find rank 0 by its host name", withTorch)))
	}
	inContainers := workerpod.ModeOf(js.Spec.FailurePolicy) == jobset.ContainerMode // the other mode has obstacles of its own
	for i := range js.Spec.ReplicatedJobs {
		spec := &js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec
		errs = append(errs, torchOfTheAuthor(podPath(i), spec)...)
		if inContainers {
			errs = append(errs, torchInContainers(js, i, g)...)
		}
	}
	return errs
}

func torchOfTheAuthor(path *field.Path, spec *corev1.PodSpec) field.ErrorList {
	var errs field.ErrorList
	for i := range spec.Containers {
		c := &spec.Containers[i]
		if at := workerpod.TorchEnv(c); at >= 0 {
			errs = append(errs, field.Invalid(path.Child("containers").Index(i).Child("env").Index(at).Child("name"), c.Env[at].Name, fmt.Sprintf(
				"must not begin with PET_ %s: torchrun gets these variables from there; remove all of them, and set what is to differ "+
					"as an argument of torchrun, or set environment: %s", withTorch, jobset.NoEnvironment)))
		}
	}
	return errs
}

func torchInContainers(js *jobset.JobSet, i int, g gates.Set) field.ErrorList {
	rjob, path := &js.Spec.ReplicatedJobs[i], podPath(i)
	spec := &rjob.Template.Spec.Template.Spec
	if !workerpod.IsInjected(js, rjob) {
		return field.ErrorList{field.Forbidden(path.Child("initContainers"), fmt.Sprintf(
			"must not hold an agent of your own %s: nothing is added to such a template; remove the agent, or write the variables "+
				"into the containers and remove environment", withTorch))}
	}
	var errs field.ErrorList
	for _, windows := range workerpod.WindowsFields(path, spec) {
		errs = append(errs, field.Invalid(windows, string(corev1.Windows), fmt.Sprintf(
			"must not be set %s, which is for programs on Linux: use Linux, or remove environment", withTorch)))
	}
	instead := fmt.Sprintf("use mode %s, which sets the variables at each start of a worker, or ", jobset.ProcessMode)
	at := children.PlaceOf(js, rjob, g.ElasticJobSet)
	switch {
	case !at.KnowsSize():
		errs = append(errs, field.Invalid(modePath, jobset.ContainerMode, fmt.Sprintf(
			"cannot provide environment %s for replicatedJob %s: its size may change, and the environment of a container cannot; %s"+
				"set elastic with minInstances equal to maxInstances", jobset.TorchEnvironment, rjob.Name, instead)))
	case !at.KnowsRank():
		errs = append(errs, field.Invalid(modePath, jobset.ContainerMode, fmt.Sprintf(
			"cannot provide environment %s for replicatedJob %s: it has several Jobs of several Pods, so the rank of a Pod is not known before it is created; %s"+
				"set replicas or parallelism to 1", jobset.TorchEnvironment, rjob.Name, instead)))
	}
	return errs
}
