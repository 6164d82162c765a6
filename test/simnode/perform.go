/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// perform carries out a plan. It reports whether the next sync should follow at once.
func (w *podWorker) perform(v *podView, p plan) bool {
	switch p.Verdict {
	case remove:
		w.end(v)
		w.writer.removeAfter()
		return false
	case finish:
		w.end(v)
		return false
	case resetAll:
		w.reset(p.Reset)
		return true
	case stopAll:
		w.stopAll(w.grace(v.Pod))
		return true
	case createSandbox:
		return w.createSandbox(v)
	}
	return w.keepGoing(v, p)
}

func (w *podWorker) keepGoing(v *podView, p plan) bool {
	again := false
	for _, i := range p.Kill {
		w.stop(w.containers[i], w.probeGrace(v.Pod, w.containers[i].view.Spec))
		again = true
	}
	for _, i := range p.Start {
		again = w.start(v, w.containers[i]) || again
	}
	for i, until := range p.Hold {
		again = w.hold(v, w.containers[i], until) || again
	}
	w.wakeFor(v.Pod)
	return again
}

// end stops what still runs and reports the terminal status. A second call finds nothing to do.
func (w *podWorker) end(v *podView) {
	if !w.ended {
		w.stopAll(w.grace(v.Pod))
		w.ended = true
	}
	if w.ctx.Err() != nil {
		return // the node stops or the Pod is gone; whoever comes next reports what it finds
	}
	last := w.view()
	w.publish(buildStatus(&last))
}

// createSandbox gives the Pod its directory and its address. Both stay until the Pod is gone.
func (w *podWorker) createSandbox(v *podView) bool {
	err := makePodDir(w.podDir, v.Pod)
	ip := nodeIP
	if err == nil && !v.Pod.Spec.HostNetwork {
		ip, err = w.node.opts.podIPs.Allocate(v.Pod)
	}
	if err != nil {
		w.wakeAt = time.Now().Add(w.node.opts.Timings.SyncRetry)
		return false
	}
	w.podIP = ip
	return true
}

// reset is RestartAllContainers: one container after the other gets TERM and soon KILL, and is removed. No backoff, no
// hooks, no grace of the Pod.
func (w *podWorker) reset(order []int) {
	for _, i := range order {
		c := w.containers[i]
		w.stop(c, w.node.opts.Timings.KillGrace)
		if w.ctx.Err() != nil {
			return
		}
		c.removeForRestart()
	}
}

// stopAll ends every container: init and regular ones together, then the sidecars in reverse order. All share one
// grace period.
func (w *podWorker) stopAll(grace time.Duration) {
	deadline := time.Now().Add(grace)
	var wg sync.WaitGroup
	for _, c := range w.containers {
		if c.view.Kind != kindSidecar {
			wg.Go(func() { w.stop(c, grace) })
		}
	}
	wg.Wait()
	for _, c := range slices.Backward(w.containers) {
		if c.view.Kind == kindSidecar {
			w.stop(c, max(time.Until(deadline), w.node.opts.Timings.KillGrace))
		}
	}
}

// stop ends one container and returns when it is dead. It kills at once when the node stops or the Pod is gone.
func (w *podWorker) stop(c *containerRun, grace time.Duration) {
	c.refresh()
	if c.view.State != running {
		return
	}
	c.stopProbe()
	c.proc.Terminate()
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-c.proc.Done():
	case <-t.C:
	case <-w.ctx.Done():
	}
	c.proc.Kill() // harmless when it is dead
	<-c.proc.Done()
	c.refresh()
	pause(w.ctx, w.node.opts.Timings.ContainerStop)
}

func (w *podWorker) killEverything() {
	for _, c := range w.containers {
		c.stopProbe()
		if c.proc != nil {
			c.proc.Kill()
		}
	}
	for _, c := range w.containers {
		if c.proc != nil {
			<-c.proc.Done()
		}
	}
}

// start starts one container. It reports whether anything changed.
func (w *podWorker) start(v *podView, c *containerRun) bool {
	if why := unsupported(v.Pod, c.view.Spec); why != "" {
		return w.startFailed(c, reasonUnsupported, errors.New(why))
	}
	if !pause(w.ctx, w.node.opts.Timings.ContainerStart) {
		return false
	}
	req, err := w.request(c)
	if err != nil {
		return w.startFailed(c, "CreateContainerConfigError", err)
	}
	proc, err := w.node.opts.Runtime.Start(w.ctx, req)
	switch {
	case errors.Is(err, ErrUnknownImage):
		return w.startFailed(c, "ErrImagePull", err)
	case err != nil:
		return w.startFailed(c, "RunContainerError", err)
	}
	c.begin(w, proc)
	w.postStart(c, req)
	return true
}

// postStart runs the hook of a container. Nothing else starts before it has ended; if it fails, the container is killed.
func (w *podWorker) postStart(c *containerRun, req ContainerRequest) {
	if c.view.Spec.Lifecycle == nil || c.view.Spec.Lifecycle.PostStart == nil {
		return
	}
	// A runtime tells runs by the names of containers, and this one goes on.
	hooked := *req.Container
	hooked.Name += "-post-start"
	req.Container = &hooked
	req.Command, req.Args = expandAll(c.view.Spec.Lifecycle.PostStart.Exec.Command, req.Env), nil
	req.mount()
	hook, err := w.node.opts.Runtime.Start(w.ctx, req)
	if err != nil {
		c.proc.Kill()
		return
	}
	select {
	case <-hook.Done():
	case <-c.proc.Done():
	case <-w.ctx.Done():
	}
	hook.Kill() // harmless when it is dead
	<-hook.Done()
	if hook.ExitCode() != 0 {
		c.proc.Kill()
	}
}

// request resolves what a run needs from the newest version of the Pod, so annotations in the environment are fresh.
func (w *podWorker) request(c *containerRun) (ContainerRequest, error) {
	pod, spec := w.latest().DeepCopy(), c.view.Spec
	pod.Status.PodIP, pod.Status.HostIP = w.podIP, nodeIP // the API may not say so yet
	var base []corev1.EnvVar
	if _, own := lookupEnv(spec.Env, "KUBECONFIG"); wantsToken(w.node.opts.Tokens, pod, spec) && !own {
		if err := w.ensureToken(pod); err != nil {
			return ContainerRequest{}, err
		}
		base = append(base, corev1.EnvVar{Name: "KUBECONFIG", Value: filepath.Join(w.podDir, kubeconfig)})
	}
	if w.node.opts.EnvFor != nil {
		base = append(base, w.node.opts.EnvFor(pod)...)
	}
	env, err := resolveEnv(pod, spec, base, w.podIP, nodeIP)
	if err != nil {
		return ContainerRequest{}, err
	}
	req := ContainerRequest{
		Pod: pod, Container: spec, Env: env, PodIP: w.podIP, PodDir: w.podDir, RestartCount: c.view.Restarts,
		Command: expandAll(spec.Command, env), Args: expandAll(spec.Args, env),
	}
	if c.view.State == exited {
		req.RestartCount++
	}
	req.mount()
	return req, nil
}

// ensureToken writes the kubeconfig of the Pod if there is none yet or the token gets old.
func (w *podWorker) ensureToken(pod *corev1.Pod) error {
	if !w.renewToken.IsZero() && time.Now().Before(w.renewToken) {
		return nil
	}
	at, err := writeKubeconfig(w.ctx, w.node.opts.Client, w.node.opts.Tokens, pod, w.podDir)
	if err != nil {
		return err
	}
	w.renewToken = at
	return nil
}

// startFailed makes the reason visible and plans another attempt.
func (w *podWorker) startFailed(c *containerRun, reason string, err error) bool {
	c.view.RetryAt = time.Now().Add(w.node.opts.Timings.SyncRetry)
	w.sooner(c.view.RetryAt)
	return w.setWaiting(c, reason, err.Error())
}

// hold makes a crash-loop backoff visible.
func (w *podWorker) hold(v *podView, c *containerRun, until time.Time) bool {
	w.sooner(until)
	if until.Equal(c.view.RetryAt) {
		return false // waits for another reason, which is told already
	}
	return w.setWaiting(c, "CrashLoopBackOff", fmt.Sprintf("back-off %s restarting failed container=%s pod=%s_%s(%s)",
		c.view.Backoff.Delay, c.view.Spec.Name, v.Pod.Name, v.Pod.Namespace, v.Pod.UID))
}

func (w *podWorker) setWaiting(c *containerRun, reason, message string) bool {
	if old := c.view.Waiting; old != nil && old.Reason == reason && old.Message == message {
		return false
	}
	c.view.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
	return true
}

// wakeFor plans the renewal of the token, and does it when it is due.
func (w *podWorker) wakeFor(pod *corev1.Pod) {
	if w.renewToken.IsZero() {
		return
	}
	if err := w.ensureToken(pod); err != nil {
		w.sooner(time.Now().Add(max(w.node.opts.Timings.SyncRetry, time.Second)))
		return
	}
	w.sooner(w.renewToken)
}

func (w *podWorker) sooner(t time.Time) {
	if w.wakeAt.IsZero() || t.Before(w.wakeAt) {
		w.wakeAt = t
	}
}

// probeGrace is the grace of a container that failed a probe, which may have one of its own.
func (w *podWorker) probeGrace(pod *corev1.Pod, c *corev1.Container) time.Duration {
	t := w.node.opts.Timings
	if p := c.StartupProbe; p != nil && p.TerminationGracePeriodSeconds != nil {
		return max(time.Duration(*p.TerminationGracePeriodSeconds)*t.Second, t.KillGrace)
	}
	return w.grace(pod)
}
