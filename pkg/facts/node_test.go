/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhatIsKeptOfANode(t *testing.T) {
	t.Parallel()
	full := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "n", UID: "u", ResourceVersion: "7", Labels: map[string]string{"zone": "z"}, Annotations: map[string]string{"notes": "long"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}},
		},
		Spec: corev1.NodeSpec{PodCIDR: "10.0.0.0/24", Taints: []corev1.Taint{{Key: "k"}}},
		Status: corev1.NodeStatus{
			NodeInfo:         corev1.NodeSystemInfo{KubeletVersion: "v1.36.0", OSImage: "os"},
			DeclaredFeatures: []string{"F"},
			Images:           []corev1.ContainerImage{{Names: []string{"i"}}},
			Conditions: []corev1.NodeCondition{
				{Type: corev1.NodeDiskPressure, Status: "False"}, {Type: corev1.NodeReady, Status: "True", Reason: "r", Message: "m"},
			},
		},
	}
	want := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "u", ResourceVersion: "7", Labels: map[string]string{"zone": "z"}},
		Status: corev1.NodeStatus{
			NodeInfo:         corev1.NodeSystemInfo{KubeletVersion: "v1.36.0"},
			DeclaredFeatures: []string{"F"},
			Conditions:       []corev1.NodeCondition{{Type: corev1.NodeReady, Status: "True"}},
		},
	}
	if diff := cmp.Diff(want, StripNode(full)); diff != "" {
		t.Errorf("C6: what is kept (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(OfNode(full), OfNode(StripNode(full))); diff != "" {
		t.Errorf("C6: facts of the cached Node (-want +got):\n%s", diff)
	}
}

func TestRestartsAllContainers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		version  string
		declared []string
		want     bool
	}{
		"a kubelet of 1.36 does by default":                       {"v1.36.0", nil, true},
		"so does a pre-release of 1.36":                           {"v1.36.0-rc.1", nil, true},
		"C277: a kubelet of 1.35 does not":                        {"v1.35.4", nil, false},
		"C277: unless it declares the feature":                    {"v1.35.4", []string{"Other", restartAllContainersFeature}, true},
		"a vendor's suffix does not matter":                       {"v1.34.2-gke.100", nil, false},
		"a version that cannot be read is trusted, not accused":   {"unknown", nil, true},
		"a node that has not reported its version is not accused": {"", nil, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := &corev1.Node{}
			node.Status.NodeInfo.KubeletVersion = tc.version
			node.Status.DeclaredFeatures = tc.declared
			if got := OfNode(StripNode(node)).RestartsAll; got != tc.want {
				t.Errorf("want %t, got %t", tc.want, got)
			}
		})
	}
}
