/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// withEnvironment is part of every message about an environment that is written in the JobSet.
func withEnvironment(written jobset.WorkerEnvironment) string {
	return fmt.Sprintf("when failurePolicy.inPlaceRestart.environment is %s", written)
}

// inPlaceEnvironment refuses an environment that workers cannot have (P121, P127). One that comes from the configuration of
// the manager is not looked at: such workers do without it.
func inPlaceEnvironment(js *jobset.JobSet, g gates.Set) field.ErrorList {
	written := workerpod.WrittenEnvironment(js.Spec.FailurePolicy)
	if !slices.Contains(workerpod.Frameworks, written) {
		return nil
	}
	var errs field.ErrorList
	if !children.NeedsService(js) {
		errs = append(errs, field.Invalid(specPath.Child("network", "enableDNSHostnames"), false, fmt.Sprintf(
			"must be true %s: workers find rank 0 by its host name", withEnvironment(written))))
	}
	inContainers := workerpod.ModeOf(js.Spec.FailurePolicy) == jobset.ContainerMode // the other mode has obstacles of its own
	for i := range js.Spec.ReplicatedJobs {
		spec := podSpec(js, i)
		errs = append(errs, variablesOfTheAuthor(podPath(i), spec, written)...)
		if inContainers {
			errs = append(errs, environmentInContainers(js, i, written, g)...)
		}
	}
	return errs
}

func variablesOfTheAuthor(path *field.Path, spec *corev1.PodSpec, written jobset.WorkerEnvironment) field.ErrorList {
	var errs field.ErrorList
	for i := range spec.Containers {
		c := &spec.Containers[i]
		if at := workerpod.OwnEnv(written, c); at >= 0 {
			errs = append(errs, field.Invalid(path.Child("containers").Index(i).Child("env").Index(at).Child("name"), c.Env[at].Name, takenName(written)))
		}
	}
	return errs
}

// takenName says why a container must not set a variable of its environment, and what to do instead.
func takenName(written jobset.WorkerEnvironment) string {
	if written == jobset.TorchEnvironment {
		return fmt.Sprintf("must not begin with PET_ %s: torchrun gets these variables from there; remove all of them, and set what is to differ "+
			"as an argument of torchrun, or set environment: %s", withEnvironment(written), jobset.NoEnvironment)
	}
	return fmt.Sprintf("must not be set %s, which sets %s together; remove these variables, or set environment: %s, and make them from "+
		"JOBSET_MASTER_ADDR, JOBSET_WORLD_SIZE and JOBSET_RANK", withEnvironment(written), strings.Join(workerpod.JaxNames, ", "), jobset.NoEnvironment)
}

func environmentInContainers(js *jobset.JobSet, i int, written jobset.WorkerEnvironment, g gates.Set) field.ErrorList {
	rjob, path := &js.Spec.ReplicatedJobs[i], podPath(i)
	spec := &rjob.Template.Spec.Template.Spec
	if !workerpod.IsInjected(js, rjob) {
		return field.ErrorList{field.Forbidden(path.Child("initContainers"), fmt.Sprintf(
			"must not hold an agent of your own %s: nothing is added to such a template; remove the agent, or write the variables "+
				"into the containers and remove environment", withEnvironment(written)))}
	}
	var errs field.ErrorList
	for _, windows := range workerpod.WindowsFields(path, spec) {
		errs = append(errs, field.Invalid(windows, string(corev1.Windows), fmt.Sprintf(
			"must not be set %s, which is for programs on Linux: use Linux, or remove environment", withEnvironment(written))))
	}
	instead := fmt.Sprintf("use mode %s, which sets the variables at each start of a worker, or ", jobset.ProcessMode)
	at := children.PlaceOf(js, rjob, g.ElasticJobSet)
	switch {
	case !at.KnowsSize():
		errs = append(errs, field.Invalid(modePath, jobset.ContainerMode, fmt.Sprintf(
			"cannot provide environment %s for replicatedJob %s: its size may change, and the environment of a container cannot; %s"+
				"set elastic with minInstances equal to maxInstances", written, rjob.Name, instead)))
	case !at.KnowsRank():
		errs = append(errs, field.Invalid(modePath, jobset.ContainerMode, fmt.Sprintf(
			"cannot provide environment %s for replicatedJob %s: it has several Jobs of several Pods, so the rank of a Pod is not known before it is created; %s"+
				"set replicas or parallelism to 1", written, rjob.Name, instead)))
	}
	return errs
}
