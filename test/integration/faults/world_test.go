/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package faults

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/faults/plane"
	"sigs.k8s.io/jobset/test/faults/player"
	"sigs.k8s.io/jobset/test/faults/proxy"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/simnode"
)

const (
	jobSetName = "group"

	jobs, workersPerJob = 2, 25
	workers             = jobs * workersPerJob
)

var managerAccount = types.NamespacedName{Namespace: "jobset-system", Name: "jobset-controller-manager"}

// world is groups of workers and all that they need.
type world struct {
	plane    *plane.Plane
	proxy    *proxy.Proxy
	managers []*plane.Manager
	client   client.WithWatch
	groups   []*group
	// recreating come up in a soak.
	recreating []*recreating
	// deletions counts the Pods that were deleted on purpose.
	deletions int
}

// newWorld brings a group up in each mode. It ends with the suite. In a soak, its only manager lives as long.
func newWorld(ctx context.Context, manager string, soaks bool, modes ...jobset.InPlaceRestartMode) *world {
	GinkgoHelper()
	w := &world{}
	dir := GinkgoT().TempDir()
	var err error
	w.plane, err = plane.Start(ctx, plane.Options{Assets: framework.Assets(), Dir: dir})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.plane.Stop)
	for _, config := range []string{"config/components/crd", "test/demo/config", "config/components/agent-access/namespace"} {
		Expect(w.plane.Kubectl(ctx, "apply", "--server-side", "-k", filepath.Join(framework.Root(), config))).To(Succeed())
	}
	Expect(w.plane.Kubectl(ctx, "wait", "--for=condition=Established", "crd/jobsets.jobset.x-k8s.io")).To(Succeed())

	w.proxy, err = proxy.New(proxy.Options{Upstream: w.plane.URL, CA: w.plane.CA, Certificate: w.plane.Certificate()})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.proxy.Close)
	for _, name := range []string{"manager-a", "manager-b"} {
		front, err := w.proxy.Front(name)
		Expect(err).NotTo(HaveOccurred())
		m, err := w.plane.NewManager(ctx, plane.ManagerOptions{
			Name: name, Program: manager, Server: front.URL, Account: managerAccount, AgentImage: processAgent, Alone: soaks,
		})
		Expect(err).NotTo(HaveOccurred())
		w.managers = append(w.managers, m)
	}
	Expect(w.managers[0].Start()).To(Succeed())
	for _, mode := range modes {
		w.groups = append(w.groups, &group{world: w, mode: mode, players: player.New()})
	}
	for _, strategy := range []jobset.JobSetRestartStrategy{jobset.Recreate, jobset.BlockingRecreate} {
		w.recreating = append(w.recreating, &recreating{world: w, strategy: strategy, running: map[types.UID]context.CancelFunc{}})
	}
	w.startNodes()

	w.client, err = client.NewWithWatch(w.plane.Admin, client.Options{Scheme: framework.NewScheme()})
	Expect(err).NotTo(HaveOccurred())
	for _, g := range w.groups {
		g.comeUp(ctx)
	}
	return w
}

// startNodes starts two simulated nodes whose containers are functions of this process.
func (w *world) startNodes() {
	GinkgoHelper()
	// The sockets of Pods are below this directory, so its name must be short.
	dir, err := os.MkdirTemp("", "f")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, dir)
	front, err := w.proxy.Front("")
	Expect(err).NotTo(HaveOccurred())
	timings := simnode.RealisticTimings()
	// What a kubelet is slow at is not what is tested.
	timings.RelistInterval, timings.ContainerStart, timings.ContainerStop = timings.RelistInterval/10, 0, 0
	// A group kills the same containers and agents again and again.
	timings.BackoffInitial, timings.BackoffMax = timings.BackoffInitial/20, timings.BackoffMax/100
	images := map[string]simnode.Func{}
	for _, g := range w.groups {
		maps.Copy(images, g.players.Images(g.images()))
	}
	for _, r := range w.recreating {
		images[r.name()] = r.runWorker
	}
	containers := simnode.NewFuncRuntime(images)
	for i, name := range []string{"node-a", "node-b"} {
		framework.RunNode(simnode.Options{
			Client: w.plane.Client, Name: name, Runtime: containers, Timings: &timings,
			RootDir: filepath.Join(dir, strconv.Itoa(i)),
			Tokens:  &simnode.TokenOptions{ServerURL: front.URL, CAData: w.plane.CA},
		})
	}
}
