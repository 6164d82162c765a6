/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
)

// reasonUnsupported is the waiting reason of a container that asks for something this package does not do. Such a
// container never starts: a test that silently ran without its probe or its volume would prove nothing.
const reasonUnsupported = "UnsupportedBySimulatedNode"

// unsupported names the first thing about a container that cannot be honoured, or returns nothing.
func unsupported(pod *corev1.Pod, c *corev1.Container) string {
	if c.ReadinessProbe != nil || c.LivenessProbe != nil {
		return fmt.Sprintf("container %s: of probes only startupProbe is supported by this simulated node", c.Name)
	}
	if p := c.StartupProbe; p != nil {
		if p.HTTPGet == nil {
			return fmt.Sprintf("container %s: startupProbe: only httpGet is supported by this simulated node", c.Name)
		}
		if _, err := probePort(c, p.HTTPGet); err != nil {
			return fmt.Sprintf("container %s: startupProbe: %v", c.Name, err)
		}
	}
	if l := c.Lifecycle; l != nil && (l.PreStop != nil || l.PostStart != nil && l.PostStart.Exec == nil) {
		return fmt.Sprintf("container %s: of lifecycle hooks only postStart with exec is supported by this simulated node", c.Name)
	}
	for _, m := range c.VolumeMounts {
		for i := range pod.Spec.Volumes {
			if v := &pod.Spec.Volumes[i]; v.Name == m.Name && !supportedVolume(v) {
				return fmt.Sprintf("container %s: volume %s: only emptyDir, projected, downwardAPI and configMap volumes are tolerated by this simulated node", c.Name, v.Name)
			}
		}
	}
	return ""
}

func supportedVolume(v *corev1.Volume) bool {
	return v.EmptyDir != nil || v.Projected != nil || v.DownwardAPI != nil || v.ConfigMap != nil
}

// VolumeDir is where the emptyDir volume of that name lives below the directory of a Pod. Nothing is mounted: whoever
// runs in the Pod finds its volumes there.
func VolumeDir(podDir, volume string) string {
	return filepath.Join(podDir, "volumes", volume)
}

func makePodDir(podDir string, pod *corev1.Pod) error {
	if err := os.MkdirAll(podDir, 0o755); err != nil {
		return fmt.Errorf("creating directory of Pod: %w", err)
	}
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].EmptyDir == nil {
			continue
		}
		if err := os.MkdirAll(VolumeDir(podDir, pod.Spec.Volumes[i].Name), 0o755); err != nil {
			return fmt.Errorf("creating emptyDir of Pod: %w", err)
		}
	}
	for i := range pod.Spec.Containers { // as kubelets do
		for _, m := range pod.Spec.Containers[i].VolumeMounts {
			if m.SubPath == "" || !isEmptyDir(pod, m.Name) {
				continue
			}
			if err := os.MkdirAll(filepath.Join(VolumeDir(podDir, m.Name), m.SubPath), 0o755); err != nil {
				return fmt.Errorf("creating a part of an emptyDir: %w", err)
			}
		}
	}
	return nil
}
