/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

const (
	gpu = "nvidia.com/gpu"
	// gpuHealth is the label of nodes that the manager looks at unless it is told otherwise.
	gpuHealth = "autopilot.ibm.com/gpuhealth"
)

// sickNodes: what JobSets with faultTolerance do about nodes whose GPUs are said to be sick. The specs need the
// cluster alone, since what one says of a node would keep the Pods of another off it.
func sickNodes() {
	BeforeEach(advertiseGPUs)

	for _, workers := range []int32{2, 20} {
		It(fmt.Sprintf("P92 P170: %d of one Job are moved off by one restart in place, which is not charged", workers), slowIf(workers > 2), func(ctx SpecContext) {
			group := Create(ctx, Shape{Workers: workers, Change: usesGPUs})
			group.movesInPlace(group.RunsAt(1), 0)
		}, SpecTimeout(specTime))
	}

	It("P92 P170: are moved off in place after five Pods of their Job were lost", slowIf(true), func(ctx SpecContext) {
		group := Create(ctx, Shape{Workers: 6, Change: usesGPUs})
		group.movesInPlace(group.losesEach(group.RunsAt(1), 5, (*Group).deletes), 5)
	}, SpecTimeout(specTime))

	for _, workers := range []int32{2, 20} {
		It(fmt.Sprintf("P92: %d are moved off by a reset with strategy Recreate, which is not charged", workers), slowIf(workers > 2), func(ctx SpecContext) {
			group := Create(ctx, Shape{Workers: workers, Strategy: jobset.Recreate, Change: usesGPUs})
			before := group.RunsAttempt(0)
			group.movesByReset(before, func() *Round { return group.RunsAttempt(1) }, "Recreate")
		}, SpecTimeout(specTime))
	}

	It("P90: are not even started on them", Contract, func(ctx SpecContext) {
		nodes := OpenNodes(ctx)
		group := &Group{fixture: newFixture(ctx, nil)}
		group.mark(nodes[0], "ERR")
		healthy := corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: gpuHealth, Operator: corev1.NodeSelectorOpNotIn, Values: []string{"ERR", "EVICT"}},
		}}
		group.getsNoPods(nodes[0], &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{healthy}},
		}})
		group = Create(ctx, Shape{Workers: 4, Change: usesGPUs})
		group.RunsAt(1).isOff(nodes[0])
		for _, pod := range group.live() {
			Expect(pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms).To(HaveExactElements(healthy))
		}
	}, SpecTimeout(specTime))

	It("P92: stay where they are while maxRestarts is used up", func(ctx SpecContext) {
		group := Create(ctx, Shape{NoRestarts: true, Change: usesGPUs})
		before := group.RunsAt(1)
		sick := before.Pods[1].Spec.NodeName
		group.mark(sick, "EVICT")
		group.Has(jobset.JobSetOnSickNodes, metav1.ConditionTrue, constants.MoveRefusedReason)
		group.RunsAt(1).IsUntouched(before)
		group.unmark(ctx, sick)
		group.Has(jobset.JobSetOnSickNodes, metav1.ConditionFalse, constants.NotOnSickNodesReason)
	}, SpecTimeout(specTime))

	It("P92: stay where they are while retryLimit is used up, and move when it is raised", func(ctx SpecContext) {
		group := Create(ctx, Shape{Strategy: jobset.Recreate, Change: func(js *jobset.JobSet) {
			usesGPUs(js)
			js.Spec.FailurePolicy, js.Spec.FaultTolerance.RetryLimit = nil, ptr.To[int32](0)
		}})
		before := group.RunsAttempt(0)
		sick := before.Pods[1].Spec.NodeName
		group.mark(sick, "EVICT")
		group.Has(jobset.JobSetOnSickNodes, metav1.ConditionTrue, constants.MoveRefusedReason)
		group.RunsAttempt(0).IsUntouched(before)
		group.change(func(js *jobset.JobSet) { js.Spec.FaultTolerance.RetryLimit = ptr.To[int32](1) })
		group.RunsAttempt(1).isOff(sick)
		group.Has(jobset.JobSetOnSickNodes, metav1.ConditionFalse, constants.NotOnSickNodesReason)
	}, SpecTimeout(specTime))

	It("P92: stay where they are without faultTolerance", func(ctx SpecContext) {
		watched := Create(ctx, Shape{Change: usesGPUs})
		sick := watched.RunsAt(1).Pods[1].Spec.NodeName
		other := Create(ctx, Shape{Change: func(js *jobset.JobSet) {
			usesGPUs(js)
			js.Spec.FaultTolerance = nil
			podOf(js).NodeSelector = map[string]string{corev1.LabelHostname: sick}
		}})
		otherBefore := other.RunsAt(1)
		for _, pod := range otherBefore.Pods {
			Expect(pod.Spec.Affinity).To(BeNil(), "P90: affinity of Pod %s", pod.Name)
			Expect(pod.Spec.NodeName).To(Equal(sick))
		}
		watched.mark(sick, "EVICT")
		watched.RunsAt(2)
		other.RunsAt(1).IsUntouched(otherBefore)
	}, SpecTimeout(specTime))
}

// slowIf labels stories that take a minute or more on real kubelets: CI leaves them out, `make nightly` does not.
func slowIf(slow bool) Labels {
	if slow {
		return Label("slow")
	}
	return Label()
}

// movesInPlace marks the node of a worker and expects those on it elsewhere, and the others in their Pods.
func (g *Group) movesInPlace(before *Round, charged int32) {
	GinkgoHelper()
	sick := before.Pods[len(before.Pods)-1].Spec.NodeName
	marked := g.mark(sick, "EVICT")
	after := g.RunsAt(before.Epoch + 1)
	for place := range after.Pods {
		if before.Pods[place].Spec.NodeName != sick {
			after.isInPlaceOf(before, place)
			continue
		}
		Expect(after.Pods[place].UID).NotTo(Equal(before.Pods[place].UID), "UID of the worker Pod in place %d", place)
	}
	after.isOff(sick)
	g.Told(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, fmt.Sprintf("not count towards maxRestarts; all workers of epoch %d restart in place", before.Epoch))
	g.Told(corev1.EventTypeWarning, constants.WorkersMovedReason, sick+" ("+gpuHealth+"=EVICT)")
	Expect(g.record.status().InPlaceRestarts).To(Equal(charged), "inPlaceRestarts")
	Expect(g.record.status().Restarts).To(BeZero(), "restarts")
	moved("in place", int32(len(after.Pods)), marked, after)
}

// movesByReset marks the node of a worker and expects all of them elsewhere.
func (g *Group) movesByReset(before *Round, runs func() *Round, how string) {
	GinkgoHelper()
	sick := before.Pods[1].Spec.NodeName
	marked := g.mark(sick, "EVICT")
	after := runs()
	after.IsAllNew(before)
	after.isOff(sick)
	g.Told(corev1.EventTypeWarning, constants.MovedOffNodesReason, "all Jobs are recreated, which does not count towards maxRestarts")
	Expect(g.record.status().RestartsCountTowardsMax).To(BeZero(), "restartsCountTowardsMax")
	moved(how+", no pause", int32(len(after.Pods)), marked, after)
}

// usesGPUs: each worker asks for a GPU, and the JobSet for fault tolerance, without a pause.
func usesGPUs(js *jobset.JobSet) {
	js.Spec.FaultTolerance = &jobset.FaultTolerance{RetryPauseSeconds: ptr.To[int32](0)}
	podOf(js).Containers[0].Resources.Limits = corev1.ResourceList{gpu: resource.MustParse("1")}
}

// advertiseGPUs does what a device plugin does.
func advertiseGPUs(ctx SpecContext) {
	for _, name := range OpenNodes(ctx) {
		Advertise(ctx, name, gpu, 64)
	}
}

// mark says how the GPUs of a node are, until the end of the spec, and returns when it did.
func (s *fixture) mark(node, health string) time.Time {
	GinkgoHelper()
	DeferCleanup(func(ctx SpecContext) { s.unmark(ctx, node) })
	at := time.Now()
	label(s.ctx, node, fmt.Sprintf("%q", health))
	return at
}

func (s *fixture) unmark(ctx context.Context, node string) {
	GinkgoHelper()
	label(ctx, node, "null")
}

func label(ctx context.Context, node, value string) {
	GinkgoHelper()
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, gpuHealth, value)
	object := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}}
	Expect(api.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

// isOff expects that none of the Pods runs on a node.
func (r *Round) isOff(node string) {
	GinkgoHelper()
	for _, pod := range r.Pods {
		Expect(pod.Spec.NodeName).NotTo(Equal(node), "node of Pod %s", pod.Name)
	}
}

// moved reports how long it took from the label to the last worker's start, elsewhere.
func moved(how string, workers int32, marked time.Time, after *Round) {
	AddReportEntry("from the label to the last start elsewhere", fmt.Sprintf("%d workers, %s: %.1f s", workers, how, after.LastStart().Sub(marked).Seconds()))
}

// contractIf labels a story that CI tells on real nodes.
func contractIf(contract bool) Labels {
	if contract {
		return Contract
	}
	return Label()
}
