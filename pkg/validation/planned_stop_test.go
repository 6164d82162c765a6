/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// stopping sets how workers stop as planned.
func stopping(grace *int32, signal jobset.PlannedStopSignal) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		policy := js.Spec.FailurePolicy.InPlaceRestart
		policy.PlannedStopGracePeriodSeconds, policy.PlannedStopSignal = grace, signal
	}
}

func TestPlannedStop(t *testing.T) {
	const grace, signal = policyPath + ".plannedStopGracePeriodSeconds", policyPath + ".plannedStopSignal"
	runCreate(t, inPlaceJobSet, map[string]createCase{
		"P142: a template with an agent of its own is in container mode": {
			gates: gateOn, mut: withMode(jobset.ContainerMode, stopping(ptr.To[int32](60), "")),
			want: []violation{forbidden(grace, "in mode Container the kubelet stops the worker")},
		},
	})
	runCreate(t, processJobSet, map[string]createCase{
		"P142: the shortest":        {gates: gateOn, mut: withMode(jobset.ProcessMode, stopping(ptr.To[int32](1), ""))},
		"P142: the longest, TERM":   {gates: gateOn, mut: withMode(jobset.ProcessMode, stopping(ptr.To[int32](300), "TERM"))},
		"P142: USR1":                {gates: gateOn, mut: withMode(jobset.ProcessMode, stopping(ptr.To[int32](60), "USR1"))},
		"P142: USR2":                {gates: gateOn, mut: withMode(jobset.ProcessMode, stopping(ptr.To[int32](60), "USR2"))},
		"P142: nothing is no error": {gates: gateOn, mut: withMode(jobset.ProcessMode, stopping(nil, ""))},
		"P142: container mode has no supervisor": {
			gates: gateOn, mut: withMode(jobset.ContainerMode, stopping(ptr.To[int32](60), "TERM")),
			want: []violation{
				forbidden(grace, "in mode Container the kubelet stops the worker, not a supervisor; remove it, or set mode: Process"),
				forbidden(signal, "in mode Container the kubelet stops the worker"),
			},
		},
		"P142: a signal that is never sent": {
			gates: gateOn, mut: withMode(jobset.ProcessMode, stopping(nil, "USR1")),
			want: []violation{forbidden(signal, "is read only with plannedStopGracePeriodSeconds")},
		},
	})
}

func TestPlannedStopIsImmutable(t *testing.T) {
	base := func() *jobset.JobSet {
		js := processJobSet()
		withMode(jobset.ProcessMode, stopping(ptr.To[int32](60), ""))(js)
		return js
	}
	const changed = "cannot be added, removed or changed after creation, changed: spec.failurePolicy.inPlaceRestart."
	runUpdate(t, base, map[string]updateCase{
		"P142: the time":   {gates: gateOn, mut: stopping(ptr.To[int32](61), ""), want: []violation{invalid("spec.failurePolicy", changed+"plannedStopGracePeriodSeconds")}},
		"P142: the signal": {gates: gateOn, mut: stopping(ptr.To[int32](60), "USR1"), want: []violation{invalid("spec.failurePolicy", changed+"plannedStopSignal")}},
	})
}

func TestWarningsOfPlannedStops(t *testing.T) {
	const pod = "spec.replicatedJobs[0].template.spec.template.spec"
	short := pod + ".terminationGracePeriodSeconds: is 30, less than plannedStopGracePeriodSeconds (31): the Pods that a change of size or a move deletes " +
		"are killed while the others may still save; set at least 31"
	torch := func(js *jobset.JobSet) { js.Spec.FailurePolicy.InPlaceRestart.Environment = jobset.TorchEnvironment }
	for name, tc := range map[string]struct {
		change func(*jobset.JobSet)
		want   []string
	}{
		"P142: not set":                      {stopping(nil, ""), nil},
		"P142: as long as the grace of Pods": {stopping(ptr.To[int32](30), ""), nil},
		"P142: longer than that":             {stopping(ptr.To[int32](31), ""), []string{short}},
		"P142: a longer grace of Pods": {func(js *jobset.JobSet) {
			stopping(ptr.To[int32](300), "")(js)
			js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](300)
		}, nil},
		"P142: torchrun and TERM": {func(js *jobset.JobSet) { torch(js); stopping(ptr.To[int32](30), "TERM")(js) }, nil},
		"P142: torchrun and USR1": {func(js *jobset.JobSet) { torch(js); stopping(ptr.To[int32](30), "USR1")(js) },
			[]string{policyPath + ".plannedStopSignal: is USR1, which ends torchrun and, with it, its ranks: set TERM if a container runs torchrun"}},
		"P142: USR1 without torchrun": {stopping(ptr.To[int32](30), "USR1"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			js := processJobSet()
			js.Spec.ReplicatedJobs = js.Spec.ReplicatedJobs[:1]
			withMode(jobset.ProcessMode, tc.change)(js)
			if diff := cmp.Diff(tc.want, plannedStopWarnings(js)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
