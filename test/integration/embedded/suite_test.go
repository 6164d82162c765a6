/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package embedded tells the stories of package stories on a whole control plane:
// the real Job controller and scheduler, the manager, the agent and the workers
// as processes, and simulated nodes that restart containers as a kubelet does.
package embedded

import (
	"fmt"
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/process"
	"sigs.k8s.io/jobset/test/simnode"
	"sigs.k8s.io/jobset/test/stories"
)

func TestEmbedded(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "In-place restart on an embedded control plane")
}

var (
	_ = stories.Tell()
	_ = stories.Hangs()
)

var _ = ReportAfterSuite("table of hangs", func(report Report) { fmt.Print(stories.HangTable(report.SpecReports)) })

var _ = SynchronizedBeforeSuite(framework.BuildPrograms, func(ctx SpecContext, dir []byte) {
	framework.Quiet()
	programs, _ := framework.Programs(dir)
	s := &simulation{dir: GinkgoT().TempDir(), manager: programs.Manager}
	s.plane = framework.StartInstalledControlPlane(ctx, s.dir, cluster.Controllers{})
	var err error
	s.metrics, err = process.FreeAddress()
	Expect(err).NotTo(HaveOccurred())
	s.containers, err = programs.Containers(s.dir)
	Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"node-a", "node-b"} {
		framework.RunNode(s.plane, simnode.Options{Name: name, Runtime: s.containers})
	}
	Expect(s.SetGate(ctx, true)).To(Succeed())
	shown = s
	Expect(stories.Use(s)).To(Succeed())
})

// shown is the simulation of the suite.
var shown *simulation

// A Job that is resumed before the real Job controller has suspended it would be
// refused, and tried again and again, in whatever story.
var _ = AfterEach(func() {
	log, err := os.ReadFile(shown.run.LogFile)
	Expect(err).NotTo(HaveOccurred())
	Expect(string(log)).NotTo(ContainSubstring("resuming Job "), "C167: errors of the manager")
})
