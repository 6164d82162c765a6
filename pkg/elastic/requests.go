/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// Requests returns what a Pod requests of its node, as the scheduler counts it: regular containers and
// sidecars together, or one init container with the sidecars before it if that is more; Pod-level
// requests in their place; and the overhead. A container that only has a limit for a resource requests as much:
// the API server writes that into Pods, and not into templates.
func Requests(spec *corev1.PodSpec) Resources {
	return sum(spec, func(c *corev1.Container) corev1.ResourceList {
		requests := corev1.ResourceList{}
		maps.Copy(requests, c.Resources.Limits)
		maps.Copy(requests, c.Resources.Requests)
		return requests
	}, func(pod *corev1.ResourceRequirements) corev1.ResourceList { return pod.Requests })
}

// Limits returns the same of limits. A container without a limit for a resource adds nothing.
func Limits(spec *corev1.PodSpec) Resources {
	return sum(spec, func(c *corev1.Container) corev1.ResourceList { return c.Resources.Limits },
		func(pod *corev1.ResourceRequirements) corev1.ResourceList { return pod.Limits })
}

func sum(spec *corev1.PodSpec, of func(*corev1.Container) corev1.ResourceList, ofPod func(*corev1.ResourceRequirements) corev1.ResourceList) Resources {
	total, sidecars, start := Resources{}, Resources{}, Resources{}
	for i := range spec.InitContainers {
		c := &spec.InitContainers[i]
		needs := Of(of(c))
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sidecars.Add(needs)
			continue
		}
		needs.Add(sidecars)
		start.AtLeast(needs)
	}
	total.Add(sidecars)
	for i := range spec.Containers {
		total.Add(Of(of(&spec.Containers[i])))
	}
	total.AtLeast(start)
	if spec.Resources != nil {
		maps.Copy(total, Of(ofPod(spec.Resources)))
	}
	total.Add(Of(spec.Overhead))
	return total
}

// Of returns the amounts of a list, none above mostOwed: nobody has as much, and sums must not overflow.
func Of(list corev1.ResourceList) Resources {
	amounts := make(Resources, len(list))
	for name, quantity := range list {
		switch {
		case quantity.CmpInt64(mostOwed/1000) > 0:
			amounts[name] = mostOwed
		case name == corev1.ResourceCPU:
			amounts[name] = quantity.MilliValue()
		default:
			amounts[name] = quantity.Value()
		}
	}
	return amounts
}

// Add adds the amounts of others.
func (r Resources) Add(more Resources) {
	for name, of := range more {
		r[name] = plus(r[name], of)
	}
}

// AtLeast raises amounts to those of others that are greater.
func (r Resources) AtLeast(other Resources) {
	for name, of := range other {
		r[name] = max(r[name], of)
	}
}
