/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/simnode"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

// shownManifest is a JobSet of the examples, as users are shown it, but for its name, the program and the name of the accelerator.
func shownManifest(path string) *jobset.JobSet {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(framework.Root(), "examples", path))
	Expect(err).NotTo(HaveOccurred())
	js := &jobset.JobSet{}
	Expect(yaml.UnmarshalStrict(text, js)).To(Succeed())
	js.Name = stories.JobSetName
	pod := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
	pod.TerminationGracePeriodSeconds = ptr.To[int64](1)
	worker := &pod.Containers[0]
	worker.Image, worker.Command = stories.WorkerImage, []string{"/worker"}
	limits := worker.Resources.Limits
	Expect(limits).To(HaveLen(1))
	for name, quantity := range limits {
		worker.Resources.Limits = corev1.ResourceList{stories.Accelerator: quantity}
		Expect(name).To(BeEquivalentTo("nvidia.com/gpu"))
	}
	return js
}

var _ = Describe("The examples with accelerators", func() {
	It("C197 P60: place each Job in a rack of its own with one Pod on each node, and restart there: in-place-restart/one-pod-per-node.yaml", func(ctx SpecContext) {
		racks := map[string]string{"rack-a-1": "a", "rack-a-2": "a", "rack-b-1": "b", "rack-b-2": "b"}
		for name, rack := range racks {
			runNodeWith(simnode.Options{
				Name: name, Labels: map[string]string{"example.com/rack": rack}, Extended: corev1.ResourceList{stories.Accelerator: resource.MustParse("8")},
			})
		}
		js := shownManifest("in-place-restart/one-pod-per-node.yaml")
		group := stories.CreateBy(ctx, stories.Shape{Process: true, Jobs: 2, Workers: 2}, func(namespace string) error {
			js.Namespace = namespace
			return stories.API().Create(ctx, js.DeepCopy())
		})
		before := group.RunsAt(1)
		nodes, rackOf := map[string]bool{}, map[string]string{}
		for _, pod := range before.Pods {
			nodes[pod.Spec.NodeName] = true
			job, rack := pod.Labels[jobset.JobIndexKey], racks[pod.Spec.NodeName]
			Expect(rackOf).To(Or(Not(HaveKey(job)), HaveKeyWithValue(job, rack)), "rack of Pod %s", pod.Name)
			rackOf[job] = rack
		}
		Expect(nodes).To(HaveLen(4), "a node for each Pod")
		Expect(rackOf["0"]).NotTo(Equal(rackOf["1"]), "a rack for each Job")

		group.Tell(order.Exit(1), before.Worker(3))
		group.RunsAt(2).IsInPlaceOf(before)
		group.Charged(1)
	}, SpecTimeout(specTime))

	// 30 s: until the node is not ready, until its Pods may be given up, and a new node.
	It("P85 P104 P108: go on smaller when a node dies, and grow when one comes: elastic/in-place.yaml", Label("slow"), func(ctx SpecContext) {
		runNode("survives", "3")
		stop := runNode("dies", "1")
		js := shownManifest("elastic/in-place.yaml")
		js.Spec.ReplicatedJobs[0].Elastic.MaxInstances = 4
		js.Spec.FaultTolerance.ForcefulDeletionGracePeriodSeconds = ptr.To[int32](1)
		tolerations := js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Tolerations
		for i := range tolerations {
			tolerations[i].TolerationSeconds = ptr.To[int64](1)
		}
		group := stories.CreateBy(ctx, stories.Shape{Process: true, Workers: 4}, func(namespace string) error {
			js.Namespace = namespace
			return stories.API().Create(ctx, js.DeepCopy())
		})
		full := group.Becomes(4)

		By("its machine does not answer any more, and Kubernetes gives up its Pods")
		dies(full, "dies", stop)
		doesNotAnswer(ctx, "dies")
		Eventually(stories.Sizes).WithArguments(group).WithContext(ctx).WithTimeout(patience).Should(BeEquivalentTo(3))
		shrunk := group.Becomes(3)
		shrunk.KeepsOn("survives", full)
		group.Charged(1) // the loss, not the change of size (P108b)

		By("another machine comes")
		runNode("replaces", "1")
		grown := group.Becomes(4)
		grown.Keeps(shrunk)
		group.Charged(1)
		group.Has(jobset.JobSetElasticResizing, metav1.ConditionFalse, constants.ElasticResizeCompletedReason)
	}, SpecTimeout(specTime))
})

// doesNotAnswer says of a node what the node controller says of one whose kubelet is silent: nobody evicts its Pods before.
func doesNotAnswer(ctx SpecContext, name string) {
	GinkgoHelper()
	node := &corev1.Node{}
	Expect(stories.API().Get(ctx, client.ObjectKey{Name: name}, node)).To(Succeed())
	before := node.DeepCopy()
	for i := range node.Status.Conditions {
		if node.Status.Conditions[i].Type == corev1.NodeReady {
			node.Status.Conditions[i].Status = corev1.ConditionUnknown
		}
	}
	Expect(stories.API().Status().Patch(ctx, node, client.MergeFrom(before))).To(Succeed())
}
