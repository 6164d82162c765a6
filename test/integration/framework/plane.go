/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/process"
	"sigs.k8s.io/jobset/test/simnode"
)

// AssetsEnv names the directory of the control plane's binaries.
const AssetsEnv = "KUBEBUILDER_ASSETS"

// Assets returns the directory of the control plane's binaries.
func Assets() string {
	GinkgoHelper()
	assets := os.Getenv(AssetsEnv)
	Expect(assets).NotTo(BeEmpty(), "%s is not set: run `make test-integration`, which builds the control plane and sets it; "+
		"or set it to the directory that `hack/build-cluster.sh --print-dir` prints", AssetsEnv)
	absolute, err := filepath.Abs(assets)
	Expect(err).NotTo(HaveOccurred())
	return absolute
}

// StartControlPlane starts a control plane that stops with the suite. Where the options leave
// them out, it fills in binaries, repository and a directory.
func StartControlPlane(options cluster.Options) *cluster.Cluster {
	GinkgoHelper()
	options.Assets, options.Root = Assets(), Root()
	if options.Dir == "" {
		options.Dir = GinkgoT().TempDir()
	}
	plane, err := cluster.Start(options)
	Expect(err).NotTo(HaveOccurred(), "starting the control plane of %s", options.Assets)
	DeferCleanup(plane.Stop)
	return plane
}

// StartInstalledControlPlane starts one with kube-controller-manager and kube-scheduler, on which all is installed but the
// manager itself, below a directory.
func StartInstalledControlPlane(ctx context.Context, dir string, controllers cluster.Controllers) *cluster.Cluster {
	GinkgoHelper()
	plane := StartControlPlane(cluster.Options{
		Dir: dir, Controllers: &controllers,
		// The names of simulated nodes do not resolve, and the API server asks kubelets for logs.
		APIServer: []string{"--kubelet-preferred-address-types=InternalIP"},
	})
	Expect(plane.Install(ctx)).To(Succeed())
	return plane
}

// FreePort returns a port of this machine that nothing listens on.
func FreePort() int {
	GinkgoHelper()
	port, err := process.FreePort()
	Expect(err).NotTo(HaveOccurred())
	return port
}

// Build builds programs of this repository into a directory, after flags if there are any. If several processes use them, call it in
// the first function of SynchronizedBeforeSuite: the process that runs it is the last to clean up, so the programs are there as
// long as any uses them.
func Build(ctx context.Context, args ...string) (dir string) {
	GinkgoHelper()
	dir = GinkgoT().TempDir()
	_, err := process.Run(ctx, nil, "go", append([]string{"-C", Root(), "build", "-buildvcs=false", "-o", dir}, args...)...)
	Expect(err).NotTo(HaveOccurred())
	return dir
}

// RunNode runs a simulated node until the end of the suite or spec, or until it is stopped.
func RunNode(plane *cluster.Cluster, options simnode.Options) (stop func()) {
	GinkgoHelper()
	stop, err := plane.RunNode(options)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(stop)
	return stop
}

// BuildPrograms builds the programs of this repository that a whole cluster needs, and the plugin.
func BuildPrograms(ctx SpecContext) (dir []byte) {
	GinkgoHelper()
	return []byte(Build(ctx, "./cmd/manager", "./cmd/agent", "./cmd/supervisor", "./test/worker", "./cmd/kubectl-jobset"))
}

// Programs names what BuildPrograms has built.
func Programs(dir []byte) (programs cluster.Programs, plugin string) {
	in := func(name string) string { return filepath.Join(string(dir), name) }
	return cluster.Programs{Manager: in("manager"), Agent: in("agent"), Supervisor: in("supervisor"), Worker: in("worker")}, in("kubectl-jobset")
}

// Root returns the root directory of the repository.
func Root() string {
	GinkgoHelper()
	dir, err := os.Getwd()
	Expect(err).NotTo(HaveOccurred())
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		Expect(parent).NotTo(Equal(dir), "no go.mod above the working directory")
		dir = parent
	}
}
