/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"fmt"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// The minor versions of Kubernetes from which it restarts single containers by their rules, and all containers of a Pod.
const (
	restartRules         = 35
	restartAllContainers = 36
)

// minor is the minor version of the cluster. That of a vendor may end in a plus.
func minor() int {
	GinkgoHelper()
	info, err := discoverer.ServerVersion()
	Expect(err).NotTo(HaveOccurred())
	n, err := strconv.Atoi(strings.TrimRight(info.Minor, "+"))
	Expect(err).NotTo(HaveOccurred(), "the minor version of the cluster")
	return n
}

// needs leaves out a story on clusters that are older.
func needs(version int, what string) {
	GinkgoHelper()
	if m := minor(); m < version {
		Skip(fmt.Sprintf("1.%d lacks %s, which 1.%d has", m, what, version))
	}
}

// needsMode leaves out a story in container mode on clusters that are older, once admission has said that it cannot be there.
func (g *Group) needsMode() {
	GinkgoHelper()
	if !g.shape.inPlace() || g.shape.Process || minor() >= restartAllContainers {
		return
	}
	js := g.shape.jobSet(g.namespace)
	if policy := js.Spec.FailurePolicy.InPlaceRestart; policy == nil || policy.Mode != jobset.ContainerMode {
		return
	}
	g.eventually(func() error { return api.Create(g.ctx, js.DeepCopy(), client.DryRunAll) }).
		Should(MatchError(ContainSubstring("needs Kubernetes 1.%d or newer", restartAllContainers)))
	needs(restartAllContainers, "RestartAllContainers, and admission says so")
}
