/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"slices"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/workerpod"
	testcluster "sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/worker/order"
)

// sequences: what the API shows, step by step, of a Pod without our agent and
// controller. A kubelet v1.36 was measured; the simulated node must show the
// same. A step in brackets may be too short to be seen.
func sequences() {
	restart := []string{
		"Running sidecar:RestartingAllContainers worker:RestartingAllContainers",
		"[Pending sidecar:running worker:PodInitializing]",
		"[Pending sidecar:started worker:PodInitializing]",
		"Running sidecar:ready worker:PodInitializing",
		"Running sidecar:ready worker:ready",
	}
	It("show the measured steps of a restart of all containers that a worker asked for", Contract, func(ctx SpecContext) {
		needs(testcluster.RestartAllContainers, "RestartAllContainers")
		pod := createPod(ctx)
		pod.tell(order.Exit(1), "worker")
		pod.shows(append([]string{"[Running sidecar:ready worker:exit-1 restarting]"}, restart...))
		pod.restarted(1, 1)
		pod.keptItsSelf()
	}, SpecTimeout(specTime))

	It("show the measured steps of a restart of all containers that a sidecar asked for", func(ctx SpecContext) {
		pod := createPod(ctx)
		pod.tell(order.Exit(88), "sidecar")
		pod.shows(append([]string{"[Running sidecar:exit-88 worker:ready restarting]"}, restart...))
		pod.restarted(1, 1)
		pod.keptItsSelf()
	}, SpecTimeout(specTime))

	It("show the measured steps of a sidecar that no rule covers, which restarts alone", func(ctx SpecContext) {
		pod := createPod(ctx)
		pod.tell(order.Exit(7), "sidecar")
		pod.shows([]string{
			"[Running sidecar:exit-7 worker:ready]",
			"Running sidecar:running worker:ready",
			"[Running sidecar:started worker:ready]",
			"Running sidecar:ready worker:ready",
		})
		pod.restarted(1, 0)
		pod.keptItsSelf()
	}, SpecTimeout(specTime))

	It("show the measured steps of a Pod whose worker succeeds", func(ctx SpecContext) {
		pod := createPod(ctx)
		pod.tell(order.Done, "worker")
		pod.shows([]string{
			"Running sidecar:ready worker:exit-0",
			"[Running sidecar:exit-143 worker:exit-0]",
			"Succeeded sidecar:exit-143 worker:exit-0",
		})
		pod.restarted(0, 0)
	}, SpecTimeout(specTime))
}

// plainPod is a Pod that is followed through its states.
type plainPod struct {
	*fixture
	before *corev1.Pod
	// told is how much had been seen when the Pod was told something.
	told int
}

// createPod creates a Pod like those that were measured, and waits until it runs.
func createPod(ctx SpecContext) *plainPod {
	GinkgoHelper()
	p := &plainPod{fixture: newFixture(ctx, nil)}
	probe := &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(8080)}},
		PeriodSeconds: 1,
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: "measured"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			InitContainers: []corev1.Container{{
				Name: "sidecar", Image: WorkerImage, Args: []string{"ready"}, StartupProbe: probe,
				RestartPolicy: ptr.To(corev1.ContainerRestartPolicyAlways),
				RestartPolicyRules: []corev1.ContainerRestartRule{{
					Action:    corev1.ContainerRestartRuleActionRestartAllContainers,
					ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: corev1.ContainerRestartRuleOnExitCodesOpIn, Values: []int32{88}},
				}},
			}},
			Containers: []corev1.Container{{
				Name: "worker", Image: WorkerImage,
				RestartPolicy:      ptr.To(corev1.ContainerRestartPolicyNever),
				RestartPolicyRules: workerpod.RestartAllUnless(0),
			}},
		},
	}
	Expect(api.Create(ctx, pod)).To(Succeed())
	p.eventually(func() string { return p.steps(0)[len(p.steps(0))-1] }).Should(Equal("Running sidecar:ready worker:ready"))
	p.eventually(logOf(ctx, Container{Pod: pod, Name: "worker"})).Should(listens)
	return p
}

func (p *plainPod) tell(sig syscall.Signal, container string) {
	GinkgoHelper()
	p.record.mu.Lock()
	p.before, p.told = p.record.latest["measured"], len(p.record.views)
	p.record.mu.Unlock()
	_, err := cluster.Signal(p.ctx, sig, Container{Pod: p.before, Name: container})
	Expect(err).NotTo(HaveOccurred())
}

// steps are the states that were seen from a view on, equal ones in a row once.
func (p *plainPod) steps(from int) []string {
	p.record.mu.Lock()
	defer p.record.mu.Unlock()
	steps := []string{""}
	for _, v := range p.record.views[from:] {
		if v.Pod != nil && !v.Gone {
			steps = append(steps, sketch(v.Pod))
		}
	}
	return slices.Compact(steps)
}

// shows waits for the last step and compares all of them.
func (p *plainPod) shows(want []string) {
	GinkgoHelper()
	p.eventually(func() []string { return p.steps(p.told)[1:] }).Should(Satisfy(func(got []string) bool {
		return len(got) > 1 && got[len(got)-1] == want[len(want)-1]
	}))
	got := p.steps(p.told)[1:]
	Expect(seen(got, want)).To(Equal(required(want)), "steps seen: %s", strings.Join(got, "\n"))
}

// seen is what was seen without the steps that are optional.
func seen(got, want []string) []string {
	return slices.DeleteFunc(slices.Clone(got), func(step string) bool { return slices.Contains(want, "["+step+"]") })
}

func required(want []string) []string {
	return slices.DeleteFunc(slices.Clone(want), func(step string) bool { return strings.HasPrefix(step, "[") })
}

// restarted expects restart counts.
func (p *plainPod) restarted(sidecar, worker int32) {
	GinkgoHelper()
	pod := p.now()
	Expect(containerStatus(pod, "sidecar").RestartCount).To(Equal(sidecar), "restarts of the sidecar")
	Expect(containerStatus(pod, "worker").RestartCount).To(Equal(worker), "restarts of the worker")
}

// keptItsSelf expects the Pod that was there, in its place.
func (p *plainPod) keptItsSelf() {
	GinkgoHelper()
	pod := p.now()
	Expect(pod.UID).To(Equal(p.before.UID))
	Expect(pod.Spec.NodeName).To(Equal(p.before.Spec.NodeName))
	Expect(pod.Status.PodIP).To(Equal(p.before.Status.PodIP))
}

func (p *plainPod) now() *corev1.Pod {
	p.record.mu.Lock()
	defer p.record.mu.Unlock()
	return p.record.latest[p.before.Name]
}
