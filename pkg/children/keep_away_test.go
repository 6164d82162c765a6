/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

func TestPodsKeepAwayFromSickNodes(t *testing.T) {
	gpu := corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")}
	cpu := nodehealth.Rules{corev1.ResourceCPU: {{Key: "example.com/cpu", Value: "sick"}}}
	for name, tc := range map[string]struct {
		from     nodehealth.Rules
		requests corev1.ResourceList
		strategy jobset.JobSetRestartStrategy
		want     []corev1.NodeSelectorRequirement
	}{
		"P90: a Job whose Pods request the resource carries the affinity": {
			from: nodehealth.DefaultRules(), requests: gpu, strategy: jobset.Recreate,
			want: []corev1.NodeSelectorRequirement{{Key: "autopilot.ibm.com/gpuhealth", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"ERR", "EVICT"}}},
		},
		"P90: a Job whose Pods do not carries none": {from: nodehealth.DefaultRules(), strategy: jobset.Recreate},
		"P90: nor does any if nothing is asked for": {requests: gpu, strategy: jobset.Recreate},
		"P90: an agent that is added counts as any init container": {
			from: cpu, strategy: jobset.InPlaceRestart,
			want: []corev1.NodeSelectorRequirement{{Key: "example.com/cpu", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"sick"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			js := builders.MakeJobSet("train", "ns").FailurePolicy(tc.strategy, 3).ReplicatedJob(builders.MakeReplicatedJob("workers")).Obj()
			js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers = []corev1.Container{
				{Name: "worker", Resources: corev1.ResourceRequirements{Requests: tc.requests}},
			}
			before := js.DeepCopy()

			job := NewBuilder(js).InjectAgents(workerpod.Injection{Image: "agent"}).KeepAway(tc.from).Job(&js.Spec.ReplicatedJobs[0], 0)

			var got []corev1.NodeSelectorRequirement
			if affinity := job.Spec.Template.Spec.Affinity; affinity != nil {
				got = affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("affinity (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, js); diff != "" {
				t.Errorf("the JobSet changed:\n%s", diff)
			}
		})
	}
}
