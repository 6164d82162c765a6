/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

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
		if err := s.jobs.Store.Add(job); err != nil {
			t.Fatal(err)
		}
		for index, name := range []string{"new", "old", "gone", ""} {
			pod := builders.MakePod(job, index).Change(func(p *corev1.Pod) { p.Spec.NodeName = name }).Obj()
			if err := s.pods.Store.Add(facts.Of(pod)); err != nil {
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
		s.Record.Expect(t, "event Warning RestartAllContainersUnsupported Reconciling: workers do not restart in place on nodes that ignore "+
			"RestartAllContainers; upgrade them to Kubernetes 1.36 or keep the JobSet off them: old (kubelet v1.35.4) (1 in all)")
	})
}
