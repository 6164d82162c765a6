/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// CoordinatorEnv holds the address of the Pod that `spec.coordinator` names, if any.
// +reference=variables | ... | never changes | never changes
const CoordinatorEnv = "JOBSET_COORDINATOR"

// Place is what a Job's workers are told about where they stand (P120).
type Place struct {
	// JobSetUID is the UID of the JobSet.
	JobSetUID string
	// Coordinator is the address of the coordinator, empty if the JobSet names none.
	Coordinator string
	// Master is the DNS name of rank 0 of the ReplicatedJob, empty if its Pods have no host names.
	Master string
	// Jobs is how many the ReplicatedJob has, Job the index of this one, and Each how many workers each has.
	Jobs, Job, Each int32
	// All is how many workers the JobSet has.
	All int64
	// Resizable: Each may change while the Pods stay.
	Resizable bool
}

// KnowsSize reports whether the number of workers stays the same as long as a Pod exists.
func (at Place) KnowsSize() bool { return at.Each > 0 && !at.Resizable }

// KnowsRank reports whether the rank of a worker is the index of its Pod or of its Job. A template cannot hold the sum of
// both, because all Pods of a Job share it.
func (at Place) KnowsRank() bool { return at.Jobs == 1 || at.Each == 1 && !at.Resizable }

// environment is what the workers of a Job find, beside what their author sets.
type environment struct {
	Place
	// framework is whose variables they get too, empty if none (P121, P127).
	framework jobset.WorkerEnvironment
}

func environmentOf(policy *jobset.FailurePolicy, with Injection, at Place, spec *corev1.PodSpec) environment {
	if !at.CarriesFramework(ModeOf(policy)) || len(WindowsFields(nil, spec)) > 0 {
		return environment{Place: at}
	}
	return environment{at, cmp.Or(WrittenEnvironment(policy), with.Environment)}
}

// WrittenEnvironment returns the environment that a failure policy names, empty if it names none.
func WrittenEnvironment(policy *jobset.FailurePolicy) jobset.WorkerEnvironment {
	return inPlaceOf(policy).Environment
}

// variable is a variable of a worker. Placeholders of package protocol in its value stand for what a run decides.
type variable struct{ name, value string }

// dependsOnRun reports whether each start of the worker may give the variable another value.
func (v variable) dependsOnRun() bool { return strings.Contains(v.value, "{") }

// variables returns those that a worker gets: none that its author sets.
func (e environment) variables(worker *corev1.Container) []variable {
	all := []variable{
		{protocol.EpochEnv, protocol.EpochPlaceholder},
		{protocol.RestartsEnv, protocol.RestartsPlaceholder},
		{protocol.WorldSizeEnv, protocol.SizePlaceholder},
		{protocol.RankEnv, protocol.RankPlaceholder},
		{protocol.MasterAddrEnv, protocol.MasterPlaceholder},
	}
	if e.Coordinator != "" {
		all = append(all, variable{CoordinatorEnv, e.Coordinator})
	}
	if f, ok := frameworkOf(e.framework); ok && OwnEnv(e.framework, worker) < 0 {
		all = append(all, f.variables(e.JobSetUID)...)
	}
	return slices.DeleteFunc(all, func(v variable) bool { return FindEnv(worker, v.name) >= 0 })
}

// addAtStart adds the variables of a worker in process mode: those that never change, and for its supervisor the list of
// those that it sets at each start.
func (e environment) addAtStart(worker *corev1.Container) {
	var atStart []string
	for _, v := range e.variables(worker) {
		if v.dependsOnRun() {
			atStart = append(atStart, v.name+"="+v.value)
		} else {
			worker.Env = append(worker.Env, corev1.EnvVar{Name: v.name, Value: v.value})
		}
	}
	worker.Env = append(worker.Env, corev1.EnvVar{Name: protocol.VariablesEnv, Value: strings.Join(atStart, " ")})
}

// addFixed adds the variables of a worker in container mode, whose environment is that of its Pod: those that stay the
// same as long as the Pod exists.
func (e environment) addFixed(worker *corev1.Container) {
	for _, v := range e.variables(worker) {
		if fixed, ok := e.fixed(v); ok {
			worker.Env = append(worker.Env, fixed)
		}
	}
}

// fixed returns a variable with the value that it has as long as the Pod exists; false if there is none.
func (at Place) fixed(v variable) (corev1.EnvVar, bool) {
	value := strings.TrimSuffix(v.value, ofEpoch)
	switch value {
	case protocol.SizePlaceholder:
		return corev1.EnvVar{Name: v.name, Value: strconv.FormatInt(int64(at.Jobs)*int64(at.Each), 10)}, at.KnowsSize()
	case protocol.RankPlaceholder:
		if at.Jobs == 1 {
			return fromField(v.name, "metadata.annotations['"+batchv1.JobCompletionIndexAnnotation+"']"), true
		}
		return corev1.EnvVar{Name: v.name, Value: strconv.Itoa(int(at.Job))}, at.KnowsRank()
	}
	if port, ok := strings.CutPrefix(value, protocol.MasterPlaceholder); ok {
		return corev1.EnvVar{Name: v.name, Value: at.Master + port}, at.Master != ""
	}
	return corev1.EnvVar{Name: v.name, Value: value}, !variable{value: value}.dependsOnRun()
}
