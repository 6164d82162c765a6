/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"
)

// Options configures a Node. Client, Name and Runtime are required.
type Options struct {
	Client  kubernetes.Interface
	Name    string
	Runtime Runtime

	// RootDir holds the directories of the Pods, one per UID. Default: a temporary directory removed at the end of Run.
	RootDir string
	// PodIPs gives Pods their addresses. Default: PodCIDR.
	PodIPs PodIPAllocator
	// PodCIDR is the loopback /16 Pod addresses come from, for example 127.20.0.0/16. Default: one per Node of this
	// process. Nodes in different processes of one machine must set it.
	PodCIDR string
	// Timings defaults to RealisticTimings. Zero values in it mean "no delay".
	Timings *Timings
	// Labels are added to the Node, Capacity replaces the default of 64 cores, 256Gi and 1000 Pods.
	Labels   map[string]string
	Capacity corev1.ResourceList
	// EnvFor returns variables for every container of a Pod, for example the address to bind: status.podIP of the Pod it
	// gets is set. The container's own variables override them.
	EnvFor func(pod *corev1.Pod) []corev1.EnvVar
	// Tokens, when set, gives Pods a kubeconfig with a token of their service account.
	Tokens *TokenOptions
	Logger logr.Logger
}

// Timings are the delays a node adds. What the spec of a Pod counts in seconds is scaled by Second.
type Timings struct {
	// RelistInterval is how often exits are noticed. Zero: at once.
	RelistInterval time.Duration
	// KillGrace is the time between TERM and KILL in a RestartAllContainers, and the least one anywhere.
	KillGrace time.Duration
	// ContainerStart and ContainerStop stand for the work of a container runtime per container.
	ContainerStart, ContainerStop time.Duration
	// BackoffInitial doubles with each crash up to BackoffMax, and starts anew after BackoffReset without one.
	// A zero BackoffInitial means no backoff.
	BackoffInitial, BackoffMax, BackoffReset time.Duration
	// SyncRetry is the time before a failed start is tried again.
	SyncRetry time.Duration
	// HeartbeatInterval is how often the Lease is renewed and the Node is looked at.
	HeartbeatInterval time.Duration
	// Second is how long a second in the spec of a Pod lasts.
	Second time.Duration
}

// RealisticTimings are those of a kubelet with containerd on a small machine.
func RealisticTimings() Timings {
	return Timings{
		RelistInterval: time.Second,
		KillGrace:      2 * time.Second,
		ContainerStart: 200 * time.Millisecond, ContainerStop: 40 * time.Millisecond,
		BackoffInitial: 10 * time.Second, BackoffMax: 5 * time.Minute, BackoffReset: 10 * time.Minute,
		SyncRetry:         10 * time.Second,
		HeartbeatInterval: 10 * time.Second,
		Second:            time.Second,
	}
}

const nodeIP = "127.0.0.1"

func (o *Options) complete() error {
	switch {
	case o.Client == nil:
		return errors.New("option Client is missing")
	case o.Name == "":
		return errors.New("option Name is missing")
	case o.Runtime == nil:
		return errors.New("option Runtime is missing")
	}
	if o.Timings == nil {
		t := RealisticTimings()
		o.Timings = &t
	}
	if o.Timings.Second <= 0 || o.Timings.HeartbeatInterval <= 0 {
		t := *o.Timings
		if t.Second <= 0 {
			t.Second = time.Second
		}
		if t.HeartbeatInterval <= 0 {
			t.HeartbeatInterval = 10 * time.Second
		}
		o.Timings = &t
	}
	if o.PodIPs == nil {
		if o.PodCIDR == "" {
			o.PodCIDR = nextPrefix()
		}
		ips, err := NewLoopbackIPs(o.PodCIDR)
		if err != nil {
			return err
		}
		o.PodIPs = ips
	}
	if o.Capacity == nil {
		o.Capacity = corev1.ResourceList{
			corev1.ResourceCPU:              resource.MustParse("64"),
			corev1.ResourceMemory:           resource.MustParse("256Gi"),
			corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
			corev1.ResourcePods:             resource.MustParse("1000"),
		}
	}
	return nil
}

// makeRoot returns the directory for Pods and what removes it.
func (o *Options) makeRoot() (remove func(), err error) {
	if o.RootDir != "" {
		if err := os.MkdirAll(o.RootDir, 0o755); err != nil {
			return nil, fmt.Errorf("creating root directory of simulated node: %w", err)
		}
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "simnode-")
	if err != nil {
		return nil, fmt.Errorf("creating root directory of simulated node: %w", err)
	}
	o.RootDir = dir
	return func() { _ = os.RemoveAll(dir) }, nil
}
