/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package embedded tells the stories of package stories on a whole control plane:
// the real Job controller and scheduler, the manager, the agent and the workers
// as processes, and simulated nodes that restart containers as a kubelet does.
package embedded

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/simnode"
	"sigs.k8s.io/jobset/test/stories"
)

const root = "../../.."

func TestEmbedded(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "In-place restart on an embedded control plane")
}

var _ = stories.Tell()

var _ = BeforeSuite(func(ctx SpecContext) {
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	Expect(assets).NotTo(BeEmpty(), "run `make test-integration`, which builds the control plane, or set KUBEBUILDER_ASSETS")
	s := &simulation{dir: GinkgoT().TempDir(), manager: build("./cmd/manager")}
	worker := build("./test/worker")
	images := map[string][]string{stories.AgentImage: {build("./cmd/agent")}, stories.WorkerImage: {worker}}
	DeferCleanup(gexec.CleanupBuildArtifacts)

	var err error
	s.plane, err = cluster.Start(cluster.Options{Assets: assets, Root: absolute(root), Dir: s.dir})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() error { return s.plane.Stop() })
	_, err = s.plane.Kubectl(ctx, "apply", "--server-side", "-k", absolute(filepath.Join(root, "test/demo/config")))
	Expect(err).NotTo(HaveOccurred())

	s.containers, err = simnode.NewProcessRuntime(simnode.ProcessRuntimeOptions{Images: images, LogDir: filepath.Join(s.dir, "pods")})
	Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"node-a", "node-b"} {
		s.startNode(name)
	}
	Expect(s.SetGate(ctx, true)).To(Succeed())
	Expect(stories.Use(s)).To(Succeed())
})

func build(pkg string) string {
	path, err := gexec.Build("sigs.k8s.io/jobset/"+filepath.Clean(pkg), "-buildvcs=false")
	Expect(err).NotTo(HaveOccurred())
	return path
}

func absolute(path string) string {
	path, err := filepath.Abs(path)
	Expect(err).NotTo(HaveOccurred())
	return path
}

func (s *simulation) startNode(name string) {
	node, err := simnode.New(simnode.Options{
		Client: s.plane.Client, Name: name, Runtime: s.containers, RootDir: filepath.Join(s.dir, name),
		EnvFor: func(pod *corev1.Pod) []corev1.EnvVar {
			return []corev1.EnvVar{{Name: "BARRIER_ADDRESS", Value: pod.Status.PodIP}}
		},
		Tokens: &simnode.TokenOptions{ServerURL: s.plane.Config.Host, CAData: s.plane.Config.CAData},
	})
	Expect(err).NotTo(HaveOccurred())
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = node.Run(ctx) // ends with the context
	}()
	DeferCleanup(func() {
		cancel()
		<-stopped
	})
}

// managerAccount is the service account that the install gives the manager.
var managerAccount = types.NamespacedName{Namespace: "jobset-system", Name: "jobset-controller-manager"}
