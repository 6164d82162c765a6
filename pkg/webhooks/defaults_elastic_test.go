/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

func elasticJobSet(parallelism, completions *int32) *jobset.JobSet {
	return &jobset.JobSet{Spec: jobset.JobSetSpec{
		ReplicatedJobs: []jobset.ReplicatedJob{{
			Name: "w", Replicas: 1, Elastic: &jobset.ElasticBounds{MinInstances: 3, MaxInstances: 8},
			Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Parallelism: parallelism, Completions: completions}},
		}},
		FailurePolicy: &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart},
	}}
}

func TestElasticSizes(t *testing.T) {
	n := ptr.To[int32]
	bothGates := gates.Set{InPlaceRestart: true, ElasticJobSet: true}
	for name, tc := range map[string]struct {
		parallelism, completions *int32
		stored                   int32 // 0: it is created
		gates                    gates.Set
		want                     int32
	}{
		"P100: a new one starts with its least size":                 {gates: gates.Set{ElasticJobSet: true}, want: 3},
		"P100: one that restarts in place, too":                      {gates: bothGates, want: 3},
		"P100: with the gate off there is no least size":             {gates: gates.Set{InPlaceRestart: true}, want: 1},
		"P100: parallelism is completions":                           {parallelism: n(5), gates: bothGates, want: 5},
		"P100: completions are parallelism":                          {completions: n(5), gates: gates.Set{ElasticJobSet: true}, want: 5},
		"P100: an update that leaves the size out keeps it":          {stored: 7, gates: gates.Set{ElasticJobSet: true}, want: 7},
		"P100: also of one that restarts in place":                   {stored: 7, gates: bothGates, want: 7},
		"P100: an update that changes one of them changes the other": {parallelism: n(4), stored: 7, gates: bothGates, want: 4},
	} {
		t.Run(name, func(t *testing.T) {
			js := elasticJobSet(tc.parallelism, tc.completions)
			if tc.stored == 0 {
				Default(js, tc.gates)
			} else {
				Keep(js, elasticJobSet(&tc.stored, &tc.stored))
			}
			job := js.Spec.ReplicatedJobs[0].Template.Spec
			if ptr.Deref(job.Parallelism, -1) != tc.want || ptr.Deref(job.Completions, -1) != tc.want {
				t.Errorf("parallelism %d, completions %d, want %d", ptr.Deref(job.Parallelism, -1), ptr.Deref(job.Completions, -1), tc.want)
			}
		})
	}
}
