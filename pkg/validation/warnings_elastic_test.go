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
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestWarningsOfElasticJobs(t *testing.T) {
	list := func(names ...corev1.ResourceName) corev1.ResourceList {
		of := corev1.ResourceList{}
		for _, name := range names {
			of[name] = resource.MustParse("1")
		}
		return of
	}
	js := func(bounds *jobset.ElasticBounds, limits corev1.ResourceList) *jobset.JobSet {
		js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("w")).Obj()
		js.Spec.ReplicatedJobs[0].Elastic = bounds
		js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Limits: limits}}}
		return js
	}
	const path = "spec.replicatedJobs[0].template.spec.template.spec.containers[0].resources.limits: "
	const rest = ", so the size of w is planned by what it requests, and it may use more than its nodes have; set limits"
	bounds := &jobset.ElasticBounds{MinInstances: 1, MaxInstances: 2}
	planned := gates.Set{ElasticJobSet: true, ElasticAutoscaling: true}
	for name, tc := range map[string]struct {
		js    *jobset.JobSet
		gates gates.Set
		want  []string
	}{
		"P105: no limits":                 {js(bounds, nil), planned, []string{path + "has no limit of cpu and memory" + rest}},
		"P105: no limit of memory":        {js(bounds, list("cpu")), planned, []string{path + "has no limit of memory" + rest}},
		"P105: both limits":               {js(bounds, list("cpu", "memory")), planned, nil},
		"P105: a GPU job":                 {js(bounds, list("nvidia.com/gpu")), planned, nil},
		"P105: not elastic":               {js(nil, nil), planned, nil},
		"P105: nobody plans it, gate off": {js(bounds, nil), gates.Set{ElasticJobSet: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Warnings(tc.js, tc.gates)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
