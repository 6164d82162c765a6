/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

var mutableResources = gates.Set{MutablePodResourcesForSuspendedJobSets: true}

// resized gives the first container of the leader, and an init container, other requests and limits.
func resized(requests, limits string) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		of := corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(requests)}, Limits: corev1.ResourceList{"cpu": resource.MustParse(limits)}}
		pod(js, 0).Containers[0].Resources = of
		pod(js, 0).InitContainers = []corev1.Container{{Name: "init", Resources: of}}
	}
}

func TestUpdateResourcesWhileSuspended(t *testing.T) {
	suspended := func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }
	two := func(js *jobset.JobSet) {
		pod(js, 0).Containers = append(pod(js, 0).Containers, corev1.Container{Name: "second"})
	}
	first := replicatedJobs + "[0].template.spec.template.spec."
	runUpdate(t, plainJobSet, map[string]updateCase{
		"W144: they may change":                              {gates: mutableResources, old: each(resized("1", "2"), suspended), mut: resized("3", "4")},
		"W144: in the update that suspends":                  {gates: mutableResources, old: resized("1", "2"), mut: each(resized("3", "4"), suspended)},
		"W144: in the update that resumes":                   {gates: mutableResources, old: each(resized("1", "2"), suspended), mut: func(js *jobset.JobSet) { resized("3", "4")(js); js.Spec.Suspend = nil }},
		"W144: beside what may change without the gate, too": {gates: mutableResources, old: each(resized("1", "2"), suspended), mut: each(resized("3", "4"), fiveFields)},
		"W144: not while it runs": {gates: mutableResources, old: resized("1", "2"), mut: resized("3", "4"),
			want: []violation{invalid(replicatedJobs, "containers[0].resources.requests[cpu]; this may change while the JobSet is suspended: set spec.suspend to true in the same update")}},
		"W144 C187: not with the gate off": {old: each(resized("1", "2"), suspended), mut: resized("3", "4"),
			want: []violation{invalid(replicatedJobs, "containers[0].resources.requests[cpu]; requests and limits may change while the JobSet is suspended, behind a feature gate of the manager: "+
				"start it with --feature-gates=MutablePodResourcesForSuspendedJobSets=true")}},
		"W144: claims may not": {gates: mutableResources, old: suspended, mut: func(js *jobset.JobSet) {
			pod(js, 0).Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
		}, want: []violation{invalid(replicatedJobs, first+"containers[0].resources.claims")}},
		"W144: an image may not, beside them": {gates: mutableResources, old: each(resized("1", "2"), suspended), mut: func(js *jobset.JobSet) {
			resized("3", "4")(js)
			pod(js, 0).Containers[0].Image = "other"
		}, want: []violation{invalid(replicatedJobs, "field is immutable, changed: "+first+"containers[0].image")}},
		"W144: resources of the whole Pod may not": {gates: mutableResources, old: suspended, mut: func(js *jobset.JobSet) {
			pod(js, 0).Resources = &corev1.ResourceRequirements{Limits: corev1.ResourceList{"cpu": resource.MustParse("1")}}
		}, want: []violation{invalid(replicatedJobs, first+"resources")}},
		"W144: containers are matched by name, and their order stays": {gates: mutableResources, old: each(two, suspended), mut: func(js *jobset.JobSet) {
			all := pod(js, 0).Containers
			all[0], all[1] = all[1], all[0]
		}, want: []violation{invalid(replicatedJobs, "field is immutable, changed: "+first+"containers[0].name")}},
		"W144 W13a: a request above its limit is refused as in a new JobSet": {gates: mutableResources, old: each(resized("1", "2"), suspended), mut: resized("5", "4"),
			want: []violation{invalid(first+"initContainers[0].resources.requests[cpu]", ""), invalid(first+"containers[0].resources.requests[cpu]", "")}},
		"W144: one from before does not keep the JobSet from being resumed": {gates: mutableResources, old: each(resized("5", "4"), suspended), mut: func(js *jobset.JobSet) { js.Spec.Suspend = nil }},
	})
}
