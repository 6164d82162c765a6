/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	corev1 "k8s.io/api/core/v1"
)

func TestPathsInEmptyDirsBecomeThoseOfThisMachine(t *testing.T) {
	emptyDir := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	request := ContainerRequest{
		PodDir: "/pods/uid",
		Pod: &corev1.Pod{Spec: corev1.PodSpec{Volumes: []corev1.Volume{
			{Name: "shared", VolumeSource: emptyDir}, {Name: "nested", VolumeSource: emptyDir}, {Name: "token"},
			{Name: "parts", VolumeSource: emptyDir},
		}}},
		Container: &corev1.Container{VolumeMounts: []corev1.VolumeMount{
			{Name: "shared", MountPath: "/shared"}, {Name: "nested", MountPath: "/shared/nested"}, {Name: "token", MountPath: "/token"},
			{Name: "parts", MountPath: "/parts/a", SubPath: "a"}, {Name: "parts", MountPath: "/parts/b", SubPath: "b"},
		}},
		Command: []string{"/shared/bin/program", "--"},
		Args:    []string{"/sharedness", "--dir=/shared", "/shared/nested/x", "/token/x", "/parts/b/x", "/parts"},
		Env:     []corev1.EnvVar{{Name: "DIR", Value: "/shared"}},
	}
	command := request.Command

	request.mount()

	want := ContainerRequest{
		PodDir: request.PodDir, Pod: request.Pod, Container: request.Container,
		Command: []string{"/pods/uid/volumes/shared/bin/program", "--"},
		Args:    []string{"/sharedness", "--dir=/shared", "/pods/uid/volumes/nested/x", "/token/x", "/pods/uid/volumes/parts/b/x", "/pods/uid/volumes/parts"},
		Env:     []corev1.EnvVar{{Name: "DIR", Value: "/pods/uid/volumes/shared"}},
	}
	if diff := cmp.Diff(want, request); diff != "" {
		t.Errorf("(-want, +got):\n%s", diff)
	}
	if command[0] != "/shared/bin/program" {
		t.Error("the command that it was given was changed")
	}
}
