/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package incidents tells what an operator sees, minute by minute, when something goes wrong at
// night: event, condition, alert, and what the plugin says. Everything is real but nodes and clocks:
// nodes are simulated, and a minute lasts two seconds, in every period that is waited for.
package incidents

import (
	"context"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/simnode"
)

const (
	// minute is how long a minute of the operator lasts here.
	minute = 2 * time.Second

	agentImage, workerImage = cluster.AgentImage, cluster.WorkerImage
)

func TestIncidents(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(2 * time.Minute)
	SetDefaultEventuallyPollingInterval(100 * time.Millisecond)
	EnforceDefaultTimeoutsWhenUsingContexts()
	RunSpecs(t, "Incidents")
}

var (
	plane *cluster.Cluster
	api   client.Client
	// containers are processes; unpullable is the node that has not got the image of the worker, and cannot pull it.
	containers *simnode.ProcessRuntime
	dir        string
	plugin     string
	// metrics are those of the manager.
	metrics cluster.Scraper
)

var _ = SynchronizedBeforeSuite(framework.BuildPrograms, func(ctx SpecContext, built []byte) {
	framework.Quiet()
	dir = GinkgoT().TempDir()
	var programs cluster.Programs
	programs, plugin = framework.Programs(built)
	// A node is noticed after six minutes of silence: this process, in which the nodes are, may have to wait for a
	// processor for longer than two.
	plane = framework.StartInstalledControlPlane(ctx, dir, cluster.Controllers{Manager: []string{"--node-monitor-period=500ms", "--node-monitor-grace-period=12s"}})
	var err error
	api, err = plane.NewClient()
	Expect(err).NotTo(HaveOccurred())
	containers, err = programs.Containers(dir)
	Expect(err).NotTo(HaveOccurred())
	startManager(ctx, programs.Manager)
})

// startManager starts one whose periods are those of the defaults, in minutes of this suite.
func startManager(ctx context.Context, program string) {
	GinkgoHelper()
	var err error
	_, metrics, err = plane.StartMeteredManager(ctx, cluster.ManagerOptions{
		Program: program, Alone: true,
		Args: []string{"--feature-gates=InPlaceRestart=true"},
		// A night is told in seconds: a pause would be a quarter of an hour.
		Config: fmt.Sprintf("inPlaceRestart:\n  agentImage: %s\n  assemblyGracePeriod: %s\n  notReadyGracePeriod: %s\n  quickFailureMaxPause: 0s\n", agentImage, 10*minute, minute),
	})
	Expect(err).NotTo(HaveOccurred())
}

// startNode starts a node of a namespace, and returns what makes it fall silent, as a machine that loses power.
func startNode(name, namespace string, runs simnode.Runtime) (dies func()) {
	GinkgoHelper()
	timings := simnode.RealisticTimings()
	timings.RelistInterval, timings.SyncRetry, timings.HeartbeatInterval = 100*time.Millisecond, minute, 500*time.Millisecond
	dies = framework.RunNode(plane, simnode.Options{Name: name, Runtime: runs, Timings: &timings, Labels: map[string]string{"incident": namespace}})
	DeferCleanup(func(ctx SpecContext) {
		dies()
		object := &corev1.Node{}
		object.Name = name
		Expect(client.IgnoreNotFound(api.Delete(ctx, object))).To(Succeed())
	})
	return dies
}
