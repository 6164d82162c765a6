/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controller

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	. "sigs.k8s.io/jobset/test/integration/framework"
)

// replicatedJob is the type of JobSet v0.12, with which Kueue writes.
type replicatedJob struct {
	Name      string                  `json:"name"`
	GroupName string                  `json:"groupName,omitempty"`
	Template  batchv1.JobTemplateSpec `json:"template"`
	Replicas  int32                   `json:"replicas,omitempty"`
	DependsOn []jobset.DependsOn      `json:"dependsOn,omitempty"`
}

// patches does what Kueue does to a JobSet: a merge patch of spec.suspend and, if a template changes, of the whole list.
func patches(w *World, js *jobset.JobSet, suspend bool, change func(*corev1.PodTemplateSpec)) {
	GinkgoHelper()
	var list []replicatedJob
	text, err := json.Marshal(Now(w, js).Spec.ReplicatedJobs)
	Expect(err).NotTo(HaveOccurred())
	Expect(json.Unmarshal(text, &list)).To(Succeed())
	for i := range list {
		change(&list[i].Template.Spec.Template)
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"suspend": suspend, "replicatedJobs": list}})
	Expect(err).NotTo(HaveOccurred())
	Expect(w.Client.Patch(w.Context, js.DeepCopy(), client.RawPatch(types.MergePatchType, patch))).To(Succeed())
}

// selects is the admission to a flavor.
func selects(flavor map[string]string) func(*corev1.PodTemplateSpec) {
	return func(template *corev1.PodTemplateSpec) { template.Spec.NodeSelector = flavor }
}

// inQueue makes a JobSet wait in a queue.
func inQueue(js *jobset.JobSet) *jobset.JobSet {
	js.Labels = map[string]string{constants.QueueNameKey: "main"}
	return suspended(js)
}

// runsOn claims that all Jobs may run, on the nodes of a flavor and no others.
func runsOn(w *World, js *jobset.JobSet, jobs int, flavor map[string]string) {
	GinkgoHelper()
	w.Has(js, jobset.JobSetSuspended, metav1.ConditionFalse, "ResumeJobs")
	sleeps(w, js)
	for _, job := range w.HasJobs(js, jobs) {
		Expect(job.Spec.Template.Spec.NodeSelector).To(Equal(flavor), "Job %s", job.Name)
	}
}

var _ = Describe("A JobSet that a queue patches with types of JobSet v0.12", func() {
	onDemand := map[string]string{"instance-type": "on-demand"}

	It("W20b: starts and is evicted with elastic bounds, which these types lack", func(ctx SpecContext) {
		w := newWorld(ctx, WithGates(gates.Set{ElasticJobSet: true}))
		js := JobSet("js", Replicated("workers", 1, 2))
		bounds := &jobset.ElasticBounds{MinInstances: 1, MaxInstances: 3}
		js.Spec.ReplicatedJobs[0].Elastic = bounds
		js = w.Create(inQueue(js))
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")

		patches(w, js, false, selects(onDemand))
		runsOn(w, js, 1, onDemand)
		Expect(Now(w, js).Spec.ReplicatedJobs[0].Elastic).To(Equal(bounds))

		patches(w, js, true, selects(nil))
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")
		stored := Now(w, js)
		Expect(stored.Spec.ReplicatedJobs[0].Elastic).To(Equal(bounds))
		Expect(PodTemplate(stored, 0).Spec.NodeSelector).To(BeEmpty())
	})

	It("W20b: starts with zero replicas, which these types leave out", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(inQueue(JobSet("js", Replicated("workers", 1, 2), Replicated("none", 0, 2))))
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")

		patches(w, js, false, selects(onDemand))
		runsOn(w, js, 1, onDemand)
		Expect(Now(w, js).Spec.ReplicatedJobs[1].Replicas).To(BeZero())
	})

	It("C334a: is admitted to another flavor, whose labels have other keys", func(ctx SpecContext) {
		w := newWorld(ctx)
		js := w.Create(inQueue(JobSet("js", Replicated("workers", 1, 2))))
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")
		block, spot := map[string]string{"instance-type": "on-demand", "cloud.provider.com/topology-block": "b1"}, map[string]string{"instance-type": "spot"}

		patches(w, js, false, selects(block))
		runsOn(w, js, 1, block)
		patches(w, js, true, selects(nil))
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")
		w.JobController.Suspends(w.Jobs(js)...)
		patches(w, js, false, selects(spot))
		runsOn(w, js, 1, spot)
	})

	It("P90a: shows the queue which nodes it keeps away from, and stays where the topology of the queue placed it", func(ctx SpecContext) {
		w := newWorld(ctx, WithGates(gates.Set{InPlaceRestart: true, FaultTolerance: true}), WithNodeHealth(nodehealth.DefaultRules()))
		node := hasNode(w, "node-1")
		js := w.Create(inQueue(usesGPUs(Training(2, 10))))
		Expect(PodTemplate(js, 0).Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms).To(Equal(
			[]corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
				{Key: "autopilot.ibm.com/gpuhealth", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"ERR", "EVICT"}}}}}))
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")
		patches(w, js, false, func(template *corev1.PodTemplateSpec) {
			template.Labels = map[string]string{"kueue.x-k8s.io/tas": "true"}
			template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "kueue.x-k8s.io/topology"}}
		})
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionFalse, "ResumeJobs")
		sleeps(w, js)
		jobs := w.HasJobs(js, 1)
		w.JobController.Starts(jobs...)
		pods := w.JobController.MakesPods(jobs...)
		w.Agents.Report(1, pods...)
		w.Reaches(js, 0, 1)

		mark(w, node, "EVICT")
		w.TellsUser(js, corev1.EventTypeWarning, "PlacedByQueue", "Pods run on node-1 (autopilot.ibm.com/gpuhealth=EVICT) with a label of effect NoExecute and are not moved")
		w.StaysAt(js, 0, 1)
		Expect(Now(w, pods[1]).DeletionTimestamp).To(BeNil())
	})

	It("W20b: keeps its bounds when a queue applies its own fields server-side, and takes them back", func(ctx SpecContext) {
		w := newWorld(ctx, WithGates(gates.Set{ElasticJobSet: true}))
		js := JobSet("js", Replicated("workers", 1, 2))
		js.Spec.ReplicatedJobs[0].Elastic = &jobset.ElasticBounds{MinInstances: 1, MaxInstances: 3}
		js = w.Create(inQueue(js))
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")
		applies := func(spec string) {
			GinkgoHelper()
			text := `{"apiVersion":"jobset.x-k8s.io/v1alpha2","kind":"JobSet","metadata":{"name":"js"},"spec":` + spec + `}`
			Expect(w.Client.Patch(w.Context, js.DeepCopy(), client.RawPatch(types.ApplyPatchType, []byte(text)), client.FieldOwner("kueue"), client.ForceOwnership)).To(Succeed())
		}
		applies(`{"suspend":false,"replicatedJobs":[{"name":"workers","template":{"spec":{"template":{"spec":{"nodeSelector":{"instance-type":"on-demand"}}}}}}]}`)
		runsOn(w, js, 1, onDemand)
		applies(`{"suspend":true,"replicatedJobs":[{"name":"workers"}]}`)
		w.Has(js, jobset.JobSetSuspended, metav1.ConditionTrue, "SuspendedJobs")
		stored := Now(w, js)
		Expect(stored.Spec.Suspend).To(Equal(ptr.To(true)))
		Expect(stored.Spec.ReplicatedJobs[0].Elastic).NotTo(BeNil())
		Expect(PodTemplate(stored, 0).Spec.NodeSelector).To(BeEmpty())
	})
})
