/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package e2e

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/test/stories"
)

// costs is the label of these stories. They take half an hour, so they run only if it is asked for.
const costs = "costs"

// cost is what one failure cost a training: each as time since the failure.
type cost struct {
	Failure, Way string
	// Broke: the group is to restart. Created: the first replacement exists; zero if no Pod was replaced. Runs: all ranks run
	// again. Step: the next optimizer step is done.
	Broke, Created, Runs, Step time.Duration
	Restarts                   int32
	// Cause is what the status has as the reason of the last restart, Load the load of the machine before the failure.
	Cause, Load string
}

const costEntry = "what a failure costs"

// failure is one that a training is to survive. change prepares the JobSet for it.
type failure struct {
	name   string
	change func(*jobset.JobSet)
	strike func(*training, *corev1.Pod) time.Time
}

var failures = []failure{
	{"SIGKILL of a rank", nil, func(t *training, pod *corev1.Pod) time.Time { return t.kill(pod) }},
	{"a rank runs out of its container's memory", growsIfTold, (*training).outOfMemory},
	{"a Pod is deleted", nil, (*training).deletes},
	{"a Pod is evicted", nil, (*training).evicts},
	{"a Pod is preempted", needsGPU, (*training).preempts},
	{"a node is rebooted (docker restart)", nil, byDocker("restart")},
	{"a node is lost (docker pause)", leavesSilentNodes, byDocker("pause")},
	{"a node is off (docker stop)", leavesSilentNodes, byDocker("stop")},
}

var _ = Describe("what each failure costs a training with PyTorch", Serial, Ordered, ContinueOnFailure, Label(pytorch, costs, "slow"), func() {
	var undisturbed outcome
	BeforeAll(func(ctx SpecContext) {
		if !strings.Contains(GinkgoLabelFilter(), costs) {
			Skip("set E2E_LABELS=" + costs + " to measure this")
		}
		for _, node := range stories.OpenNodes(ctx) {
			stories.Advertise(ctx, node, gpu, ranks)
		}
		t := train(ctx, quick, func(js *jobset.JobSet) { startsBy(js, processWay) })
		undisturbed = t.finishes(t.RunsAt(1), "none", time.Time{})
	}, NodeTimeout(specTime))

	for _, f := range failures {
		for _, way := range []string{processWay, warmWay} {
			It("P123 P124: "+f.name+", "+way, func(ctx SpecContext) {
				p := pace{stepSeconds: 0.3, saveEvery: 1}
				if way == warmWay {
					p.stepSeconds = 0.8 // a standby is started after 30 s, and imports for some more
				}
				t := train(ctx, p, func(js *jobset.JobSet) {
					startsBy(js, way)
					if f.change != nil {
						f.change(js)
					}
				})
				before := t.RunsAt(1)
				t.reaches(before, struck)
				if way == warmWay {
					t.standbys(before)
				}
				pod := t.awayFromManager(before)
				c := cost{Failure: f.name, Way: way, Load: load()}
				at := f.strike(t, pod)
				t.Breaks(1)
				after := t.RunsEventually()
				c.Broke, c.Runs = t.BrokeAt(1).Sub(at), after.LastStart().Sub(at)
				for place := range after.Pods {
					if after.Pods[place].UID == before.Pods[place].UID {
						continue
					}
					if created := t.NodeLoss(at, before.Pods[place], after, place).Created; c.Created == 0 || created < c.Created {
						c.Created = created
					}
				}
				o := t.finishes(after, f.name+", "+way, at)
				// The program computes a step, sleeps, and tells of it.
				c.Step, c.Restarts = o.Away-time.Duration(p.stepSeconds*float64(time.Second)), o.Restarts
				c.Cause = policy.CauseText(&t.Status().RestartHistory[0].Cause)
				AddReportEntry(costEntry, c, ReportEntryVisibilityNever)
				Expect(o.Checksum).To(Equal(undisturbed.Checksum), "checksum of the weights")
			}, SpecTimeout(specTime))
		}
	}
})

// awayFromManager is a Pod on another node than the manager, which is to survive.
func (t *training) awayFromManager(round *stories.Round) *corev1.Pod {
	GinkgoHelper()
	manager, err := live.managerPod(t.ctx)
	Expect(err).NotTo(HaveOccurred())
	place := slices.IndexFunc(round.Pods, func(pod *corev1.Pod) bool { return pod.Spec.NodeName != manager.Spec.NodeName })
	Expect(place).To(BeNumerically(">=", 0), "a rank on another node than the manager")
	return round.Pods[place]
}

// grows is the program, in which a rank takes memory until it is killed if there is a file that asks for it.
const grows = `busybox sed '/JOBSET_PROGRESS_FILE/a\    os.path.exists("/tmp/grow") and (os.remove("/tmp/grow"), say("grows"), b"x" * (1 << 32))' /train/train.py >/tmp/train.py
exec python3 /tmp/train.py`

func growsIfTold(js *jobset.JobSet) {
	worker := &podOf(js).Containers[0]
	worker.Command = []string{"/bin/sh", "-c", grows}
	worker.Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
	}
}

// outOfMemory makes a rank exceed the limit of its container, and returns when it began to.
func (t *training) outOfMemory(pod *corev1.Pod) (at time.Time) {
	GinkgoHelper()
	shell(t.ctx, pod, ": >/tmp/grow")
	t.eventually(func(expect Gomega) {
		all, err := lines(t.ctx, pod)
		expect.Expect(err).NotTo(HaveOccurred())
		at = last(all, "grows").Time
		expect.Expect(at).NotTo(BeZero(), "the rank in Pod %s grows", pod.Name)
	})
	return at
}

func (t *training) deletes(pod *corev1.Pod) time.Time {
	GinkgoHelper()
	at := time.Now()
	Expect(stories.API().Delete(t.ctx, pod.DeepCopy())).To(Succeed())
	return at
}

func (t *training) evicts(pod *corev1.Pod) time.Time {
	GinkgoHelper()
	at := time.Now()
	Expect(live.client.CoreV1().Pods(pod.Namespace).EvictV1(t.ctx, &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
	})).To(Succeed())
	return at
}

func needsGPU(js *jobset.JobSet) {
	podOf(js).Containers[0].Resources.Limits = corev1.ResourceList{gpu: resource.MustParse("1")}
}

// preempts starts a Pod of higher priority on the node of a rank, which needs one GPU more than are free there.
func (t *training) preempts(pod *corev1.Pod) time.Time {
	GinkgoHelper()
	there, err := live.client.CoreV1().Pods(pod.Namespace).List(t.ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + pod.Spec.NodeName})
	Expect(err).NotTo(HaveOccurred())
	needs := resource.NewQuantity(int64(ranks-len(there.Items)+1), resource.DecimalSI)
	at := time.Now()
	Expect(stories.API().Create(t.ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: "urgent"},
		Spec: corev1.PodSpec{
			PriorityClassName: "system-cluster-critical",
			NodeSelector:      map[string]string{corev1.LabelHostname: pod.Spec.NodeName},
			Containers: []corev1.Container{{
				Name: "urgent", Image: stories.WorkerImage,
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{gpu: *needs}},
			}},
		},
	})).To(Succeed())
	return at
}

func leavesSilentNodes(js *jobset.JobSet) {
	js.Spec.FailurePolicy.InPlaceRestart.LostNode = &jobset.LostNodePolicy{ReplaceAfterSeconds: ptr.To[int32](lostAfter)}
	js.Spec.FailurePolicy.InPlaceRestart.Progress = &jobset.ProgressPolicy{StallSeconds: ptr.To(int32(stallsAfter.Seconds()))}
}

// byDocker does something to the node of a Pod, which is a container.
func byDocker(verb string) func(*training, *corev1.Pod) time.Time {
	return func(t *training, pod *corev1.Pod) time.Time {
		GinkgoHelper()
		skipUnlessContainer(t.ctx, pod.Spec.NodeName)
		DeferCleanup(func(ctx SpecContext) { bringBack(ctx, pod.Spec.NodeName) })
		at := time.Now()
		docker(t.ctx, verb, pod.Spec.NodeName)
		return at
	}
}

// load is that of the machine in the last minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	one, _, _ := strings.Cut(string(text), " ")
	if err != nil {
		return "-"
	}
	return one
}

// costTable shows what each failure cost, by the way in which ranks start again.
func costTable(specs types.SpecReports) string {
	all := stories.Entries[cost](specs, costEntry)
	if len(all) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "## What each failure costs a training with PyTorch, in seconds from the failure\n\n%d ranks; all ended with the same weights if their stories passed.\n\n"+
		"| failure | way | break | replacement exists | all run | **next step** | restarts | cause | load |\n|---|---|---:|---:|---:|---:|---:|---|---:|\n", ranks)
	for _, c := range all {
		fmt.Fprintf(&out, "| %s | %s |", c.Failure, c.Way)
		for _, after := range []time.Duration{c.Broke, c.Created, c.Runs, c.Step} {
			if after == 0 {
				out.WriteString(" - |")
				continue
			}
			fmt.Fprintf(&out, " %.1f |", after.Seconds())
		}
		fmt.Fprintf(&out, " %d | %s | %s |\n", c.Restarts, c.Cause, c.Load)
	}
	return out.String()
}
