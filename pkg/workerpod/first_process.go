/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// inits are names of programs that end at once, or do something else, unless they are the first process of a container.
var inits = []string{"init", "systemd"}

// FirstProcesses returns the commands that, by their names, do not work below a supervisor (P60b). Other programs may have
// such a name, so these are reasons not to choose process mode, and none to refuse it.
func FirstProcesses(js *jobset.JobSet) []Obstacle {
	var out []Obstacle
	for i := range js.Spec.ReplicatedJobs {
		spec := &js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec
		if slices.ContainsFunc(spec.InitContainers, func(c corev1.Container) bool { return bringsAgent(&c) }) {
			continue
		}
		containers := field.NewPath("spec", "replicatedJobs").Index(i).Child("template", "spec", "template", "spec", "containers")
		for c := range spec.Containers {
			worker := &spec.Containers[c]
			if len(worker.Command) > 0 && slices.Contains(inits, path.Base(worker.Command[0])) {
				out = append(out, Obstacle{Path: containers.Index(c).Child("command").Index(0), Value: worker.Command[0], Container: worker.Name,
					Reason: "has the name of an init, as s6-overlay and systemd have one, which must be the first process of its container, and here the supervisor is",
					Fix:    "start the program without it"})
			}
		}
	}
	return out
}
