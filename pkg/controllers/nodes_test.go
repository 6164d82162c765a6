/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

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
			stripped, err := stripNode(node)
			if err != nil {
				t.Fatal(err)
			}
			if got := restartsAllContainers(stripped.(*corev1.Node)); got != tc.want {
				t.Errorf("want %t, got %t", tc.want, got)
			}
		})
	}
}

func TestOldNodesAreToldOnce(t *testing.T) {
	t.Parallel()
	t.Run("C277: one event names the nodes under the workers that are too old", func(t *testing.T) {
		t.Parallel()
		js, job := workers()
		node := func(name, version string) *corev1.Node {
			n := &corev1.Node{}
			n.Name, n.Status.NodeInfo.KubeletVersion = name, version
			return n
		}
		s := newShell(t, js, node("new", "v1.36.3"), node("old", "v1.35.4"))
		if err := s.jobs.store.Add(job); err != nil {
			t.Fatal(err)
		}
		for index, name := range []string{"new", "old", "gone", ""} {
			pod := builders.MakePod(job, index).Change(func(p *corev1.Pod) { p.Spec.NodeName = name }).Obj()
			if err := s.pods.store.Add(pod); err != nil {
				t.Fatal(err)
			}
		}
		processes := js.DeepCopy() // P57: need no such kubelet
		processes.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}
		for _, js := range []*jobset.JobSet{processes, js, js} {
			if err := s.tellOldNodes(t.Context(), js); err != nil {
				t.Fatal(err)
			}
		}
		s.record.expect(t, "event Warning RestartAllContainersUnsupported Reconciling: workers do not restart in place on nodes that ignore "+
			"RestartAllContainers; upgrade them to Kubernetes 1.36 or keep the JobSet off them: old (kubelet v1.35.4) (1 in all)")
	})
}
