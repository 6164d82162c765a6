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
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/cmd/kubectl-jobset/internal/logs"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// logsAtOnce is how many logs are read at the same time.
const logsAtOnce = 16

// source is a log to read.
type source struct {
	logs.Log
	namespace string
}

// sources lists the logs of the workers of a JobSet, in the order of their places.
func (o *logsOptions) sources(ctx context.Context, c *cluster, name string) ([]source, error) {
	js, err := c.jobSets.JobsetV1alpha2().JobSets(c.namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, c.explain(err, name)
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
	one := logs.Log{ReplicatedJob: pod.Labels[jobset.ReplicatedJobNameKey], Pod: pod.Name, Node: pod.Spec.NodeName, Container: container}
	var found []source
	// A kubelet starts no container of a Pod that is being deleted. So one that was started again had ended before, unasked.
	add := func(previous bool, state *corev1.ContainerStateTerminated) {
		l := one
		l.Previous = previous
		if state != nil {
			l.Ended = &protocol.Exit{Code: int(state.ExitCode), Signal: int(state.Signal), OOMKilled: state.Reason == "OOMKilled",
				Stopped: pod.DeletionTimestamp != nil && !previous, Time: state.FinishedAt.Time}
		}
		found = append(found, source{l, pod.Namespace})
	}
	if last := status.LastTerminationState.Terminated; last != nil {
		add(true, last)
	}
	if status.State.Running != nil || status.State.Terminated != nil {
		add(false, status.State.Terminated)
	}
	return found
}

// open starts to read a log.
func (c *cluster) open(ctx context.Context, s *source, sinceSeconds *int64) (io.ReadCloser, error) {
	options := &corev1.PodLogOptions{Container: s.Container, Previous: s.Previous, SinceSeconds: sinceSeconds}
	stream, err := c.kubernetes.CoreV1().Pods(s.namespace).GetLogs(s.Pod, options).Stream(ctx)
	if err != nil {
		return nil, s.unread(err)
	}
	return stream, nil
}

func (s *source) unread(err error) error {
	return fmt.Errorf("reading the log of container %s of Pod %s: %w", s.Container, s.Pod, err)
}

// readMarks reads all logs, and returns those that could be read with their marks, and a note about each other one. It fails if
// none could be read.
func (c *cluster) readMarks(ctx context.Context, sources []source, sinceSeconds *int64) (read []source, notes []string, err error) {
	errs, free := make([]error, len(sources)), make(chan struct{}, logsAtOnce)
	var wg sync.WaitGroup
	for i := range sources {
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			sources[i].Marks, errs[i] = c.marks(ctx, &sources[i], sinceSeconds)
		})
	}
	wg.Wait()
	for i := range sources {
		if errs[i] == nil {
			read = append(read, sources[i])
			continue
		}
		err = errs[i]
		notes = append(notes, errs[i].Error())
	}
	if len(read) > 0 {
		err = nil
	}
	return read, notes, err
}

func (c *cluster) marks(ctx context.Context, s *source, sinceSeconds *int64) ([]protocol.Mark, error) {
	stream, err := c.open(ctx, s, sinceSeconds)
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close() }()
	marks, err := logs.Marks(stream)
	if err != nil {
		return nil, s.unread(err)
	}
	return marks, nil
}

// printLog prints the sections of a log that are wanted, and reports whether there were any. Unread is why the log could not be read
// to its end: then what was read is printed.
func (c *cluster) printLog(ctx context.Context, s *source, sinceSeconds *int64, filter logs.Filter, out io.Writer, epochs []logs.Epoch) (found bool, unread, err error) {
	stream, err := c.open(ctx, s, sinceSeconds)
	if err != nil {
		return false, err, nil
	}
	defer func() { _ = stream.Close() }()
	buffered := bufio.NewWriter(out)
	title := func(section logs.Section) string { return logs.Title(epochs, &s.Log, section) }
	if found, unread = logs.Cut(stream, buffered, logs.First(s.Marks), filter, title); unread != nil {
		unread = s.unread(unread)
	}
	return found, unread, buffered.Flush() // which fails if any write did
}
