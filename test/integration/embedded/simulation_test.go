/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/process"
	"sigs.k8s.io/jobset/test/simnode"
	"sigs.k8s.io/jobset/test/stories"
)

// simulation is a cluster whose containers are processes of this machine.
type simulation struct {
	dir        string
	plane      *cluster.Cluster
	containers *simnode.ProcessRuntime

	manager string
	run     *process.Process
	gate    bool
	// defaults are those of all JobSets by the configuration of the manager, if any.
	defaults string
	// metrics is the address at which the manager serves metrics.
	metrics string
}

var _ stories.Cluster = &simulation{}

func (s *simulation) Config() *rest.Config { return s.plane.Config }

func (s *simulation) Signal(_ context.Context, sig syscall.Signal, targets ...stories.Container) (time.Time, error) {
	var pids []int
	for _, target := range targets {
		pid, ok := s.containers.PID(target.Pod.UID, target.Name)
		if !ok {
			return time.Time{}, fmt.Errorf("container %s of Pod %s does not run", target.Name, target.Pod.Name)
		}
		pids = append(pids, pid)
	}
	at := time.Now()
	var errs []error
	for _, pid := range pids {
		errs = append(errs, syscall.Kill(pid, sig))
	}
	return at, errors.Join(errs...)
}

// Log cuts the file, which holds all runs, at the header of the last one.
func (s *simulation) Log(_ context.Context, c stories.Container) (string, error) {
	content, err := os.ReadFile(s.containers.LogPath(c.Pod, c.Name))
	if err != nil {
		return "", err
	}
	runs := strings.Split(string(content), "--- simnode: ")
	return runs[len(runs)-1], nil
}

// Token is the one in the kubeconfig that the node gave to the Pod.
func (s *simulation) Token(_ context.Context, pod *corev1.Pod) (string, error) {
	file := filepath.Join(s.dir, pod.Spec.NodeName, "pods", string(pod.UID), "kubeconfig")
	config, err := clientcmd.LoadFromFile(file)
	if err != nil {
		return "", fmt.Errorf("reading the kubeconfig of Pod %s: %w", pod.Name, err)
	}
	return config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo].Token, nil
}

func (s *simulation) SetGate(ctx context.Context, on bool) error {
	if s.run != nil {
		if s.gate == on {
			return nil
		}
		if err := s.run.Stop(); err != nil {
			return err
		}
	}
	var err error
	s.gate = on
	s.run, err = s.plane.StartManager(ctx, cluster.ManagerOptions{
		Program: s.manager, Alone: true, Args: []string{"--metrics-bind-address=" + s.metrics, fmt.Sprintf("--feature-gates=RestartJob=true,ElasticJobSet=true,ElasticAutoscaling=true,FaultTolerance=true,InPlaceRestart=%t", on)},
		Config: "inPlaceRestart: {agentImage: " + stories.AgentImage + ", quickFailureMaxPause: 0s, " + s.defaults + "}\n" +
			"elasticAutoscaling: {interval: 1s, cooldownUp: 0s, shrinkAfter: 5s, accelerators: [" + string(stories.Accelerator) + "]}\n", // in stories workers fail in quick succession
	})
	return err
}

func (s *simulation) LimitsMemory() bool { return false }
