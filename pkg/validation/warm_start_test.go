/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// warmly sets warmStart, and changes the first container.
func warmly(change func(worker *corev1.Container)) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.InPlaceRestart.WarmStart = &jobset.WarmStartPolicy{}
		if change != nil {
			change(&js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers[0])
		}
	}
}

func TestWarmStart(t *testing.T) {
	const env = "spec.replicatedJobs[0].template.spec.template.spec.containers[0].env"
	sets := func(names ...string) func(*corev1.Container) {
		return func(worker *corev1.Container) {
			worker.Env = nil
			for _, name := range names {
				worker.Env = append(worker.Env, corev1.EnvVar{Name: name, Value: "x"})
			}
		}
	}
	runCreate(t, processJobSet, map[string]createCase{
		"P161: in process mode": {gates: gateOn, mut: withMode(jobset.ProcessMode, warmly(nil))},
		"P161: container mode has no supervisor": {
			gates: gateOn, mut: withMode(jobset.ContainerMode, warmly(nil)),
			want: []violation{forbidden(policyPath+".warmStart", "in mode Container the kubelet starts the worker, not a supervisor; remove it, or set mode: Process")},
		},
		"P160 P160a: variables that would hide the gate, all at once": {
			gates: gateOn, mut: withMode(jobset.ProcessMode, warmly(sets("JOBSET_GATE", "JOBSET_GATE_INODE", "JOBSET_GATE_READY", "JOBSET_WARM_START"))),
			want: []violation{
				forbidden(env+"[0].name", "JOBSET_GATE is set by the supervisor"),
				forbidden(env+"[1].name", "JOBSET_GATE_INODE is set by the supervisor"),
				forbidden(env+"[2].name", "JOBSET_GATE_READY is set by the supervisor"),
				forbidden(env+"[3].name", "JOBSET_WARM_START is set by the supervisor"),
			},
		},
		"P160: without warmStart they are the author's": {gates: gateOn, mut: withMode(jobset.ProcessMode, func(js *jobset.JobSet) {
			sets("JOBSET_GATE")(&js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers[0])
		})},
	})
}

func TestWarmStartIsImmutable(t *testing.T) {
	base := func() *jobset.JobSet {
		js := processJobSet()
		withMode(jobset.ProcessMode)(js)
		return js
	}
	runUpdate(t, base, map[string]updateCase{
		"P161: it is part of the Pod template": {gates: gateOn, mut: warmly(nil), want: []violation{invalid("spec.failurePolicy", "cannot be added, removed or changed after creation, changed: spec.failurePolicy.inPlaceRestart.warmStart")}},
	})
}

func TestWarningsOfWarmStart(t *testing.T) {
	const container = "spec.replicatedJobs[0].template.spec.template.spec.containers[0]"
	memory := func(request, limit string) func(*corev1.Container) {
		return func(worker *corev1.Container) {
			worker.Resources = corev1.ResourceRequirements{}
			if request != "" {
				worker.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(request)}
			}
			if limit != "" {
				worker.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}
			}
		}
	}
	short := func(limit, request, needed string) []string {
		return []string{container + ".resources.limits[memory]: is " + limit + ", less than twice the request of " + request +
			": until its gate opens, a standby (spec.failurePolicy.inPlaceRestart.warmStart) takes memory in addition to the program, " +
			"and all processes of a container that runs out of memory are killed; set " + needed + " if both need as much as is requested"}
	}
	for name, tc := range map[string]struct {
		change func(*corev1.Container)
		want   []string
	}{
		"P164: no limit":                             {memory("4Gi", ""), nil},
		"P164: nothing is said about memory":         {memory("", ""), nil},
		"P164: twice the request":                    {memory("4Gi", "8Gi"), nil},
		"P164: less than twice the request":          {memory("6Gi", "8Gi"), short("8Gi", "6Gi", "12Gi")},
		"P164: a request that is the limit":          {memory("4Gi", "4Gi"), short("4Gi", "4Gi", "8Gi")},
		"P164: a limit is the request if that lacks": {memory("", "500M"), short("500M", "500M", "1G")},
		"P160: torchrun": {func(worker *corev1.Container) { worker.Command = []string{"/usr/bin/torchrun", "train.py"} },
			[]string{container + ".command[0]: torchrun does not read the gate of spec.failurePolicy.inPlaceRestart.warmStart, and its ranks cannot share one, " +
				"so it always starts cold; run the program itself, with one process for each container"}},
	} {
		t.Run(name, func(t *testing.T) {
			js := processJobSet()
			withMode(jobset.ProcessMode, warmly(tc.change))(js)
			if diff := cmp.Diff(tc.want, warmStartWarnings(js)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
	if got := warmStartWarnings(processJobSet()); got != nil {
		t.Errorf("P164: without warmStart there are warnings: %v", got)
	}
}
