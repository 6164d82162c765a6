/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"errors"
	"maps"
	"net"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"
)

// Options configures a Node. Client, Name, Runtime and RootDir are required.
type Options struct {
	Client  kubernetes.Interface
	Name    string
	Runtime Runtime

	// RootDir holds the directories of the Pods, one per UID.
	RootDir string
	// PodCIDR is the loopback prefix Pod addresses come from, for example 127.20.0.0/16. Default: one of 4,096
	// addresses per Node, which no other test program of this machine uses.
	PodCIDR string
	// Timings defaults to RealisticTimings. Zero values in it mean "no delay".
	Timings *Timings
	// Labels are added to the Node.
	Labels map[string]string
	// Extended are resources that the Node has beside CPU, memory and Pods, such as accelerators.
	Extended corev1.ResourceList
	// EnvFor returns variables for every container of a Pod, for example the address to bind: status.podIP of the Pod it
	// gets is set. The container's own variables override them.
	EnvFor func(pod *corev1.Pod) []corev1.EnvVar
	// DialProbe connects a probe to a container; nil is the network.
	DialProbe func(ctx context.Context, network, address string) (net.Conn, error)
	// Tokens, when set, gives Pods a kubeconfig with a token of their service account.
	Tokens *TokenOptions

	podIPs *loopbackIPs
}

// Timings are the delays a node adds. What the spec of a Pod counts in seconds is scaled by Second.
type Timings struct {
	// RelistInterval is how often exits are noticed. Zero: at once.
	RelistInterval time.Duration
	// KillGrace is the time between TERM and KILL in a RestartAllContainers, and the least one anywhere.
	KillGrace time.Duration
	// ContainerStart and ContainerStop stand for the work of a container runtime per container.
	ContainerStart, ContainerStop time.Duration
	// BackoffInitial doubles with each crash up to BackoffMax, and starts again after BackoffReset without one.
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
	case o.RootDir == "":
		return errors.New("option RootDir is missing")
	}
	timings := ptr.Deref(o.Timings, RealisticTimings())
	if timings.Second <= 0 {
		timings.Second = time.Second
	}
	if timings.HeartbeatInterval <= 0 {
		timings.HeartbeatInterval = 10 * time.Second
	}
	o.Timings = &timings
	var err error
	if o.PodCIDR == "" {
		if o.PodCIDR, err = nextPrefix(); err != nil {
			return err
		}
	}
	o.podIPs, err = newLoopbackIPs(o.PodCIDR)
	return err
}

// capacity is what a node has.
func capacity(extended corev1.ResourceList) corev1.ResourceList {
	list := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse("64"),
		corev1.ResourceMemory:           resource.MustParse("256Gi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
		corev1.ResourcePods:             resource.MustParse("1000"),
	}
	maps.Copy(list, extended)
	return list
}
