/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Mounted returns the names of the volumes that containers of a Pod mount.
func Mounted(spec *corev1.PodSpec) sets.Set[string] {
	names := sets.New[string]()
	for c := range allContainers(spec) {
		for i := range c.VolumeMounts {
			names.Insert(c.VolumeMounts[i].Name)
		}
	}
	return names
}
