/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

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
		ofPod := ptr.Deref(spec.Resources, corev1.ResourceRequirements{}).Limits
		for k := range spec.Containers {
			var missing []string
			for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
				_, limited := spec.Containers[k].Resources.Limits[name]
				if _, together := ofPod[name]; !limited && !together {
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
		for name := range resourceNames(&spec.Containers[i].Resources) {
			if strings.Contains(string(name), "/") {
				return true
			}
		}
	}
	return false
}
