/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// mount stands in for the mounts of a container: the path of an emptyDir, or one below it, becomes the one on this
// machine in its command, its arguments and its environment. A path inside of a longer text is not found. Where parts of
// a volume are mounted at their own places below a path, that path becomes the volume: here are no mounts that would
// leave out the rest.
func (r *ContainerRequest) mount() {
	r.Command, r.Args, r.Env = slices.Clone(r.Command), slices.Clone(r.Args), slices.Clone(r.Env)
	for i := range r.Command {
		r.Command[i] = r.Path(r.Command[i])
	}
	for i := range r.Args {
		r.Args[i] = r.Path(r.Args[i])
	}
	for i := range r.Env {
		r.Env[i].Value = r.Path(r.Env[i].Value)
	}
}

// Path returns where on this machine a path of the container is, if it is in an emptyDir; any other text stays.
func (r *ContainerRequest) Path(path string) string {
	best, found := "", path
	for _, m := range r.Container.VolumeMounts {
		if m.SubPath != "" {
			m.MountPath = strings.TrimSuffix(m.MountPath, "/"+m.SubPath)
		}
		rest, below := strings.CutPrefix(path, m.MountPath)
		if !below || (rest != "" && rest[0] != '/') || len(m.MountPath) <= len(best) || !isEmptyDir(r.Pod, m.Name) {
			continue
		}
		best, found = m.MountPath, VolumeDir(r.PodDir, m.Name)+rest
	}
	return found
}

func isEmptyDir(pod *corev1.Pod, volume string) bool {
	return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume && v.EmptyDir != nil })
}
