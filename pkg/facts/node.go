/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"
)

// Node is what is read of a Node besides its labels.
type Node struct {
	// Ready: its kubelet reports, and is well.
	Ready bool
	// Kubelet is the version of its kubelet, and RestartsAll whether that restarts all containers of a Pod when a rule asks for it.
	Kubelet     string
	RestartsAll bool
}

// restartAllContainersFeature is declared by kubelets that restart all containers of a Pod when a rule asks for it.
const restartAllContainersFeature = "RestartAllContainersOnContainerExits"

// restartAllContainersSince is the first version whose kubelets do so by default.
var restartAllContainersSince = utilversion.MustParseSemantic("1.36.0-0")

// OfNode returns the facts of a Node.
func OfNode(node *corev1.Node) Node {
	kubelet := node.Status.NodeInfo.KubeletVersion
	return Node{
		Ready: slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		}),
		Kubelet:     kubelet,
		RestartsAll: slices.Contains(node.Status.DeclaredFeatures, restartAllContainersFeature) || isNewEnough(kubelet),
	}
}

// isNewEnough trusts a kubelet whose version cannot be parsed.
func isNewEnough(kubelet string) bool {
	version, err := utilversion.ParseSemantic(kubelet)
	return err != nil || version.AtLeast(restartAllContainersSince)
}

// StripNode returns a Node with the facts of another, and its labels: all of them, since a JobSet may use any as its
// topology. Most of the size of a Node is in its images, conditions and annotations.
func StripNode(node *corev1.Node) *corev1.Node {
	stripped := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, UID: node.UID, ResourceVersion: node.ResourceVersion, Labels: node.Labels},
		Status: corev1.NodeStatus{
			NodeInfo:         corev1.NodeSystemInfo{KubeletVersion: node.Status.NodeInfo.KubeletVersion},
			DeclaredFeatures: node.Status.DeclaredFeatures,
		},
	}
	for _, c := range node.Status.Conditions {
		if c.Type == corev1.NodeReady {
			stripped.Status.Conditions = []corev1.NodeCondition{{Type: c.Type, Status: c.Status}}
		}
	}
	return stripped
}
