/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// TestKilledSupervisors: a supervisor that was killed with its worker tells nothing, so the kubelet's word is the cause (P66).
func TestKilledSupervisors(t *testing.T) {
	t.Parallel()
	js, job := workers()
	assembling := js.DeepCopy()
	assembling.Status.DeprecatedEpoch = ptr.To[int32](1)
	supervised := func(epoch string, changes ...func(*corev1.ContainerStatus)) *builders.PodWrapper {
		return builders.MakePod(job, 0).Epoch(epoch).Change(func(pod *corev1.Pod) {
			pod.Spec.NodeName = "n1"
			pod.Spec.Containers = []corev1.Container{{Name: "worker", Command: []string{"/jobset/bin/supervisor", "--", "train"}}, {Name: "side"}}
			status := corev1.ContainerStatus{Name: "worker"}
			for _, change := range changes {
				change(&status)
			}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
		})
	}
	cached := func(pod *builders.PodWrapper) *facts.Member {
		return facts.Of(pod.Obj())
	}
	end := func(code int32, reason string) func(*corev1.ContainerStatus) {
		return func(s *corev1.ContainerStatus) {
			s.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}
		}
	}
	again := func(s *corev1.ContainerStatus) {
		s.LastTerminationState, s.State = s.State, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	}
	otherName := func(s *corev1.ContainerStatus) { s.Name = "side" }
	outOfMemory := end(137, "OOMKilled")
	const killed = "container worker of worker pod js-w-0-0 exited with code 137 (signal 9, OOMKilled) on node n1"
	runs := supervised("1")
	for name, tc := range map[string]struct {
		assembling    bool
		before, after *builders.PodWrapper
		want          string
	}{
		"P66: out of memory":                                    {false, runs, supervised("1", outOfMemory), killed},
		"P66: seen when it runs again":                          {false, runs, supervised("1", outOfMemory, again), killed},
		"P66: told once":                                        {false, supervised("1", outOfMemory), supervised("1", outOfMemory, again), ""},
		"P66: by another signal":                                {false, runs, supervised("1", end(139, "Error")), "container worker of worker pod js-w-0-0 exited with code 139 (signal 11) on node n1"},
		"P66: one that asked to be replaced is told otherwise":  {false, runs, supervised("1", end(65, "Error")), ""},
		"P66: of another epoch":                                 {false, supervised("2"), supervised("2", outOfMemory), ""},
		"P66: in a restart":                                     {true, runs, supervised("1", outOfMemory), ""},
		"P66: of a Pod that is deleted, the deletion":           {false, runs, supervised("1", outOfMemory).Terminating(now), "worker pod js-w-0-0 was deleted on node n1"},
		"P66: a container without a supervisor is no cause":     {false, runs, supervised("1", outOfMemory, otherName), ""},
		"P66: nor is the end that an earlier leader saw before": {false, nil, supervised("1", outOfMemory), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := js
			if tc.assembling {
				of = assembling
			}
			var before *facts.Member
			if tc.before != nil {
				before = cached(tc.before)
			}
			failure, failed := failureIn(of, before, cached(tc.after))
			got := ""
			if failed {
				got = failure.String()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || !failed && failure != (policy.Failure{}) {
				t.Errorf("cause (-want +got):\n%s", diff)
			}
		})
	}
}
