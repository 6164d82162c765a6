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
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/cluster"
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

// world is groups of workers and all that they need.
type world struct {
	plane    *cluster.Cluster
	proxy    *proxy.Proxy
	managers []*manager
	client   client.WithWatch
	groups   []*group
	// recreating come up in a soak.
	recreating []*recreating
	// leasesFrom is from how many workers agents in process mode report in Leases.
	leasesFrom int32
	// deletions counts the Pods that were deleted on purpose.
	deletions int
}

// newWorld brings a group up in each mode. It ends with the suite. In a soak, its only manager lives as long.
func newWorld(ctx context.Context, program string, soaks bool, modes ...jobset.InPlaceRestartMode) *world {
	GinkgoHelper()
	w := &world{leasesFrom: int32(number(leasesEnv, uint64(configapi.DefaultLeaseReportsFrom)))}
	w.plane = framework.StartControlPlane(cluster.Options{Controllers: &cluster.Controllers{}, Webhooks: &envtest.WebhookInstallOptions{}})
	Expect(w.plane.Install(ctx)).To(Succeed())
	_, err := w.plane.Kubectl(ctx, "apply", "--server-side", "-k", filepath.Join(framework.Root(), "config/components/agent-access/namespace"))
	Expect(err).NotTo(HaveOccurred())
	w.proxy, err = proxy.New(proxy.Options{Upstream: w.plane.Config.Host, CA: w.plane.Config.CAData, Certificate: w.plane.Certificate()})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(w.proxy.Close)
	for _, name := range []string{"manager-a", "manager-b"} {
		m, err := w.newManager(ctx, name, program, soaks)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(m.stop)
		w.managers = append(w.managers, m)
	}
	Expect(w.managers[0].start()).To(Succeed())
	for _, mode := range modes {
		w.groups = append(w.groups, &group{world: w, mode: mode, players: player.New()})
	}
	for _, strategy := range []jobset.JobSetRestartStrategy{jobset.Recreate, jobset.BlockingRecreate} {
		w.recreating = append(w.recreating, &recreating{world: w, strategy: strategy, running: map[types.UID]context.CancelFunc{}})
	}
	w.startNodes()

	w.client, err = w.plane.NewClient()
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
		framework.RunNode(w.plane, simnode.Options{
			Name: name, Runtime: containers, Timings: &timings,
			RootDir: filepath.Join(dir, strconv.Itoa(i)),
			Tokens:  &simnode.TokenOptions{ServerURL: front.URL, CAData: w.plane.Config.CAData},
		})
	}
}
