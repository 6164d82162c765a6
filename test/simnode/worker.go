/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// podWorker runs one Pod. Its loop looks (view), decides (buildStatus, next), reports and acts, one sync after the
// other; everything below mu belongs to the loop alone.
type podWorker struct {
	node   *Node
	ctx    context.Context // done when the node stops or the Pod is gone from the API
	cancel context.CancelFunc
	wake   chan struct{}
	writer *statusWriter
	gone   atomic.Bool // the Pod is gone from the API

	mu  sync.Mutex
	pod *corev1.Pod

	epoch      time.Time // where the ticks of the probes count from
	podDir     string
	podIP      string
	containers []*containerRun
	old        corev1.PodStatus
	ended      bool
	lastSync   time.Time
	wakeAt     time.Time // zero: only events wake the worker
	renewToken time.Time // zero: no token yet
}

func newPodWorker(nodeCtx context.Context, n *Node, pod *corev1.Pod) *podWorker {
	ctx, cancel := context.WithCancel(nodeCtx)
	return &podWorker{
		node: n, ctx: ctx, cancel: cancel, pod: pod, wake: make(chan struct{}, 1),
		writer:     newStatusWriter(n.opts.Client, pod),
		epoch:      time.Now(),
		podDir:     filepath.Join(n.opts.RootDir, "pods", string(pod.UID)),
		containers: recordsOf(pod),
		old:        ownedStatus(&pod.Status),
	}
}

// update hands the worker a newer version of its Pod.
func (w *podWorker) update(pod *corev1.Pod) {
	w.mu.Lock()
	old := w.pod
	w.pod = pod
	w.mu.Unlock()
	if matters(old, pod) {
		poke(w.wake)
	}
}

// matters reports whether a change of a Pod is a reason to look at it. The node's own status writes are not: a sync for
// each would only delay the next one that has something to do.
func matters(old, pod *corev1.Pod) bool {
	return old.Generation != pod.Generation ||
		!old.DeletionTimestamp.Equal(pod.DeletionTimestamp) ||
		terminal(old.Status.Phase) != terminal(pod.Status.Phase) ||
		!maps.Equal(old.Labels, pod.Labels) || !maps.Equal(old.Annotations, pod.Annotations)
}

func (w *podWorker) latest() *corev1.Pod {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pod
}

func (w *podWorker) run() {
	var writing sync.WaitGroup
	writing.Add(1)
	go func() {
		defer writing.Done()
		w.writer.run(w.ctx)
	}()
	defer func() {
		w.cancel()
		w.killEverything()
		writing.Wait()
		w.release()
	}()
	if terminal(w.latest().Status.Phase) {
		// Only its removal is left to do, by a node that was away when it was due. Its status stays as it is.
		w.writer.removeAfter()
		<-w.ctx.Done()
		return
	}
	for again := true; ; again = w.sync() {
		if !again && !w.await() {
			return
		}
		if w.ctx.Err() != nil {
			return
		}
	}
}

// await blocks until there is a reason for a sync and, like a kubelet, until the containers were listed once since the
// last one. A sync that acted lists them at once, so it does not come here.
func (w *podWorker) await() bool {
	var timer <-chan time.Time
	if !w.wakeAt.IsZero() {
		t := time.NewTimer(time.Until(w.wakeAt))
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-w.ctx.Done():
		return false
	case <-w.wake:
	case <-timer:
	}
	w.reportStarted()
	return pause(w.ctx, time.Until(nextTick(w.node.epoch, w.lastSync, w.node.opts.Timings.RelistInterval)))
}

// sync is one pass. It reports whether another one should follow at once.
func (w *podWorker) sync() bool {
	w.reportStarted()
	v := w.view()
	status := buildStatus(&v)
	w.publish(withhold(&v, status))
	for i, c := range w.containers {
		c.view.Reset = false // told above, or not yet true
		if v.Containers[i].State == running {
			c.beginProbe(w)
		}
	}
	w.wakeAt = time.Time{}
	again := w.perform(&v, next(&v, &status))
	w.lastSync = time.Now()
	return again
}

func (w *podWorker) view() podView {
	v := podView{
		Pod: w.latest(), Old: w.old, PodIP: w.podIP, Ended: w.ended,
		Now: time.Now(), HostIP: nodeIP, Timings: *w.node.opts.Timings,
	}
	for _, c := range w.containers {
		c.refresh()
		v.Containers = append(v.Containers, c.view)
	}
	return v
}

// publish reports a status if it says anything new.
func (w *podWorker) publish(status corev1.PodStatus) {
	if !equality.Semantic.DeepEqual(w.old, status) {
		w.old = status
		w.writer.enqueue(status)
	}
}

// reportStarted reports that a startup probe succeeded before anything else is computed from it: the API shows a
// started agent in a Pod that is still Pending, as measured.
func (w *podWorker) reportStarted() {
	status := w.old.DeepCopy()
	for i, c := range w.containers {
		c.refresh()
		list, at := status.InitContainerStatuses, i
		if n := len(list); i >= n {
			list, at = status.ContainerStatuses, i-n
		}
		if at >= len(list) || c.view.Spec.StartupProbe == nil {
			continue
		}
		if s := &list[at]; s.State.Running != nil && s.ContainerID == c.view.ID && c.view.started() {
			s.Started = new(true)
		}
	}
	w.publish(*status)
}

// release gives back what the Pod held. A node that merely stops keeps the directory, as a machine keeps its disk.
func (w *podWorker) release() {
	if w.podIP != "" && w.podIP != nodeIP {
		w.node.opts.podIPs.Release(w.podIP)
	}
	if w.gone.Load() {
		_ = os.RemoveAll(w.podDir)
	}
}

// grace is how long containers get between TERM and KILL when the Pod ends or is deleted.
func (w *podWorker) grace(pod *corev1.Pod) time.Duration {
	seconds := int64(corev1.DefaultTerminationGracePeriodSeconds)
	if pod.Spec.TerminationGracePeriodSeconds != nil {
		seconds = *pod.Spec.TerminationGracePeriodSeconds
	}
	if pod.DeletionGracePeriodSeconds != nil {
		seconds = *pod.DeletionGracePeriodSeconds
	}
	t := w.node.opts.Timings
	return max(time.Duration(seconds)*t.Second, t.KillGrace)
}

// recordsOf makes the records of a Pod's containers.
func recordsOf(pod *corev1.Pod) []*containerRun {
	var runs []*containerRun
	add := func(list []corev1.Container, init bool) {
		for i := range list {
			run := &containerRun{view: containerView{Spec: &list[i], Kind: kindRegular}}
			switch {
			case init && isSidecar(&list[i]):
				run.view.Kind = kindSidecar
			case init:
				run.view.Kind = kindInit
			}
			runs = append(runs, run)
		}
	}
	add(pod.Spec.InitContainers, true)
	add(pod.Spec.Containers, false)
	return runs
}
