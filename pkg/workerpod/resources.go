/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import corev1 "k8s.io/api/core/v1"

// CopyResources gives containers the requests and limits, not the claims, of those of the same name. Others, such as the agent, keep theirs.
func CopyResources(to, from *corev1.PodSpec) {
	for _, lists := range [][2][]corev1.Container{{to.InitContainers, from.InitContainers}, {to.Containers, from.Containers}} {
		named := make(map[string]*corev1.ResourceRequirements, len(lists[1]))
		for i := range lists[1] {
			named[lists[1][i].Name] = &lists[1][i].Resources
		}
		for i := range lists[0] {
			if c := &lists[0][i]; named[c.Name] != nil {
				c.Resources.Requests, c.Resources.Limits = named[c.Name].Requests, named[c.Name].Limits
			}
		}
	}
}
