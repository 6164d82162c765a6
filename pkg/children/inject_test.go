/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func TestAgentsAreAddedWhenAJobIsBuilt(t *testing.T) {
	claim := corev1.PersistentVolumeClaim{}
	claim.Name = "data"
	for name, tc := range map[string]struct {
		strategy jobset.JobSetRestartStrategy
		want     []string // volumes
		agents   int
	}{
		"P50: beside what else the Job gets": {jobset.InPlaceRestart, []string{"data", workerpod.TokenVolumeName}, 1},
		"P50: not with another strategy":     {jobset.Recreate, []string{"data"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			js := builders.MakeJobSet("train", "ns").FailurePolicy(tc.strategy, 3).ReplicatedJob(builders.MakeReplicatedJob("workers")).Obj()
			js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{{Templates: []corev1.PersistentVolumeClaim{claim}}}
			pod := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
			pod.Containers = []corev1.Container{{Name: "worker", VolumeMounts: []corev1.VolumeMount{{Name: "data"}}}}
			before := js.DeepCopy()

			job := NewBuilder(js).InjectAgents(workerpod.Injection{Image: "agent"}).Job(&js.Spec.ReplicatedJobs[0], 0)

			var volumes []string
			for _, volume := range job.Spec.Template.Spec.Volumes {
				volumes = append(volumes, volume.Name)
			}
			if diff := cmp.Diff(tc.want, volumes); diff != "" {
				t.Errorf("volumes (-want +got):\n%s", diff)
			}
			if got := len(job.Spec.Template.Spec.InitContainers); got != tc.agents {
				t.Errorf("%d agents, want %d", got, tc.agents)
			}
			if diff := cmp.Diff(before, js); diff != "" {
				t.Errorf("the JobSet changed:\n%s", diff)
			}
		})
	}
}
