/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
)

// hooked gives the agent a postStart hook, which ends with the exit code that the test sends.
func hooked(w *world) (pod *corev1.Pod, hook *puppet, images func(*Options)) {
	hook = &puppet{exit: make(chan int), onTerm: 143}
	pod = groupPod(w.gate)
	agent := &pod.Spec.InitContainers[0]
	agent.Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"install"}}}}
	return pod, hook, func(o *Options) {
		o.Runtime = NewFuncRuntime(map[string]Func{"worker": w.worker.run, "agent": func(ctx context.Context, c FuncContainer) int {
			if len(c.Command) > 0 && c.Command[0] == "install" {
				return hook.run(ctx, c)
			}
			return w.agent.run(ctx, c)
		}})
	}
}

func TestNothingStartsBeforeAPostStartHookHasEnded(t *testing.T) {
	w := newWorld(t)
	w.gate.open()
	pod, hook, images := hooked(w)
	w.start(pod, images)
	w.Eventually(hook.runs, patience).Should(gomega.Equal(1), "runs of the hook")
	w.Consistently(w.worker.runs, 10*time.Millisecond).Should(gomega.BeZero(), "runs of the worker beside the hook")
	hook.exit <- 0
	w.expect(allReady)
	w.Expect(w.agent.runs()).To(gomega.Equal(1), "runs of the agent")
}

func TestAContainerWhosePostStartHookFailsIsKilledAndStartedAgain(t *testing.T) {
	w := newWorld(t)
	w.gate.open()
	pod, hook, images := hooked(w)
	w.start(pod, images)
	hook.exit <- 1
	w.Eventually(w.agent.runs, patience).Should(gomega.Equal(2), "runs of the agent")
	w.Expect(w.worker.runs()).To(gomega.BeZero(), "runs of the worker")
	hook.exit <- 0
	w.expect("Running | agent ready x1 last137 | worker ready")
}
