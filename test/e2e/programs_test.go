/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

// The programs, and what looks at their processes.
var (
	//go:embed programs/train.py
	trainProgram string
	//go:embed programs/fan_out.py
	fanOutProgram string
	//go:embed programs/beats.py
	beatsProgram string
	//go:embed programs/processes.py
	processesProgram string
)

// launch is what many images have as their entrypoint: a script that neither becomes the
// program nor hands signals on.
const launch = `echo "launching"
python3 -u -c "$PROGRAM"
code=$?
echo "the program ended with $code"
exit $code`

// The stories of package stories have workers in Go, also one that ignores SIGTERM. These are in Python,
// which the nodes need an image for.
var _ = Describe("programs that a supervisor starts", Label("programs"), func() {
	It("P63 P72: leave nothing behind when a script starts Python with children in other sessions, which hold a lock and a port", func(ctx SpecContext) {
		group := stories.Create(ctx, programs(func(worker *corev1.Container) {
			worker.Command, worker.Env = []string{"/bin/sh", "-c", launch}, []corev1.EnvVar{{Name: "PROGRAM", Value: trainProgram}}
		}))
		before := group.RunsAt(1)
		expectProcesses(ctx, before, 4) // script, program, loader, daemon

		shell(ctx, before.Pods[0], fmt.Sprintf("kill -9 %d", programIn(ctx, before.Worker(0))))
		after := group.RunsAt(2)
		after.IsInPlaceOf(before)
		expectProcesses(ctx, after, 4)
		group.Charged(1)
		group.Told(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, fmt.Sprintf("worker pod %s exited with code 137", before.Pods[0].Name))
	}, SpecTimeout(specTime))

	It("P63: leave nothing behind when a launcher has 50 processes, of which one is killed", func(ctx SpecContext) {
		group := stories.Create(ctx, programs(func(worker *corev1.Container) {
			worker.Command = []string{"python3", "-u", "-c", fanOutProgram}
		}))
		before := group.RunsAt(1)
		expectProcesses(ctx, before, 51)

		launcher := programIn(ctx, before.Worker(1))
		ranks := slices.DeleteFunc(processesOf(ctx, before.Pods[1], 1), func(pid int) bool { return pid == launcher })
		shell(ctx, before.Pods[1], fmt.Sprintf("kill -9 %d", ranks[7]))
		after := group.RunsAt(2)
		after.IsInPlaceOf(before)
		expectProcesses(ctx, after, 51)
		group.Charged(1)
		group.Told(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, fmt.Sprintf("worker pod %s exited with code 4", before.Pods[1].Name))
	}, SpecTimeout(specTime))

	It("P70: start again in the same Pods when one exceeds its memory limit, with its container where the kernel kills that whole", func(ctx SpecContext) {
		group := stories.Create(ctx, programs(func(worker *corev1.Container) {
			worker.Command = []string{"python3", "-u", "-c", beatsProgram}
			worker.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
		}))
		before := group.RunsAt(1)
		group.Tell(order.Eat, before.Worker(0))
		after := group.RunsAt(2)
		group.Charged(1)

		// With cgroup v2 the supervisor is killed with its worker, and the kubelet starts the container again.
		_, err := live.exec(ctx, after.Pods[0], "worker", "/bin/sh", "-c", "test ! -e /sys/fs/cgroup/cgroup.controllers")
		if err == nil {
			after.IsInPlaceOf(before)
			group.Told(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, "exited with code 137")
			return
		}
		Expect(after.Pods[0].UID).To(Equal(before.Pods[0].UID))
		group.RestartedAlone(after.Worker(0), 1)
	}, SpecTimeout(specTime))

	It("P63 P72: leave open sessions of kubectl exec and kubectl logs alone, and no gap in the log", func(ctx SpecContext) {
		group := stories.Create(ctx, programs(func(worker *corev1.Container) {
			worker.Command = []string{"python3", "-u", "-c", beatsProgram}
		}))
		before := group.RunsAt(1)
		var sessions []*session
		for _, pod := range before.Pods { // one whose worker fails, and one whose worker is stopped
			asks := open(ctx, "exec", "--stdin", "--namespace", pod.Namespace, pod.Name, "--container=worker", "--",
				"/bin/sh", "-c", `echo "open"; read line; echo "heard $line"`)
			Eventually(asks.text).WithTimeout(patience).WithPolling(tick).Should(Equal("open\n"))
			follows := open(ctx, "logs", "--follow", "--namespace", pod.Namespace, pod.Name, "--container=worker")
			Eventually(follows.text).WithTimeout(patience).WithPolling(tick).Should(ContainSubstring("beat 1 1\n"))
			sessions = append(sessions, asks, follows)
		}

		group.Tell(order.Fail, before.Worker(0))
		after := group.RunsAt(2)
		after.IsInPlaceOf(before)
		for i := range after.Pods {
			asks, follows := sessions[2*i], sessions[2*i+1]
			asks.say("me")
			Eventually(asks.text).WithTimeout(patience).WithPolling(tick).Should(Equal("open\nheard me\n"))
			Expect(asks.command.Wait()).To(Succeed(), "the session of kubectl exec")
			Eventually(follows.text).WithTimeout(patience).WithPolling(tick).Should(ContainSubstring("beat 2 1\n"))
			followed := follows.lines()
			log, err := live.Log(ctx, after.Worker(i))
			Expect(err).NotTo(HaveOccurred())
			Expect(log).To(HavePrefix(followed), "what kubectl logs has followed")
			expectWholeLog(log)
		}
		group.Charged(1)
	}, SpecTimeout(specTime))

	It("P60: are refused with a liveness probe, with which all containers of their Pod restart", func(ctx SpecContext) {
		probed := programs(func(worker *corev1.Container) {
			worker.Command = []string{"python3", "-u", "-c", beatsProgram}
			worker.LivenessProbe = &corev1.Probe{
				ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/bin/sh", "-c", "test ! -e /tmp/sick"}}},
				PeriodSeconds: 1, FailureThreshold: 1, TimeoutSeconds: 10,
			}
		})
		change := probed.Change
		probed.Process, probed.Change = false, func(js *jobset.JobSet) {
			change(js)
			js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ContainerMode}
		}
		group := stories.Create(ctx, probed)
		before := group.RunsAt(1)

		By("refusing process mode, with the field that is in the way")
		refused := &jobset.JobSet{}
		Expect(stories.API().Get(ctx, client.ObjectKey{Namespace: group.Namespace(), Name: group.Name()}, refused)).To(Succeed())
		refused.ObjectMeta = metav1.ObjectMeta{Namespace: group.Namespace(), Name: "refused"}
		refused.Spec.FailurePolicy.InPlaceRestart.Mode = jobset.ProcessMode
		Expect(stories.API().Create(ctx, refused, client.DryRunAll)).To(MatchError(And(
			ContainSubstring("spec.replicatedJobs[0].template.spec.template.spec.containers[0].livenessProbe"), ContainSubstring("remove it, or use mode Container"))))

		// Not in place by the book: for a probe the kubelet ends a Pod of one regular container with its sandbox, and
		// only then obeys the restart rule. The Pod stays, with a new address.
		shell(ctx, before.Pods[0], ": >/tmp/sick")
		group.RunsAt(2).IsInPodsOf(before)
		group.Charged(1)
	}, SpecTimeout(specTime))
})

// programs is a group in process mode whose containers are changed to run a program in Python.
func programs(change func(worker *corev1.Container)) stories.Shape {
	image := os.Getenv(pythonImageVariable)
	if image == "" {
		Skip(pythonImageVariable + " names no image with Python")
	}
	return stories.Shape{Process: true, Change: func(js *jobset.JobSet) {
		worker := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Containers[0]
		worker.Image = image
		change(worker)
	}}
}

// shell runs a script in a worker's container, as an administrator would.
func shell(ctx context.Context, pod *corev1.Pod, script string) {
	GinkgoHelper()
	_, err := live.exec(ctx, pod, "worker", "/bin/sh", "-c", script)
	Expect(err).NotTo(HaveOccurred())
}

var startedAs = regexp.MustCompile(`"msg":"start","pid":(\d+)`)

// programIn is the process that said last that it started.
func programIn(ctx context.Context, c stories.Container) int {
	GinkgoHelper()
	log, err := live.Log(ctx, c)
	Expect(err).NotTo(HaveOccurred())
	told := startedAs.FindAllStringSubmatch(log, -1)
	Expect(told).NotTo(BeEmpty(), "starts in the log of Pod %s", c.Pod.Name)
	pid, err := strconv.Atoi(told[len(told)-1][1])
	Expect(err).NotTo(HaveOccurred())
	return pid
}

// processesOf are the processes in a Pod that were started in an epoch.
func processesOf(ctx context.Context, pod *corev1.Pod, epoch int32) (pids []int) {
	GinkgoHelper()
	out, err := live.exec(ctx, pod, "worker", "python3", "-c", processesProgram)
	Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(out) {
		var of, pid int
		_, err := fmt.Sscan(line, &of, &pid)
		Expect(err).NotTo(HaveOccurred(), "line %q", line)
		Expect(of).To(BeEquivalentTo(epoch), "epoch of process %d in Pod %s", pid, pod.Name)
		pids = append(pids, pid)
	}
	return pids
}

// expectProcesses expects that many processes in each Pod of a round, and none of an earlier epoch.
func expectProcesses(ctx context.Context, round *stories.Round, many int) {
	GinkgoHelper()
	for _, pod := range round.Pods {
		Expect(processesOf(ctx, pod, round.Epoch)).To(HaveLen(many), "processes in Pod %s", pod.Name)
	}
}

var beat = regexp.MustCompile(`(?m)^(beat|last) (\d+) (\d+)$`)

// expectWholeLog expects every line of two epochs, and one line of the supervisor for each start and stop.
func expectWholeLog(log string) {
	GinkgoHelper()
	var last [3]int // the beats of each epoch so far
	ended := 0
	for _, line := range beat.FindAllStringSubmatch(log, -1) {
		epoch, _ := strconv.Atoi(line[2])
		number, _ := strconv.Atoi(line[3])
		if line[1] == "last" {
			Expect([2]int{epoch, number}).To(Equal([2]int{1, last[1]}), "the last line of the first epoch")
			ended++
			continue
		}
		Expect(epoch).To(Equal(1+ended), "epoch of beat %d", number)
		Expect(number).To(Equal(last[epoch]+1), "beat of epoch %d", epoch)
		last[epoch] = number
	}
	Expect(last[2]).To(BeNumerically(">", 0), "beats in the second epoch")
	for _, line := range []string{"starting the worker of epoch 1", "the worker of epoch 1 ended", "starting the worker of epoch 2"} {
		Expect(strings.Count(log, "jobset-supervisor: "+line)).To(Equal(1), "lines of the supervisor: %s", line)
	}
}
