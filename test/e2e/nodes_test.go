/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

const (
	specTime = 8 * time.Minute
	patience = 3 * time.Minute
	tick     = 100 * time.Millisecond
)

var _ = Describe("workers that restart in place while the manager is away", Serial, func() {
	It("are lifted by the next manager when theirs is killed in the middle", stories.Contract, func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{SlowToStop: true})
		before := group.RunsAt(1)
		group.Tell(order.Exit(1), before.Worker(0))
		group.Breaks(1)
		group.Told(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, "restart in place") // or it is lost with the manager
		manager, err := live.managerPod(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(live.client.CoreV1().Pods(managerNamespace).Delete(ctx, manager.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)})).To(Succeed())
		group.RunsAt(2).IsInPlaceOf(before)
		group.Charged(1)
	}, SpecTimeout(specTime))
})

var _ = Describe("workers that restart in place, by name", func() {
	DescribeTable("find each other under the same names and addresses after a restart", func(ctx SpecContext, jobs, workers int32, subdomain string) {
		group := stories.Create(ctx, stories.Shape{Jobs: jobs, Workers: workers, Change: func(js *jobset.JobSet) {
			if subdomain != "" {
				js.Spec.Network = &jobset.Network{Subdomain: subdomain}
			}
		}})
		before := group.RunsAt(1)
		for _, pod := range before.Pods {
			Expect(pod.Spec.Subdomain).To(Equal(cmp.Or(subdomain, group.Name())), "subdomain of Pod %s", pod.Name)
		}
		resolveEachOther(ctx, before)
		group.Tell(order.Exit(1), before.Worker(1))
		after := group.RunsAt(2)
		after.IsInPlaceOf(before)
		resolveEachOther(ctx, after)
		group.Charged(1)
	},
		Entry("C92: with the name of the JobSet", SpecTimeout(specTime), int32(4), int32(2), ""),
		Entry("C85 C92: with a subdomain of their own", SpecTimeout(specTime), int32(2), int32(1), "ring"),
	)
})

// resolveEachOther expects that every worker finds every other one.
func resolveEachOther(ctx context.Context, round *stories.Round) {
	GinkgoHelper()
	var names, want []string
	for _, pod := range round.Pods {
		name := pod.Spec.Hostname + "." + pod.Spec.Subdomain
		names = append(names, name)
		want = append(want, name+" "+pod.Status.PodIP)
	}
	command := slices.Concat([]string{"/worker", "resolve"}, names)
	for _, pod := range round.Pods {
		Eventually(func() (string, error) { return live.exec(ctx, pod, "worker", command...) }).
			WithTimeout(patience).WithPolling(time.Second).Should(Equal(strings.Join(want, "\n")+"\n"), "seen by Pod %s", pod.Name)
	}
}

var _ = Describe("workers that restart in place when a node is lost", Serial, Label("node-loss"), func() {
	It("wait out the grace of the lost Pod, restart, and take no notice of the node's return", stories.Contract, func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{Change: leaveLostNodesSoon})
		before := group.RunsAt(1)
		place := placeToLose(ctx, before)
		lost := before.Pods[place]
		node := lost.Spec.NodeName

		docker(ctx, "pause", node)
		DeferCleanup(func(ctx SpecContext) { bringBack(ctx, node) })
		group.Breaks(1)
		seen, err := live.client.CoreV1().Pods(lost.Namespace).Get(ctx, lost.Name, metav1.GetOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(seen.DeletionTimestamp).NotTo(BeNil(), "the lost Pod was told to stop")
		Expect(group.BrokeAt(1)).To(BeTemporally(">=", seen.DeletionTimestamp.Time), "the break came when its grace was over")
		Expect(group.Status().InPlaceRestarts).To(BeEquivalentTo(1))

		taint(ctx, node, true)
		after := group.RunsAt(2)
		after.Replaces(before, place)
		Expect(after.Pods[place].Spec.NodeName).NotTo(Equal(node), "the new Pod is elsewhere")
		group.Charged(1)

		bringBack(ctx, node)
		group.RunsAt(2).IsUntouched(after)
		group.Charged(1)
	}, SpecTimeout(specTime))
})

var _ = Describe("workers with fault tolerance when a node is lost", Serial, Label("node-loss"), func() {
	It("P85 P86: hold their quota while they are suspended, until the Pod that does not go is deleted by force", func(ctx SpecContext) {
		const grace = 5
		group := stories.Create(ctx, stories.Shape{Strategy: jobset.Recreate, Change: func(js *jobset.JobSet) {
			leaveLostNodesSoon(js)
			js.Spec.FaultTolerance = &jobset.FaultTolerance{ForcefulDeletionGracePeriodSeconds: ptr.To[int32](grace)}
		}})
		before := group.RunsAttempt(0)
		lost := before.Pods[placeToLose(ctx, before)]

		docker(ctx, "pause", lost.Spec.NodeName)
		DeferCleanup(func(ctx SpecContext) { bringBack(ctx, lost.Spec.NodeName) })
		group.Suspend(true)
		pods := live.client.CoreV1().Pods(lost.Namespace)
		var stops time.Time // when it should have stopped
		Eventually(func(expect Gomega) {
			pod, err := pods.Get(ctx, lost.Name, metav1.GetOptions{})
			expect.Expect(err).NotTo(HaveOccurred())
			expect.Expect(pod.DeletionTimestamp).NotTo(BeNil(), "the lost Pod was told to stop")
			stops = pod.DeletionTimestamp.Time
		}).WithContext(ctx).WithTimeout(patience).WithPolling(tick).Should(Succeed())

		group.ReleasesQuota()
		group.Told(corev1.EventTypeWarning, constants.ForcefulDeletionReason, lost.Name)
		released := apimeta.FindStatusCondition(group.Status().Conditions, string(jobset.JobSetResourcesDeployed)).LastTransitionTime
		Expect(released.Time).To(BeTemporally(">=", stops.Add(grace*time.Second)), "when the quota was given away")
		Expect(group.Status().Restarts).To(BeZero(), "restarts")

		bringBack(ctx, lost.Spec.NodeName)
		group.Suspend(false)
		group.RunsAttempt(0).IsAllNew(before)
	}, SpecTimeout(specTime))
})

var _ = Describe("workers in process mode that lose their sandbox", Serial, Label("node-loss", "slow"), func() {
	DescribeTable("P74: get a new Pod, and their group restarts in place, charged once", func(ctx SpecContext, lose func(context.Context, *corev1.Pod)) {
		group := stories.Create(ctx, stories.Shape{Process: true, Change: onDifferentNodes})
		before := group.RunsAt(1)
		place := placeToLose(ctx, before)
		lost := before.Pods[place]
		DeferCleanup(func(ctx SpecContext) { bringBack(ctx, lost.Spec.NodeName) })
		lose(ctx, lost)

		group.RunsAt(2).Replaces(before, place)
		group.Charged(1)
		group.Told(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, "worker pod "+lost.Name+" lost its sandbox: node "+lost.Spec.NodeName+" restarted")
		group.Told(corev1.EventTypeWarning, constants.WorkerReplacedReason, lost.Name)
	},
		Entry("when their node restarts", SpecTimeout(specTime), restartNode),
		Entry("when the shim of the Pod is killed", SpecTimeout(specTime), killShim),
	)
})

func restartNode(ctx context.Context, pod *corev1.Pod) {
	GinkgoHelper()
	docker(ctx, "restart", pod.Spec.NodeName)
}

// killShim kills the process of the container runtime that is the parent of the processes of a Pod.
func killShim(ctx context.Context, pod *corev1.Pod) {
	GinkgoHelper()
	const script = `
for cgroup in $(grep -l -e "pod$1" -e "pod$2" /proc/[0-9]*/cgroup 2>/dev/null); do
  process=${cgroup%/cgroup}
  parent=$(sed -n 's/^PPid:[[:space:]]*//p' "$process/status")
  case $(cat "/proc/$parent/comm") in
    containerd-shim*) kill -9 "$parent" && exit 0 ;;
  esac
done
echo "no shim has a process of the Pod" >&2
exit 1`
	uid := string(pod.UID)
	docker(ctx, "exec", pod.Spec.NodeName, "sh", "-c", script, "sh", uid, strings.ReplaceAll(uid, "-", "_"))
}

func onDifferentNodes(js *jobset.JobSet) {
	spread := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.TopologySpreadConstraints[0]
	spread.WhenUnsatisfiable, spread.NodeTaintsPolicy = corev1.DoNotSchedule, ptr.To(corev1.NodeInclusionPolicyHonor)
}

// leaveLostNodesSoon puts Pods on different nodes, of those that take Pods, and makes them leave a node 5 s
// after it was found unreachable.
func leaveLostNodesSoon(js *jobset.JobSet) {
	onDifferentNodes(js)
	tolerateLoss(js, 5)
}

// tolerateLoss makes Pods be deleted so many seconds after their node stopped reporting.
func tolerateLoss(js *jobset.JobSet, seconds int64) {
	pod := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
	for _, key := range []string{corev1.TaintNodeUnreachable, corev1.TaintNodeNotReady} {
		pod.Tolerations = append(pod.Tolerations, corev1.Toleration{
			Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To(seconds),
		})
	}
}

// placeToLose is the place of a worker whose node is a Docker container that the manager is not on.
func placeToLose(ctx context.Context, round *stories.Round) int {
	GinkgoHelper()
	manager, err := live.managerPod(ctx)
	Expect(err).NotTo(HaveOccurred())
	place := slices.IndexFunc(round.Pods, func(pod *corev1.Pod) bool { return pod.Spec.NodeName != manager.Spec.NodeName })
	Expect(place).To(BeNumerically(">=", 0), "a worker on another node than the manager")
	Expect(round.Pods[0].Spec.NodeName).NotTo(Equal(round.Pods[1].Spec.NodeName), "nodes of the workers")
	skipUnlessContainer(ctx, round.Pods[place].Spec.NodeName)
	return place
}

func skipUnlessContainer(ctx context.Context, node string) {
	if exec.CommandContext(ctx, "docker", "inspect", node).Run() != nil {
		Skip("the nodes of this cluster are not Docker containers of this machine")
	}
}

func docker(ctx context.Context, args ...string) {
	GinkgoHelper()
	_, err := run(ctx, "docker", args...)
	Expect(err).NotTo(HaveOccurred())
}

// taint tells the cluster that a node is out of service for good, or takes that back.
func taint(ctx context.Context, node string, on bool) {
	GinkgoHelper()
	body := `{"spec":{"taints":null}}`
	if on {
		body = fmt.Sprintf(`{"spec":{"taints":[{"key":%q,"value":"nodeshutdown","effect":"NoExecute"}]}}`, corev1.TaintNodeOutOfService)
	}
	_, err := live.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(body), metav1.PatchOptions{})
	Expect(err).NotTo(HaveOccurred())
}

// bringBack lets a node go on and waits until it is ready and rid of its old Pods. It does no harm to a node that is.
func bringBack(ctx context.Context, node string) {
	GinkgoHelper()
	state, err := run(ctx, "docker", "inspect", "--format", "{{.State.Status}}", node)
	if begin := map[string]string{"paused": "unpause", "exited": "start"}[strings.TrimSpace(state)]; err == nil && begin != "" {
		docker(ctx, begin, node)
	}
	taint(ctx, node, false)
	Eventually(func(expect Gomega) {
		got, err := live.client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		expect.Expect(err).NotTo(HaveOccurred())
		expect.Expect(got.Spec.Taints).To(BeEmpty(), "taints of node %s", node)
		ready := slices.ContainsFunc(got.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
		expect.Expect(ready).To(BeTrue(), "node %s is ready", node)
		hands, err := live.client.CoreV1().Pods(live.hands).List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
		expect.Expect(err).NotTo(HaveOccurred())
		expect.Expect(hands.Items).To(HaveLen(1))
		_, err = live.exec(ctx, &hands.Items[0], handsName, "/worker", "resolve", "localhost")
		expect.Expect(err).NotTo(HaveOccurred(), "the kubelet of node %s serves", node)
	}).WithContext(ctx).WithTimeout(patience).WithPolling(tick).Should(Succeed())
}
