/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/simnode"
)

const (
	namespace  = "default"
	jobSetName = "training"
	workers    = 2
	patience   = time.Minute
)

// story is the demo as it goes on.
type story struct {
	options
	dir, marker string
	began       time.Time

	cluster *cluster.Cluster
	runtime *simnode.ProcessRuntime
	view    *view
	nodes   sync.WaitGroup
	// stopNodes stops the simulated nodes, and with them every container.
	stopNodes context.CancelFunc
}

// tell goes through the story. What it starts is stopped by end.
func (s *story) tell(ctx context.Context) error {
	steps := []func(context.Context) error{s.startControlPlane, s.startNodes, s.startManager, s.createJobSet, s.killWorker}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if s.keep {
		s.leaveRunning(ctx)
	}
	return nil
}

func (s *story) say(format string, args ...any) {
	fmt.Printf("%6.1f s  %s\n", time.Since(s.began).Seconds(), fmt.Sprintf(format, args...))
}

func (s *story) startControlPlane(ctx context.Context) error {
	s.say("start etcd, kube-apiserver, kube-controller-manager and kube-scheduler")
	var err error
	s.cluster, err = cluster.Start(cluster.Options{Assets: s.assets, Root: s.root, Dir: s.dir})
	if err != nil {
		return err
	}
	version, err := s.cluster.Client.Discovery().ServerVersion()
	if err != nil {
		return fmt.Errorf("asking the API server for its version: %w", err)
	}
	s.say("Kubernetes %s is up, with the JobSet CRD; install access rules", version.GitVersion)
	_, err = s.cluster.Kubectl(ctx, "apply", "--server-side", "-k", filepath.Join(s.root, "test/demo/config"))
	return err
}

// startNodes starts two simulated nodes. They run until end, whatever becomes of
// the context: Pods are to be stopped in order.
func (s *story) startNodes(context.Context) error {
	s.say("start two simulated nodes, which run Pods as processes")
	var err error
	s.runtime, err = simnode.NewProcessRuntime(simnode.ProcessRuntimeOptions{
		Images: map[string][]string{"jobset/agent:dev": {s.agent}, "jobset/worker:dev": {s.worker}},
		LogDir: filepath.Join(s.dir, "pods"),
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.stopNodes = cancel
	for _, name := range []string{"node-a", "node-b"} {
		node, err := simnode.New(simnode.Options{
			Client:  s.cluster.Client,
			Name:    name,
			Runtime: s.runtime,
			RootDir: filepath.Join(s.dir, name),
			EnvFor:  s.podEnvironment,
			Tokens:  &simnode.TokenOptions{ServerURL: s.cluster.Config.Host, CAData: s.cluster.Config.CAData},
		})
		if err != nil {
			return fmt.Errorf("creating simulated node %s: %w", name, err)
		}
		s.nodes.Go(func() {
			if err := node.Run(ctx); err != nil && ctx.Err() == nil {
				s.say("simulated node %s stopped: %v", name, err)
			}
		})
	}
	return nil
}

// podEnvironment stands in for the network namespace that a real Pod has: the
// agent binds the address of its Pod alone.
func (s *story) podEnvironment(pod *corev1.Pod) []corev1.EnvVar {
	return []corev1.EnvVar{
		{Name: "BARRIER_ADDRESS", Value: pod.Status.PodIP},
		{Name: markerVariable, Value: s.dir},
	}
}

func (s *story) startManager(ctx context.Context) error {
	s.say("start the manager with --feature-gates=InPlaceRestart=true")
	_, err := s.cluster.StartManager(ctx, cluster.ManagerOptions{
		Program: s.manager,
		Account: types.NamespacedName{Namespace: "jobset-system", Name: "jobset-controller-manager"},
		Args:    []string{"--feature-gates=InPlaceRestart=true"},
	})
	return err
}

func (s *story) createJobSet(ctx context.Context) error {
	sample := "config/samples/jobset_v1alpha2_in_place_restart.yaml"
	s.say("create JobSet %s with %d workers: %s", jobSetName, workers, sample)
	var err error
	if s.view, err = newView(s.cluster.Config); err != nil {
		return err
	}
	if err := s.view.follow(ctx, namespace, jobSetName); err != nil {
		return err
	}
	if _, err := s.cluster.Kubectl(ctx, "apply", "--server-side", "-n", namespace, "-f", filepath.Join(s.root, sample)); err != nil {
		return err
	}
	_, err = s.view.await(ctx, "both workers run at epoch 1", patience, func() bool {
		_, synced := s.view.epochs()
		return synced == 1 && s.view.allReport(workers, 1) && s.view.allRun(workers, 0)
	})
	if err == nil {
		s.say("both workers run, at epoch 1")
	}
	return err
}

// killWorker is what the demo is about.
func (s *story) killWorker(ctx context.Context) error {
	before := s.observe()
	victim := &before[0]
	s.say("kill -9 %d, the worker of Pod %s", victim.process, victim.pod.Name)
	killed := time.Now()
	if err := syscall.Kill(victim.process, syscall.SIGKILL); err != nil {
		return fmt.Errorf("killing worker process %d: %w", victim.process, err)
	}
	moments := []struct {
		text string
		met  func() bool
	}{
		{"break: the group is told to leave epoch 1", func() bool { deprecated, _ := s.view.epochs(); return deprecated == 1 }},
		{"both agents are back and report epoch 2", func() bool { return s.view.allReport(workers, 2) }},
		{"lift: the whole group stands at epoch 2", func() bool { _, synced := s.view.epochs(); return synced == 2 }},
		{"both workers run again", func() bool { return s.view.allRun(workers, 1) }},
	}
	for _, moment := range moments {
		at, err := s.view.await(ctx, moment.text, patience, moment.met)
		if err != nil {
			return err
		}
		s.say("%+5.2f s after the kill: %s", at.Sub(killed).Seconds(), moment.text)
	}
	after := s.observe()
	s.printPods(before, after)
	if err := s.printEvents(ctx); err != nil {
		return err
	}
	return s.check(before, after)
}

func (s *story) leaveRunning(ctx context.Context) {
	fmt.Printf("\nThe cluster runs until you press Ctrl-C. In another shell:\n\n")
	fmt.Printf("  export KUBECONFIG=%s\n", s.cluster.Kubeconfig)
	fmt.Printf("  %s get jobsets,pods\n", filepath.Join(s.assets, "kubectl"))
	fmt.Printf("\nWorkers are the processes named worker: kill one and watch. Logs are in %s\n", s.dir)
	<-ctx.Done()
}

// end stops what was started and makes sure of it.
func (s *story) end() error {
	fmt.Println()
	s.say("stop everything")
	var errs []error
	if s.stopNodes != nil {
		s.stopNodes()
		s.nodes.Wait()
	}
	if s.cluster != nil {
		errs = append(errs, s.cluster.Stop())
	}
	errs = append(errs, nothingLeft(context.Background(), s.marker))
	return errors.Join(errs...)
}
