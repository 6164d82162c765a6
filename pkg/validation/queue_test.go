/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestWhatAQueueDoesNotCount(t *testing.T) {
	cpu := func(quantity string) corev1.ResourceRequirements {
		return corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(quantity)}}
	}
	for name, tc := range map[string]struct {
		asks     corev1.ResourceRequirements
		strategy jobset.JobSetRestartStrategy
		alone    bool
		want     bool
	}{
		"P90a: a Pod with whole CPUs may ask for all of a node": {asks: cpu("8"), want: true},
		"P90a: a limit is a request, too":                       {asks: corev1.ResourceRequirements{Limits: cpu("8").Requests}, want: true},
		"P90a: one that leaves something does not":              {asks: cpu("7900m")},
		"P90a: nor one without requests":                        {},
		"P90a: without a queue nobody counts":                   {asks: cpu("8"), alone: true},
		"P90a: without an agent there is nothing to count":      {asks: cpu("8"), strategy: jobset.Recreate},
	} {
		t.Run(name, func(t *testing.T) {
			strategy := jobset.InPlaceRestart
			if tc.strategy != "" {
				strategy = tc.strategy
			}
			js := builders.MakeJobSet("js", "ns").FailurePolicy(strategy, 1).ReplicatedJob(builders.MakeReplicatedJob("w")).Obj()
			js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Command: []string{"train"}, Resources: tc.asks}}
			if !tc.alone {
				js.Labels = map[string]string{"kueue.x-k8s.io/queue-name": "main"}
			}
			got := QueueWarnings(js, gates.Set{InPlaceRestart: true}, Cluster{})
			if len(got) > 0 != tc.want || tc.want && !strings.Contains(got[0], "request 8 CPU, and the agent that the manager adds to the Pod requests 10m CPU and 32Mi of memory more") {
				t.Errorf("warnings %q", got)
			}
		})
	}
}
