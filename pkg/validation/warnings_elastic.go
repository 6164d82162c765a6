/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// elasticWarnings are about CPU jobs without limits, of which the planner counts the requests (P105).
func elasticWarnings(js *jobset.JobSet) []string {
	var out []string
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		spec := &rjob.Template.Spec.Template.Spec
		if rjob.Elastic == nil || asksForDevices(spec) {
			continue
		}
		for k := range spec.Containers {
			c := &spec.Containers[k]
			var missing []string
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				if _, limited := c.Resources.Limits[name]; !limited && !limitsPod(spec, name) {
					missing = append(missing, string(name))
				}
			}
			if len(missing) > 0 {
				out = append(out, fmt.Sprintf("%s: has no limit of %s, so the size of %s is planned by what it requests, "+
					"and it may use more than its nodes have; set limits",
					podPath(i).Child("containers").Index(k).Child("resources", "limits"), strings.Join(missing, " and "), rjob.Name))
			}
		}
	}
	return out
}

// asksForDevices reports whether a Pod requests anything with a name of its vendor, which may be an accelerator.
func asksForDevices(spec *corev1.PodSpec) bool {
	for i := range spec.Containers {
		resources := &spec.Containers[i].Resources
		for _, list := range []corev1.ResourceList{resources.Requests, resources.Limits} {
			for name := range list {
				if strings.Contains(string(name), "/") {
					return true
				}
			}
		}
	}
	return false
}

func limitsPod(spec *corev1.PodSpec, name corev1.ResourceName) bool {
	if spec.Resources == nil {
		return false
	}
	_, limited := spec.Resources.Limits[name]
	return limited
}
