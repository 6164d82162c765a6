/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

func TestRequests(t *testing.T) {
	container := func(cpu, gpus string) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse(cpu), gpu: resource.MustParse(gpus),
		}}}
	}
	sidecar := func(c corev1.Container) corev1.Container {
		c.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
		return c
	}
	for name, tc := range map[string]struct {
		spec corev1.PodSpec
		want Resources
	}{
		"P106: containers run together": {
			corev1.PodSpec{Containers: []corev1.Container{container("1", "1"), container("500m", "2")}},
			Resources{corev1.ResourceCPU: 1500, gpu: 3},
		},
		"P106: what nobody has does not overflow": {
			corev1.PodSpec{Containers: []corev1.Container{container("9E", "4611686018427387904"), container("1", "4611686018427387904"), container("0", "10E")}},
			Resources{corev1.ResourceCPU: mostOwed, gpu: mostOwed},
		},
		"P106: sidecars run beside them, and an init container before": {
			corev1.PodSpec{
				InitContainers: []corev1.Container{sidecar(container("100m", "0")), container("4", "0"), sidecar(container("200m", "0"))},
				Containers:     []corev1.Container{container("1", "1")},
			},
			Resources{corev1.ResourceCPU: 4100, gpu: 1},
		},
		"P106: requests of the Pod replace those of its containers, and the overhead comes on top": {
			corev1.PodSpec{
				Containers: []corev1.Container{container("1", "1")},
				Resources:  &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}},
				Overhead:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")},
			},
			Resources{corev1.ResourceCPU: 3010, gpu: 1},
		},
		"P106: a limit without a request is requested, as the API server writes it into Pods and not into templates": {
			corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
				Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2"), gpu: resource.MustParse("4")},
			}}}},
			Resources{corev1.ResourceCPU: 1000, gpu: 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Requests(&tc.spec)); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}
