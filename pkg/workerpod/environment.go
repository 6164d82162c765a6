/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// CoordinatorEnv is the variable with the address of the Pod that spec.coordinator names.
const CoordinatorEnv = "JOBSET_COORDINATOR"

// Place is what a Job's workers are told about where they stand (P120).
type Place struct {
	// Coordinator is the address of the coordinator, empty if the JobSet names none.
	Coordinator string
	// Master is the DNS name of rank 0 of the ReplicatedJob, empty if its Pods have no host names.
	Master string
	// Jobs is how many the ReplicatedJob has, Job the index of this one, and Each how many workers each has.
	Jobs, Job, Each int32
	// Resizable: Each may change while the Pods stay.
	Resizable bool
}

// variable is a variable of a worker. Placeholders of package protocol in its value stand for what a run decides.
type variable struct{ name, value string }

// dependsOnRun reports whether each start of the worker may give the variable another value.
func (v variable) dependsOnRun() bool { return strings.Contains(v.value, "{") }

// variables returns the variables of a worker that it does not set itself (P120).
func variables(worker *corev1.Container, at Place) []variable {
	all := []variable{
		{protocol.EpochEnv, protocol.EpochPlaceholder},
		{protocol.RestartsEnv, protocol.RestartsPlaceholder},
		{protocol.WorldSizeEnv, protocol.SizePlaceholder},
		{protocol.RankEnv, protocol.RankPlaceholder},
		{protocol.MasterAddrEnv, protocol.MasterPlaceholder},
	}
	if at.Coordinator != "" {
		all = append(all, variable{CoordinatorEnv, at.Coordinator})
	}
	return slices.DeleteFunc(all, func(v variable) bool { return FindEnv(worker, v.name) >= 0 })
}

// runVariables adds the variables of a worker in process mode: those that never change, and for its supervisor
// the list of those that it sets at each start.
func runVariables(worker *corev1.Container, at Place) {
	var atStart []string
	for _, v := range variables(worker, at) {
		if v.dependsOnRun() {
			atStart = append(atStart, v.name+"="+v.value)
		} else {
			worker.Env = append(worker.Env, corev1.EnvVar{Name: v.name, Value: v.value})
		}
	}
	worker.Env = append(worker.Env, corev1.EnvVar{Name: protocol.VariablesEnv, Value: strings.Join(atStart, " ")})
}

// fixedVariables adds the variables of a worker in container mode, where nobody can set another value after the Pod
// was created: those that stay the same as long as the Pod exists.
func fixedVariables(worker *corev1.Container, at Place) {
	for _, v := range variables(worker, at) {
		if !v.dependsOnRun() {
			worker.Env = append(worker.Env, corev1.EnvVar{Name: v.name, Value: v.value})
		} else if fixed, ok := at.fixed(v); ok {
			worker.Env = append(worker.Env, fixed)
		}
	}
}

// fixed returns a variable with the value that it has as long as the Pod exists; false if there is none.
func (at Place) fixed(v variable) (corev1.EnvVar, bool) {
	switch v.value {
	case protocol.SizePlaceholder:
		return corev1.EnvVar{Name: v.name, Value: strconv.FormatInt(int64(at.Jobs)*int64(at.Each), 10)}, at.knowsSize()
	case protocol.RankPlaceholder:
		if at.Jobs == 1 {
			return fromField(v.name, "metadata.annotations['"+batchv1.JobCompletionIndexAnnotation+"']"), true
		}
		return corev1.EnvVar{Name: v.name, Value: strconv.Itoa(int(at.Job))}, at.KnowsRank()
	case protocol.MasterPlaceholder:
		return corev1.EnvVar{Name: v.name, Value: at.Master}, at.Master != ""
	}
	return corev1.EnvVar{}, false
}

func (at Place) knowsSize() bool { return at.Each > 0 && !at.Resizable }

// KnowsRank reports whether the rank of a worker is that of its Pod or of its Job alone, and so needs no sum.
func (at Place) KnowsRank() bool { return at.Jobs == 1 || at.Each == 1 && !at.Resizable }
