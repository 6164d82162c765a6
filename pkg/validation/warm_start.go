/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

var warmStartPath = inPlacePath.Child("warmStart")

// warmStart refuses a standby where no supervisor can start one, and variables that would hide its gate (P161).
func warmStart(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	if !startsWarm(js.Spec.FailurePolicy) {
		return nil
	}
	if workerpod.ModeOf(js.Spec.FailurePolicy) != jobset.ProcessMode {
		return onlyInProcessMode(warmStartPath, "the kubelet starts the worker, not a supervisor")
	}
	var errs field.ErrorList
	for i := range js.Spec.ReplicatedJobs {
		spec := podSpec(js, i)
		for c := range spec.Containers {
			for _, name := range []string{protocol.GateEnv, protocol.GateInodeEnv, protocol.GateReadyEnv, protocol.WarmStartEnv} {
				if at := workerpod.FindEnv(&spec.Containers[c], name); at >= 0 {
					errs = append(errs, field.Forbidden(podPath(i).Child("containers").Index(c).Child("env").Index(at).Child("name"),
						fmt.Sprintf("%s is set by the supervisor where %s is set; rename this variable", name, warmStartPath)))
				}
			}
		}
	}
	return errs
}

func startsWarm(policy *jobset.FailurePolicy) bool {
	return policy != nil && policy.InPlaceRestart != nil && policy.InPlaceRestart.WarmStart != nil
}

// warmStartWarnings say which containers may have no room for a second program, or cannot use its gate (P164).
func warmStartWarnings(js *jobset.JobSet) []string {
	if !startsWarm(js.Spec.FailurePolicy) {
		return nil
	}
	var out []string
	for i := range js.Spec.ReplicatedJobs {
		spec := podSpec(js, i)
		for c := range spec.Containers {
			worker, at := &spec.Containers[c], podPath(i).Child("containers").Index(c)
			if limit, request, needed, ok := tooLittleMemory(worker); ok {
				out = append(out, fmt.Sprintf("%s: is %s, less than twice the request of %s: until its gate opens, a standby (%s) takes memory in addition to the program, "+
					"and all processes of a container that runs out of memory are killed; set %s if both need as much as is requested",
					at.Child("resources", "limits").Key(string(corev1.ResourceMemory)), limit, request, warmStartPath, needed))
			}
			if len(worker.Command) > 0 && path.Base(worker.Command[0]) == "torchrun" {
				out = append(out, fmt.Sprintf("%s: torchrun does not read the gate of %s, and its ranks cannot share one, so it always starts cold; "+
					"run the program itself, with one process for each container", at.Child("command").Index(0), warmStartPath))
			}
		}
	}
	return out
}

// tooLittleMemory reports whether the limit is below twice the request, which is the limit if there is no other.
func tooLittleMemory(worker *corev1.Container) (limit, request, needed string, ok bool) {
	most, limited := worker.Resources.Limits[corev1.ResourceMemory]
	least, requested := worker.Resources.Requests[corev1.ResourceMemory]
	if !limited {
		return "", "", "", false
	}
	if !requested {
		least = most
	}
	twice := least.DeepCopy()
	twice.Add(least)
	return most.String(), least.String(), twice.String(), most.Cmp(twice) < 0
}
