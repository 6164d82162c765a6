/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
)

// ErrUnknownImage is returned by a Runtime that has nothing to run for an image. The container then waits with reason
// ErrImagePull and is tried again.
var ErrUnknownImage = errors.New("no such image on this simulated node")

// Runtime starts containers. It is called from many goroutines at once.
type Runtime interface {
	// Start starts one run of a container. The context bounds the start, not the life of the process.
	Start(ctx context.Context, req ContainerRequest) (Process, error)
}

// ContainerRequest is everything a Runtime needs to know about one run of a container. The objects are shared and
// must not be changed.
type ContainerRequest struct {
	Pod       *corev1.Pod
	Container *corev1.Container
	// Command and Args are those of the container with $(VAR) references replaced.
	Command, Args []string
	// Env is resolved: names are unique and ValueFrom is never set.
	Env []corev1.EnvVar
	// PodIP is the loopback address of the Pod. There is no network namespace: a process must bind it on its own.
	PodIP string
	// PodDir is a directory that lives as long as the Pod. See VolumeDir.
	PodDir string
	// RestartCount is the one the status of the container will show.
	RestartCount int32
}

// Process is one run of a container.
type Process interface {
	// Done is closed when the run is over and reaped.
	Done() <-chan struct{}
	// ExitCode is valid after Done: 128+N when signal N ended the run, as container runtimes report it.
	ExitCode() int
	// Terminate asks the run to end, Kill ends it. Both return at once and may be called at any time, also twice.
	Terminate()
	Kill()
}

const (
	exitKilled     = 137
	exitUnreturned = 2
)
