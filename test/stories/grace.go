/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/worker/order"
)

// saved is what a worker that was told to end once says when its checkpoint is whole.
const saved = "saved 20 pieces, told 1 times"

// Grace registers the story of checkpoints. Simulated nodes do not show what a container said at last.
func Grace() bool {
	return Describe("programs that take 20 seconds to save their state", func() {
		It("P63a P69a P32a: save all of it behind a shell when they are suspended, drained, deleted, resized away, or restarted, as in a plain Pod", slowIf(true), func(ctx SpecContext) {
			suspended, drained, deleted := Create(ctx, saving(2)), Create(ctx, saving(2)), Create(ctx, saving(2))
			// The kubelet has to hear of the deletion within the time of the restart.
			resized, restarted := Create(ctx, saving(10)), Create(ctx, saving(30))
			plain := suspended.savesAlone(ctx)
			before := map[*Group]*Round{}
			for _, group := range []*Group{suspended, drained, deleted, resized, restarted} {
				before[group] = group.RunsAt(1)
			}

			suspended.Suspend(true)
			drained.evict(before[drained].Pods[0])
			deleted.delete()
			resized.Resize(1)
			restarted.Tell(order.Exit(1), before[restarted].Worker(0))
			Expect(api.Delete(ctx, plain)).To(Succeed())

			suspended.saves(plain)
			suspended.saves(before[suspended].Pods...)
			drained.saves(before[drained].Pods[0])
			deleted.saves(before[deleted].Pods...)
			resized.saves(before[resized].Pods[1])
			after := restarted.RunsAt(2)
			after.IsInPlaceOf(before[restarted])
			log, err := cluster.Log(ctx, after.Worker(1))
			Expect(err).NotTo(HaveOccurred())
			Expect(log).To(ContainSubstring(saved))
		}, SpecTimeout(specTime))
	})
}

// saving is a group of programs that save their state, behind shells.
func saving(stopGrace int32) Shape {
	return Shape{Process: true, Change: func(js *jobset.JobSet) {
		pod := podOf(js)
		pod.TerminationGracePeriodSeconds = ptr.To[int64](60)
		pod.Containers[0].Command = []string{workerProgram, "shell", workerProgram, "save"}
		hasCheckpoint(pod)
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{StopGracePeriodSeconds: ptr.To(stopGrace)}
	}}
}

func hasCheckpoint(pod *corev1.PodSpec) {
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "checkpoint", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	pod.Containers[0].VolumeMounts = append(pod.Containers[0].VolumeMounts, corev1.VolumeMount{Name: "checkpoint", MountPath: "/checkpoint"})
}

// savesAlone creates a Pod of nobody's whose first process is the program, and waits until it runs.
func (s *fixture) savesAlone(ctx context.Context) *corev1.Pod {
	GinkgoHelper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "plain"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: ptr.To[int64](60),
			Containers: []corev1.Container{{Name: workerName, Image: WorkerImage, Command: []string{workerProgram, "save"}}},
		},
	}
	hasCheckpoint(&pod.Spec)
	Expect(api.Create(ctx, pod)).To(Succeed())
	s.eventually(func() (string, error) { return cluster.Log(ctx, Container{Pod: pod, Name: workerName}) }).Should(ContainSubstring(`"msg":"start"`))
	return pod
}

// saves waits until the workers of Pods have ended, and expects that they had saved all before.
func (g *Group) saves(pods ...*corev1.Pod) {
	GinkgoHelper()
	for _, pod := range pods {
		g.eventually(func() string {
			status := containerStatus(g.lastSeen(pod), workerName)
			switch {
			case status == nil:
				return "no status"
			case status.State.Terminated == nil:
				return state(status)
			}
			return status.State.Terminated.Message
		}).Should(Equal(saved), "the worker of Pod %s of %s", pod.Name, g.namespace)
	}
}
