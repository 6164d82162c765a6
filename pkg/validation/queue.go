/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// QueueWarnings warns where a queue counts less than the Pods request (P90a): what the agents add, if a Pod may ask for all of a
// node, which whole CPUs tell.
func QueueWarnings(js *jobset.JobSet, g gates.Set, c Cluster) []string {
	if !workerpod.RestartsInPlace(js, g) || !placement.Queued(js) {
		return nil
	}
	var out []string
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		if !workerpod.IsInjected(js, rjob) {
			continue
		}
		spec := &rjob.Template.Spec.Template.Spec
		agent := workerpod.AgentRequests(spec, workerpod.Injection{Resources: c.AgentResources})
		asked := requestedCPU(spec)
		if len(agent) == 0 || asked.IsZero() || asked.MilliValue()%1000 != 0 {
			continue
		}
		out = append(out, fmt.Sprintf("%s: request %s CPU, and the agent that the manager adds to the Pod requests %s CPU and %s of memory more, which the queue does not count: "+
			"a Pod that asks for all of a node stays Pending; request that much less, and leave it free in the quota",
			podPath(i).Child("containers"), asked.String(), agent.Cpu(), agent.Memory()))
	}
	return out
}

// requestedCPU returns what the regular containers of a Pod request. A limit without a request is the request.
func requestedCPU(spec *corev1.PodSpec) resource.Quantity {
	var sum resource.Quantity
	for i := range spec.Containers {
		resources := &spec.Containers[i].Resources
		request, ok := resources.Requests[corev1.ResourceCPU]
		if !ok {
			request = resources.Limits[corev1.ResourceCPU]
		}
		sum.Add(request)
	}
	return sum
}
