/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestAPodStartsItsAgentThenItsWorker(t *testing.T) {
	w := newWorld(t)
	w.startReady(groupPod(w.gate))
	want := []string{
		"Pending",
		"Pending | agent PodInitializing | worker PodInitializing",
		"Pending | agent running | worker PodInitializing",
		"Pending | agent started | worker PodInitializing",
		"Pending | agent ready | worker PodInitializing",
		allReady,
	}
	if diff := cmp.Diff(want, w.lines()); diff != "" {
		t.Error(diff)
	}
	got := map[corev1.PodConditionType]corev1.ConditionStatus{}
	for _, c := range w.status().Conditions {
		got[c.Type] = c.Status
	}
	if diff := cmp.Diff(map[corev1.PodConditionType]corev1.ConditionStatus{
		corev1.PodReadyToStartContainers: "True", corev1.PodInitialized: "True", corev1.PodReady: "True",
		corev1.ContainersReady: "True", corev1.PodScheduled: "True", corev1.AllContainersRestarting: "False",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// measured is the sequence of a kubelet v1.36.3, from the exit of the container that asks for the restart.
func measured(first string) []string {
	return []string{
		first,
		"Running | agent RestartingAllContainers x1 last137 | worker RestartingAllContainers x1 last137",
		"Pending | agent running x1 last137 | worker PodInitializing x1 last137",
		"Pending | agent started x1 last137 | worker PodInitializing x1 last137",
		"Running | agent ready x1 last137 | worker PodInitializing x1 last137",
		"Running | agent ready x1 last137 | worker ready x1 last137",
	}
}

func TestAFailedWorkerRestartsAllContainersAsMeasured(t *testing.T) {
	w := newWorld(t)
	w.startReady(groupPod(w.gate))
	before := w.status()
	file := filepath.Join(w.worker.lastStart().PodDir, "kept")
	w.Expect(os.WriteFile(file, nil, 0o600)).To(gomega.Succeed())

	w.worker.exit <- 1
	want := measured("Running | agent ready | worker exit1 | restarting")
	w.expect(want[len(want)-1])
	if diff := cmp.Diff(want, w.since(allReady)); diff != "" {
		t.Error(diff)
	}
	w.Expect(file).To(gomega.BeAnExistingFile(), "the directory of the Pod is kept")
	w.Expect(w.status().PodIP).To(gomega.Equal(before.PodIP), "the address of the Pod is kept")
	last := w.status().ContainerStatuses[0].LastTerminationState.Terminated
	w.Expect(last.Reason).To(gomega.Equal(reasonRestartingAll))
	w.Expect(last.StartedAt.IsZero() && last.FinishedAt.IsZero()).To(gomega.BeTrue())
	for _, pod := range w.pods() {
		c := findCondition(pod.Status.Conditions, corev1.PodInitialized)
		if strings.Contains(describe(pod), "x1") && c.Status != corev1.ConditionTrue {
			t.Errorf("Initialized turned %s in %s", c.Status, describe(pod))
		}
	}
}

func TestContainersThatIgnoreTermAreKilledInARestart(t *testing.T) {
	w := newWorld(t)
	w.agent.onTerm = -1
	w.startReady(groupPod(w.gate))
	w.worker.exit <- 1
	w.expect("Running | agent ready x1 last137 | worker ready x1 last137")
}

func TestRestartsOfAllContainersAreRepeatedWithoutBackoff(t *testing.T) {
	w := newWorld(t)
	w.startReady(groupPod(w.gate), func(o *Options) { o.Timings.BackoffInitial = time.Hour })
	for range 5 {
		w.worker.exit <- 1
	}
	w.expect("Running | agent ready x5 last137 | worker ready x5 last137")
}

func TestAWorkerThatNeverRanIsNotCounted(t *testing.T) {
	w := newWorld(t)
	w.start(groupPod(w.gate)) // the gate stays shut
	w.expect("Pending | agent running | worker PodInitializing")
	w.agent.exit <- 88
	w.expect("Pending | agent running x1 last137 | worker PodInitializing")
	if w.worker.runs() != 0 {
		t.Error("the worker ran before the gate opened")
	}
}

func TestASidecarWithoutAMatchingRuleRestartsAloneAndWithBackoff(t *testing.T) {
	for _, code := range []int{0, 7} {
		w := newWorld(t)
		w.startReady(groupPod(w.gate), func(o *Options) { o.Timings.BackoffInitial = 200 * time.Millisecond })
		first := w.worker.lastStart()
		w.agent.exit <- code
		w.Eventually(w.agent.runs, patience, time.Millisecond).Should(gomega.Equal(2), "the first restart is immediate")
		w.agent.exit <- code
		w.Eventually(w.lines, patience, time.Millisecond).Should(gomega.ContainElement(gomega.ContainSubstring("agent CrashLoopBackOff")))
		w.Eventually(w.agent.runs, patience, time.Millisecond).Should(gomega.Equal(3))
		w.Eventually(w.last, patience, time.Millisecond).Should(gomega.And(
			gomega.ContainSubstring("agent ready x2"), gomega.HaveSuffix("worker ready")))
		w.Expect(w.worker.runs()).To(gomega.Equal(1), "the worker is not touched")
		w.Expect(first.RestartCount).To(gomega.BeZero())
		for _, line := range w.since(allReady) {
			w.Expect(line).To(gomega.HavePrefix("Running"), "a restarting sidecar never makes the Pod pending again")
		}
		w.stop()
	}
}

func TestARestartOfAllContainersBypassesABackoff(t *testing.T) {
	w := newWorld(t)
	w.startReady(groupPod(w.gate), func(o *Options) { o.Timings.BackoffInitial = time.Hour; o.Timings.BackoffMax = time.Hour })
	w.agent.exit <- 7
	w.Eventually(w.agent.runs, patience, time.Millisecond).Should(gomega.Equal(2))
	w.agent.exit <- 7
	w.expect("Running | agent CrashLoopBackOff x1 last7 | worker ready")
	w.worker.exit <- 1
	w.expect("Running | agent ready x2 last137 | worker ready x1 last137")
}

func TestAPodWhoseWorkerSucceedsSucceedsWhateverItsAgentAnswers(t *testing.T) {
	for _, answer := range []int{88, 137, 143, -1} {
		w := newWorld(t)
		w.agent.onTerm = answer
		w.startReady(groupPod(w.gate))
		w.worker.exit <- 0
		code := answer
		if answer < 0 {
			code = 137
		}
		end := map[int]string{88: "exit88", 137: "exit137", 143: "exit143"}[code]
		w.expect("Succeeded | agent " + end + " | worker exit0")
		if diff := cmp.Diff([]string{"Running | agent ready | worker exit0", "Running | agent " + end + " | worker exit0", "Succeeded | agent " + end + " | worker exit0"}, w.since(allReady)); diff != "" {
			t.Error(diff)
		}
		if w.agent.runs() != 1 || w.worker.runs() != 1 {
			t.Error("something restarted at the end of the Pod")
		}
		for _, c := range w.status().Conditions {
			if c.Type == corev1.PodReady && (c.Status != "False" || c.Reason != "PodCompleted") {
				t.Errorf("Ready is %s %s", c.Status, c.Reason)
			}
		}
		w.stop()
	}
}

func TestAWorkerExitThatNoRuleCoversFailsThePod(t *testing.T) {
	w := newWorld(t)
	pod := groupPod(w.gate)
	pod.Spec.Containers[0].RestartPolicyRules[0].ExitCodes.Values = []int32{0, 42}
	w.startReady(pod)
	w.worker.exit <- 42
	w.expect("Failed | agent exit143 | worker exit42")
}

func TestADeletedPodEndsWithoutARestart(t *testing.T) {
	w := newWorld(t)
	w.agent.onTerm = 88
	w.startReady(groupPod(w.gate))
	w.requestDeletion(30)
	w.Eventually(w.deletedPod, patience, time.Millisecond).Should(gomega.BeTrue())
	w.expect("Failed | agent exit88 | worker exit143")
	if w.agent.runs() != 1 || w.worker.runs() != 1 {
		t.Error("something restarted in a deleted Pod")
	}
	w.Eventually(w.worker.lastStart().PodDir, patience, time.Millisecond).ShouldNot(gomega.BeADirectory())
}

func TestADeletedPodKillsWhatOutlivesItsGrace(t *testing.T) {
	w := newWorld(t)
	w.worker.onTerm = -1
	w.startReady(groupPod(w.gate))
	w.requestDeletion(5)
	w.Eventually(w.deletedPod, patience, time.Millisecond).Should(gomega.BeTrue())
	w.expect("Failed | agent exit143 | worker exit137")
}

func TestAPodDeletedDuringALongPollEndsSoon(t *testing.T) {
	w := newWorld(t)
	pod := groupPod(w.gate)
	pod.Spec.InitContainers[0].StartupProbe = w.gate.probe("/barrier-is-lifted?wait=50")
	w.start(pod)
	<-w.gate.pending
	w.requestDeletion(30)
	w.Eventually(w.deletedPod, patience, time.Millisecond).Should(gomega.BeTrue())
	w.expect("Failed | agent exit143 | worker PodInitializing")
}

func TestAForceDeletedPodIsKilledAtOnce(t *testing.T) {
	w := newWorld(t)
	w.agent.onTerm, w.worker.onTerm = -1, -1
	w.startReady(groupPod(w.gate))
	dir := w.worker.lastStart().PodDir
	w.Expect(w.client.CoreV1().Pods("default").Delete(context.Background(), "p", metav1.DeleteOptions{})).To(gomega.Succeed())
	w.Eventually(dir, patience, time.Millisecond).ShouldNot(gomega.BeADirectory(), "it goes after the containers")
}

func TestALongPollHoldsTheWorkerUntilItIsReleased(t *testing.T) {
	w := newWorld(t)
	pod := groupPod(w.gate)
	pod.Spec.InitContainers[0].StartupProbe = w.gate.probe("/barrier-is-lifted?wait=50")
	w.start(pod)
	<-w.gate.pending
	w.expect("Pending | agent running | worker PodInitializing")
	w.Expect(w.worker.runs()).To(gomega.BeZero())
	w.gate.open()
	w.expect(allReady)
	w.gate.mu.Lock()
	defer w.gate.mu.Unlock()
	w.Expect(w.gate.agents).To(gomega.HaveEach("kube-probe/simnode"))
}

func TestALongPollThatTimesOutIsOneFailure(t *testing.T) {
	w := newWorld(t)
	pod := groupPod(w.gate)
	p := w.gate.probe("/barrier-is-lifted?wait=50")
	p.TimeoutSeconds = 2
	pod.Spec.InitContainers[0].StartupProbe = p
	w.start(pod)
	for range 3 {
		<-w.gate.pending // asked again and again
	}
	w.Expect(w.worker.runs()).To(gomega.BeZero())
	w.gate.open()
	w.expect(allReady)
}

func TestAnAgentThatFailsItsStartupProbeIsKilledAndStartedAgain(t *testing.T) {
	w := newWorld(t)
	pod := groupPod(w.gate)
	pod.Spec.InitContainers[0].StartupProbe.FailureThreshold = 2
	w.start(pod)
	w.Eventually(w.agent.runs, patience, time.Millisecond).Should(gomega.BeNumerically(">=", 2))
	w.Expect(w.worker.runs()).To(gomega.BeZero())
}

func TestAWorkerKilledWhileItsAgentProbesAgainEndsInARunningGroup(t *testing.T) {
	w := newWorld(t)
	pod := groupPod(w.gate)
	pod.Spec.InitContainers[0].StartupProbe = w.gate.probe("/barrier-is-lifted?wait=50")
	w.startReady(pod)
	for len(w.gate.pending) > 0 {
		<-w.gate.pending
	}
	w.gate.shut()
	w.worker.exit <- 137
	<-w.gate.pending // the new agent is being asked
	w.agent.exit <- 88
	<-w.gate.pending // and so is the one after it
	w.gate.open()
	w.expect("Running | agent ready x2 last137 | worker ready x1 last137")
}

func TestAnnotationsAreFreshInTheNextRun(t *testing.T) {
	w := newWorld(t)
	pod := groupPod(w.gate)
	pod.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "EPOCH", ValueFrom: &corev1.EnvVarSource{
		FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.annotations['epoch']"},
	}}}
	w.startReady(pod)
	_, err := w.client.CoreV1().Pods("default").Patch(context.Background(), "p", types.MergePatchType,
		[]byte(`{"metadata":{"annotations":{"epoch":"2"}}}`), metav1.PatchOptions{})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Eventually(func() string { return w.workerPod().Annotations["epoch"] }, patience, time.Millisecond).Should(gomega.Equal("2"))
	w.worker.exit <- 1
	w.expect("Running | agent ready x1 last137 | worker ready x1 last137")
	w.Expect(w.worker.lastStart().Env).To(gomega.ContainElement(corev1.EnvVar{Name: "EPOCH", Value: "2"}))
}

func (w *world) workerPod() *corev1.Pod {
	w.node.mu.Lock()
	defer w.node.mu.Unlock()
	return w.node.workers["uid-p"].latest()
}

func TestPodsOfOtherNodesAreLeftAlone(t *testing.T) {
	w := newWorld(t)
	other := groupPod(w.gate)
	other.Name, other.UID, other.Spec.NodeName = "other", "uid-other", "n2"
	w.Expect(w.client.Tracker().Add(other)).To(gomega.Succeed())
	w.startReady(groupPod(w.gate))
	if n := w.worker.runs(); n != 1 {
		t.Errorf("%d workers ran, want 1", n)
	}
}
