/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package embedded tells the stories of package stories on a whole control plane:
// the real Job controller and scheduler, the manager, the agent and the workers
// as processes, and simulated nodes that restart containers as a kubelet does.
package embedded

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/simnode"
	"sigs.k8s.io/jobset/test/stories"
)

func TestEmbedded(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "In-place restart on an embedded control plane")
}

var _ = stories.Tell()

var _ = BeforeSuite(func(ctx SpecContext) {
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	s := &simulation{dir: GinkgoT().TempDir(), manager: framework.Build("./cmd/manager"), plugin: framework.Build("./cmd/kubectl-jobset")}
	images := map[string][]string{stories.AgentImage: {framework.Build("./cmd/agent")}, stories.WorkerImage: {framework.Build("./test/worker")}}
	s.plane = framework.StartControlPlane(cluster.Options{
		Dir: s.dir, Controllers: &cluster.Controllers{},
		// Names of simulated nodes lead nowhere, and the API server asks kubelets for logs.
		Environment: func(env *envtest.Environment) {
			env.ControlPlane.GetAPIServer().Configure().Set("kubelet-preferred-address-types", string(corev1.NodeInternalIP))
		},
	})
	_, err := s.plane.Kubectl(ctx, "apply", "--server-side", "-k", filepath.Join(framework.Root(), "test/demo/config"))
	Expect(err).NotTo(HaveOccurred())

	s.containers, err = simnode.NewProcessRuntime(simnode.ProcessRuntimeOptions{
		Images:   images,
		Programs: map[string]string{"/supervisor": framework.Build("./cmd/supervisor"), "/worker": images[stories.WorkerImage][0]},
		LogDir:   filepath.Join(s.dir, "pods"),
	})
	Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"node-a", "node-b"} {
		framework.RunNode(simnode.Options{
			Client: s.plane.Client, Name: name, Runtime: s.containers, RootDir: filepath.Join(s.dir, name),
			Tokens: &simnode.TokenOptions{ServerURL: s.plane.Config.Host, CAData: s.plane.Config.CAData},
		})
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

// managerAccount is the service account that the install gives the manager.
var managerAccount = types.NamespacedName{Namespace: "jobset-system", Name: "jobset-controller-manager"}
