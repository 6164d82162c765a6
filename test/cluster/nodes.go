/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/test/simnode"
)

// AgentImage and WorkerImage are what manifests of this repository name.
const AgentImage, WorkerImage = "jobset/agent:dev", "jobset/worker:dev"

// Programs are what a command that starts a cluster is given: binaries, and the root of this repository.
type Programs struct {
	Assets, Root, Manager, Agent, Supervisor, Worker string
}

// Flags adds their flags to those of the command.
func (p *Programs) Flags() {
	flag.StringVar(&p.Assets, "assets", os.Getenv("KUBEBUILDER_ASSETS"), "directory of etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl")
	flag.StringVar(&p.Root, "root", ".", "root of this repository")
	flag.StringVar(&p.Manager, "manager", "bin/manager", "the manager binary")
	flag.StringVar(&p.Agent, "agent", "bin/agent", "the agent binary")
	flag.StringVar(&p.Supervisor, "supervisor", "bin/supervisor", "the supervisor binary")
	flag.StringVar(&p.Worker, "worker", "bin/worker", "the worker binary")
}

// Absolute makes their paths absolute. It fails without a control plane, which target builds.
func (p *Programs) Absolute(target string) error {
	if p.Assets == "" {
		return errors.New("no control plane: run `make " + target + "`, which builds it, or set KUBEBUILDER_ASSETS")
	}
	for _, path := range []*string{&p.Assets, &p.Root, &p.Manager, &p.Agent, &p.Supervisor, &p.Worker} {
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("finding %s: %w", *path, err)
		}
		*path = absolute
	}
	return nil
}

// Containers runs containers of the two images as processes. Their logs are below dir.
func (p *Programs) Containers(dir string) (*simnode.ProcessRuntime, error) {
	return simnode.NewProcessRuntime(simnode.ProcessRuntimeOptions{
		Images:   map[string][]string{AgentImage: {p.Agent}, WorkerImage: {p.Worker}},
		Programs: map[string]string{"/supervisor": p.Supervisor, "/worker": p.Worker},
		LogDir:   filepath.Join(dir, "pods"),
	})
}

// RunNode runs a simulated node until it is stopped, whatever happens to other contexts: Pods are to be stopped in
// order. The options may leave out what the cluster knows.
func (c *Cluster) RunNode(o simnode.Options) (stop func(), err error) {
	if o.Client == nil {
		o.Client = c.Client
	}
	if o.Tokens == nil {
		o.Tokens = &simnode.TokenOptions{ServerURL: c.Config.Host, CAData: c.Config.CAData}
	}
	o.RootDir = cmp.Or(o.RootDir, filepath.Join(c.opts.Dir, o.Name))
	if o.EnvFor == nil {
		o.EnvFor = PodAddress
	}
	node, err := simnode.New(o)
	if err != nil {
		return nil, fmt.Errorf("creating simulated node %s: %w", o.Name, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := node.Run(ctx); err != nil && ctx.Err() == nil {
			fmt.Fprintf(os.Stderr, "simulated node %s stopped: %v\n", o.Name, err)
		}
	}()
	return func() { cancel(); <-ended }, nil
}

// PodAddress stands in for the network namespace that a real Pod has: the agent binds the address of its Pod alone.
func PodAddress(pod *corev1.Pod) []corev1.EnvVar {
	return []corev1.EnvVar{{Name: "BARRIER_ADDRESS", Value: pod.Status.PodIP}}
}
