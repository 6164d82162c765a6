/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"hash/fnv"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
)

const (
	// injectedPort is the port of the barrier. Workers bind common ports, such as DefaultBarrierPort,
	// without declaring them, and the agent closes its port only some time after the lift.
	injectedPort int32 = 28080

	// With hostNetwork, barriers use another range of ports, below the ports of nodes, Services
	// and rendezvous (29500).
	firstHostPort int32 = 20000
	hostPorts     int32 = 8000
)

// freePort returns a port for the barrier that no container of the Pod declares. With
// hostNetwork it depends on the name of the Job, so that Pods of different Jobs can share a node.
func freePort(spec *corev1.PodSpec, jobName string) int32 {
	port := injectedPort
	if spec.HostNetwork {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(jobName)) // never returns an error
		port = firstHostPort + int32(hash.Sum32()%uint32(hostPorts))
	}
	taken := map[int32]bool{}
	for c := range allContainers(spec) {
		for _, p := range c.Ports {
			taken[p.ContainerPort], taken[p.HostPort] = true, true
		}
	}
	for taken[port] {
		port++
	}
	return port
}

// allContainers iterates over the containers of a Pod, init containers first.
func allContainers(spec *corev1.PodSpec) func(yield func(*corev1.Container) bool) {
	return func(yield func(*corev1.Container) bool) {
		for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// agentResources returns resources of the agent with which the Pod keeps its QoS class (P54): in a
// Guaranteed Pod, requests and limits of the agent are equal. The agent also gets a limit for CPU or
// ephemeral storage if all other containers have one, because a quota may require it. In a Pod with
// Pod-level resources it has none of its own.
func agentResources(spec *corev1.PodSpec, with Injection) corev1.ResourceRequirements {
	if r := spec.Resources; r != nil && len(r.Requests)+len(r.Limits) > 0 {
		return corev1.ResourceRequirements{}
	}
	requests, limits := Options{Resources: with.Resources}.resources()
	out := corev1.ResourceRequirements{Requests: requests, Limits: limits}
	for name, least := range configapi.DefaultAgentLimits() {
		if allLimit(spec, name) {
			limit(&out, name, least)
		}
	}
	if !isGuaranteed(spec) {
		return out
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		out.Requests[name] = out.Limits[name].DeepCopy()
	}
	return out
}

// AgentRequests returns what the agent that the manager adds requests beside the containers of a Pod template.
func AgentRequests(spec *corev1.PodSpec, with Injection) corev1.ResourceList {
	return agentResources(spec, with).Requests
}

// limit sets a limit that is missing, to the request if that is higher.
func limit(r *corev1.ResourceRequirements, name corev1.ResourceName, least resource.Quantity) {
	if r.Requests == nil {
		r.Requests = corev1.ResourceList{}
	}
	if r.Limits == nil {
		r.Limits = corev1.ResourceList{}
	}
	if _, limited := r.Limits[name]; limited {
		return
	}
	if request := r.Requests[name]; request.Cmp(least) > 0 {
		least = request
	}
	r.Limits[name] = least
}

// allLimit reports whether every container has a limit for a resource.
func allLimit(spec *corev1.PodSpec, name corev1.ResourceName) bool {
	for c := range allContainers(spec) {
		if quantity, limited := c.Resources.Limits[name]; !limited || quantity.IsZero() {
			return false
		}
	}
	return len(spec.Containers) > 0
}

// isGuaranteed reports whether every container has equal requests and limits. An absent request is equal to its limit.
func isGuaranteed(spec *corev1.PodSpec) bool {
	names := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory}
	for c := range allContainers(spec) {
		equal := !slices.ContainsFunc(names, func(name corev1.ResourceName) bool {
			request, requested := c.Resources.Requests[name]
			return requested && request.Cmp(c.Resources.Limits[name]) != 0
		})
		if !equal {
			return false
		}
	}
	return allLimit(spec, corev1.ResourceCPU) && allLimit(spec, corev1.ResourceMemory)
}
