/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	testcluster "sigs.k8s.io/jobset/test/cluster"
)

// minor is the minor version of the cluster.
func minor() int {
	GinkgoHelper()
	n, err := testcluster.Minor(discoverer)
	Expect(err).NotTo(HaveOccurred())
	return n
}

// needs leaves out a story on clusters that are older.
func needs(version int, what string) {
	GinkgoHelper()
	if m := minor(); m < version {
		Skip(testcluster.Lacks(m, version, what))
	}
}

// needsMode leaves out a story in container mode on clusters that are older, once admission has said that it cannot be there.
func (g *Group) needsMode() {
	GinkgoHelper()
	if !g.shape.inPlace() || g.shape.Process || minor() >= testcluster.RestartAllContainers {
		return
	}
	js := g.shape.jobSet(g.namespace)
	if policy := js.Spec.FailurePolicy.InPlaceRestart; policy == nil || policy.Mode != jobset.ContainerMode {
		return
	}
	g.eventually(func() error { return api.Create(g.ctx, js.DeepCopy(), client.DryRunAll) }).
		Should(MatchError(ContainSubstring("needs Kubernetes 1.%d or newer", testcluster.RestartAllContainers)))
	needs(testcluster.RestartAllContainers, "RestartAllContainers, and admission says so")
}
