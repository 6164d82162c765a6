/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/simnode"
)

const (
	accelerator = "example.com/accelerator"
	gates       = "--feature-gates=InPlaceRestart=true,ElasticJobSet=true,ElasticAutoscaling=true,FaultTolerance=true,RestartJob=true"
	patience    = 2 * time.Minute
)

// ends are what the JobSets of jobsets.yaml come to, as arguments of `kubectl wait`.
var ends = [][]string{
	{"--for=condition=Completed", "jobset/completes"},
	{"--for=condition=Failed", "jobset/fails"},
	{"--for=condition=Failed", "jobset/restarts"},
	{"--for=jsonpath={.spec.replicatedJobs[0].template.spec.parallelism}=3", "jobset/grows"},
}

// scene is what is started for a recording.
type scene struct {
	options
	dir     string
	cluster *cluster.Cluster

	stopNode func()
	scraper  cluster.Scraper
}

// runScene runs the JobSets and returns what the manager said meanwhile.
func runScene(ctx context.Context, o options) (scrapes []string, err error) {
	if err := o.Absolute("test-dashboard"); err != nil {
		return nil, err
	}
	s := &scene{options: o}
	if s.dir, err = os.MkdirTemp("", "jobset-dashboard-"); err != nil {
		return nil, fmt.Errorf("creating a directory: %w", err)
	}
	defer func() {
		if err = errors.Join(err, s.stop()); err != nil {
			err = fmt.Errorf("%w\nlogs are in %s", err, s.dir)
			return
		}
		err = os.RemoveAll(s.dir)
	}()
	for _, step := range []func(context.Context) error{s.startControlPlane, s.startNode, s.startManager} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return s.record(ctx)
}

func (s *scene) startControlPlane(ctx context.Context) error {
	fmt.Println("start a control plane, a simulated node and the manager")
	var err error
	s.cluster, err = cluster.Start(cluster.Options{Assets: s.Assets, Root: s.Root, Dir: s.dir, Controllers: &cluster.Controllers{}})
	if err != nil {
		return err
	}
	return s.cluster.Install(ctx)
}

func (s *scene) startNode(context.Context) error {
	containers, err := s.Containers(s.dir)
	if err != nil {
		return err
	}
	s.stopNode, err = s.cluster.RunNode(simnode.Options{
		Name: "node", Runtime: containers, Extended: corev1.ResourceList{accelerator: resource.MustParse("4")},
	})
	return err
}

func (s *scene) startManager(ctx context.Context) (err error) {
	_, s.scraper, err = s.cluster.StartMeteredManager(ctx, cluster.ManagerOptions{
		Program: s.Manager,
		Args:    []string{gates},
		Config: "inPlaceRestart: {agentImage: " + cluster.AgentImage + ", quickFailureMaxPause: 0s}\n" +
			"elasticAutoscaling: {interval: 1s, cooldownUp: 0s, accelerators: [" + accelerator + "]}\n",
	})
	return err
}

// record scrapes while the JobSets run, once before and twice after.
func (s *scene) record(ctx context.Context) ([]string, error) {
	first, err := s.scraper.Scrape(ctx)
	if err != nil {
		return nil, err
	}
	scrapes := []string{first}
	fmt.Println("record its metrics while JobSets complete, fail, restart and grow")
	ended := make(chan error, 1)
	go func() { ended <- s.runJobSets(ctx) }()
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for after := 0; after < 2; {
		select {
		case err := <-ended:
			if err != nil {
				return nil, err
			}
			ended, after = nil, 0
		case <-ticks.C:
			text, err := s.scraper.Scrape(ctx)
			if err != nil {
				return nil, err
			}
			scrapes = append(scrapes, text)
			if ended == nil {
				after++
			}
		}
	}
	return scrapes, nil
}

func (s *scene) runJobSets(ctx context.Context) error {
	if _, err := s.cluster.Kubectl(ctx, "apply", "--server-side", "-f", filepath.Join(s.Root, "test/dashboard/jobsets.yaml")); err != nil {
		return err
	}
	for _, end := range ends {
		if _, err := s.cluster.Kubectl(ctx, append([]string{"wait", "--timeout=" + patience.String()}, end...)...); err != nil {
			return err
		}
		fmt.Println(" ", end[1], "as expected")
	}
	return nil
}

func (s *scene) stop() error {
	if s.stopNode != nil {
		s.stopNode()
	}
	if s.cluster == nil {
		return nil
	}
	return s.cluster.Stop()
}
