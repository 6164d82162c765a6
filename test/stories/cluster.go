/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package stories tells what users live through with JobSets that restart in
// place, as Ginkgo specs over anything that can run Pods: a real cluster
// (test/e2e) or simulated nodes (test/integration/embedded). Both must bear out
// the same expectations, which keeps the simulation honest.
//
// A story creates a group of workers, waits until it runs, tells a container to
// end, and looks at what became of everybody:
//
//	group := create(ctx, Shape{Workers: 2})
//	before := group.RunsAt(1)
//	group.Tell(order.Exit(1), before.Worker(0))
//	after := group.RunsAt(2)
//	after.IsInPlaceOf(before)
//	group.Charged(1)
//
// The stories see a cluster through its API and the few means of Cluster.
package stories

import (
	"context"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
)

// Cluster is what stories need beside the API.
type Cluster interface {
	// Config reaches the API server as an administrator.
	Config() *rest.Config
	// Signal sends a signal to the first processes of containers, all at one
	// moment, as their node would, and returns that moment.
	Signal(ctx context.Context, sig syscall.Signal, targets ...Container) (time.Time, error)
	// Log is what the present run of a container has printed, or its last.
	Log(ctx context.Context, container Container) (string, error)
	// Token is what a Pod identifies itself with at the API server.
	Token(ctx context.Context, pod *corev1.Pod) (string, error)
	// SetGate restarts the manager with the feature gate InPlaceRestart on or
	// off, and returns when its webhooks answer.
	SetGate(ctx context.Context, on bool) error
	// LimitsMemory reports whether a container that exceeds its memory limit is killed.
	LimitsMemory() bool
}

// Container is one container of a Pod.
type Container struct {
	Pod  *corev1.Pod
	Name string
}

// Images in the Pods of the stories. Suites may set other ones before they start.
var (
	AgentImage  = "jobset/agent:dev"
	WorkerImage = "jobset/worker:dev"
)

const (
	agentName  = "jobset-agent"
	workerName = "worker"
	// account may do what the agent needs, in the namespaces of stories whose manifest brings it.
	account = "jobset-agent"

	// patience is for what takes a few seconds on an idle machine.
	patience = 2 * time.Minute
	tick     = 50 * time.Millisecond
)
