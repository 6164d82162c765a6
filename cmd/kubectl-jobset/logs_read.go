/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/cmd/kubectl-jobset/internal/logs"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// source is a log to read.
type source struct {
	logs.Log
	namespace string
}

// sources lists the logs of the workers of a JobSet, in the order of their places.
func (o *logsOptions) sources(ctx context.Context, c *cluster, name string) ([]source, error) {
	js, err := c.get(ctx, name)
	if err != nil {
		return nil, err
	}
	ours := metav1.ListOptions{LabelSelector: labels.SelectorFromSet(labels.Set{jobset.JobSetNameKey: name}).String()}
	pods, err := c.kubernetes.CoreV1().Pods(c.namespace).List(ctx, ours)
	if err != nil {
		return nil, fmt.Errorf("listing the Pods of JobSet %s/%s: %w", c.namespace, name, err)
	}
	slices.SortFunc(pods.Items, inPlaceOrder)
	var found []source
	supervised := false
	for i := range pods.Items {
		pod := &pods.Items[i]
		for j := range pod.Spec.Containers {
			container := &pod.Spec.Containers[j]
			if !workerpod.Supervised(container) {
				continue
			}
			supervised = true
			if o.container != "" && o.container != container.Name || o.replicatedJob != "" && o.replicatedJob != pod.Labels[jobset.ReplicatedJobNameKey] {
				continue
			}
			found = append(found, logsOf(pod, container.Name)...)
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case supervised:
		return nil, fmt.Errorf("no worker of JobSet %s/%s that has started is of this ReplicatedJob and container", c.namespace, name)
	case len(pods.Items) == 0:
		return nil, fmt.Errorf("JobSet %s/%s has no Pods; their logs end with them", c.namespace, name)
	}
	return nil, fmt.Errorf("JobSet %s/%s %s: no supervisor announces epochs in its logs. "+
		"Each restart begins a new log: kubectl logs POD -c CONTAINER, with --previous for the one before", c.namespace, name, how(js))
}

// how says how a JobSet without supervisors restarts.
func how(js *jobset.JobSet) string {
	policy := js.Spec.FailurePolicy
	switch {
	case policy == nil || policy.RestartStrategy != jobset.InPlaceRestart:
		return "does not restart in place"
	case policy.InPlaceRestart != nil && policy.InPlaceRestart.Mode == jobset.ContainerMode:
		return "restarts in place with mode Container"
	}
	return "has agents of its own in its templates, which restart containers"
}

func inPlaceOrder(a, b corev1.Pod) int {
	number := func(text string) int {
		n, _ := strconv.Atoi(text)
		return n
	}
	return cmp.Or(
		cmp.Compare(number(a.Labels[jobset.JobGlobalIndexKey]), number(b.Labels[jobset.JobGlobalIndexKey])),
		cmp.Compare(number(a.Annotations[batchv1.JobCompletionIndexAnnotation]), number(b.Annotations[batchv1.JobCompletionIndexAnnotation])),
		a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
}

// logsOf are the log of a container, and before it that of the one that the kubelet started again.
func logsOf(pod *corev1.Pod, container string) []source {
	i := slices.IndexFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool { return s.Name == container })
	if i < 0 {
		return nil
	}
	status := &pod.Status.ContainerStatuses[i]
	one := source{namespace: pod.Namespace, Log: logs.Log{
		ReplicatedJob: pod.Labels[jobset.ReplicatedJobNameKey], Pod: pod.Name, Node: pod.Spec.NodeName, Container: container}}
	var found []source
	if status.LastTerminationState.Terminated != nil {
		previous := one
		previous.Previous = true
		found = append(found, previous)
	}
	if status.State.Running != nil || status.State.Terminated != nil {
		found = append(found, one)
	}
	return found
}

// open starts to read a log.
func (c *cluster) open(ctx context.Context, s *source) (io.ReadCloser, error) {
	options := &corev1.PodLogOptions{Container: s.Container, Previous: s.Previous}
	return c.kubernetes.CoreV1().Pods(s.namespace).GetLogs(s.Pod, options).Stream(ctx)
}

// printLog prints the sections of a log that are wanted, and reports whether there were any. Unread is why the log could not be read
// to its end: then what was read is printed. A log is read twice, since none is kept: the first mark says what is before it.
func (c *cluster) printLog(ctx context.Context, s *source, filter logs.Filter, out io.Writer) (found bool, unread, err error) {
	buffered := bufio.NewWriter(out)
	unread = func() error {
		marks, err := c.marks(ctx, s)
		if err != nil || !filter.Takes(marks) {
			return err
		}
		stream, err := c.open(ctx, s)
		if err != nil {
			return err
		}
		defer func() { _ = stream.Close() }()
		found, err = logs.Cut(stream, buffered, logs.First(marks), filter, s.Title)
		return err
	}()
	if unread != nil {
		unread = fmt.Errorf("reading the log of container %s of Pod %s: %w", s.Container, s.Pod, unread)
	}
	return found, unread, buffered.Flush() // which fails if any write did
}

func (c *cluster) marks(ctx context.Context, s *source) ([]protocol.Mark, error) {
	stream, err := c.open(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }()
	return logs.Marks(stream)
}
