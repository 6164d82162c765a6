/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/integration/examples/manifest"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/simnode"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

// exampleOf reads the documents of an example; the last one is a JobSet.
func exampleOf(path string) (others [][]byte, js *jobset.JobSet) {
	GinkgoHelper()
	files, err := manifest.Walk(framework.Root(), filepath.Join("examples", path))
	Expect(err).NotTo(HaveOccurred())
	Expect(files).To(HaveLen(1))
	last := len(files[0].Documents) - 1
	js = &jobset.JobSet{}
	Expect(yaml.UnmarshalStrict(files[0].Documents[last], js)).To(Succeed())
	return files[0].Documents[:last], js
}

// startsAs creates a JobSet of an example whose workers run a program of ours.
func startsAs(ctx SpecContext, shape stories.Shape, js *jobset.JobSet, args ...string) *stories.Group {
	GinkgoHelper()
	js.Name = stories.JobSetName
	pod := &js.Spec.ReplicatedJobs[0].Template.Spec.Template.Spec
	pod.TerminationGracePeriodSeconds = ptr.To[int64](1)
	pod.Containers[0].Image, pod.Containers[0].Command = stories.WorkerImage, append([]string{"/worker"}, args...)
	return stories.CreateBy(ctx, shape, func(namespace string) error {
		js.Namespace = namespace
		return stories.API().Create(ctx, js.DeepCopy())
	})
}

var _ = Describe("The examples with slices", func() {
	// runSlices runs two slices of two nodes each, and says to which one a node belongs.
	runSlices := func(label string, more map[string]string, accelerator corev1.ResourceName, each string) map[string]string {
		GinkgoHelper()
		nodes := map[string]string{"slice-a-1": "a", "slice-a-2": "a", "slice-b-1": "b", "slice-b-2": "b"}
		for name, slice := range nodes {
			labels := map[string]string{label: slice}
			for key, value := range more {
				labels[key] = value
			}
			runNodeWith(simnode.Options{Name: name, Labels: labels, Extended: corev1.ResourceList{accelerator: resource.MustParse(each)}})
		}
		return nodes
	}
	// expectOneEach expects each Job in a slice of its own.
	expectOneEach := func(pods []*corev1.Pod, nodes map[string]string) {
		GinkgoHelper()
		of := map[string]string{}
		for _, pod := range pods {
			job, slice := pod.Labels[jobset.JobIndexKey], nodes[pod.Spec.NodeName]
			Expect(of).To(Or(Not(HaveKey(job)), HaveKeyWithValue(job, slice)), "slice of Pod %s", pod.Name)
			of[job] = slice
		}
		Expect(of).To(HaveLen(2))
		Expect(of["0"]).NotTo(Equal(of["1"]), "a slice for each Job")
	}

	// The program stands in for JAX.
	It("P127 C197: give each Job a slice, and all processes of JAX each other, and restart there: tpu/jax.yaml", func(ctx SpecContext) {
		nodes := runSlices("cloud.google.com/gke-nodepool", map[string]string{
			"cloud.google.com/gke-tpu-accelerator": "tpu-v5-lite-podslice", "cloud.google.com/gke-tpu-topology": "2x4",
		}, "google.com/tpu", "4")
		_, js := exampleOf("tpu/jax.yaml")
		group := startsAs(ctx, stories.Shape{Process: true, Jobs: 2, Workers: 2}, js, "jax")
		first := group.RunsAt(1)
		expectOneEach(first.Pods, nodes)
		Expect(first.Reads("coordinator")).To(HaveEach(first.Pods[0].Status.PodIP + ":8476"))
		Expect(first.Reads("processes")).To(HaveEach("4"))
		Expect(first.Reads("process")).To(Equal([]string{"0", "1", "2", "3"}))

		group.Tell(order.Exit(1), first.Worker(3))
		second := group.RunsAt(2)
		second.IsInPlaceOf(first)
		Expect(second.Reads("process")).To(Equal(first.Reads("process")))
		group.Charged(1)
	}, SpecTimeout(specTime))

	It("C189 C197: give each Job of one ReplicatedJob a slice, beside a driver: topology/slices.yaml", func(ctx SpecContext) {
		nodes := runSlices("example.com/slice", nil, stories.Accelerator, "8")
		_, js := exampleOf("topology/slices.yaml")
		js.Namespace = newNamespace(ctx)
		js.Spec.ReplicatedJobs[1].Template.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{stories.Accelerator: resource.MustParse("8")}
		Expect(stories.API().Create(ctx, js)).To(Succeed())
		var placed []*corev1.Pod
		Eventually(func() int {
			pods := &corev1.PodList{}
			Expect(stories.API().List(ctx, pods, client.InNamespace(js.Namespace))).To(Succeed())
			placed = nil
			driver := 0
			for i := range pods.Items {
				switch pod := &pods.Items[i]; {
				case pod.Spec.NodeName == "":
				case pod.Labels[jobset.ReplicatedJobNameKey] == "driver":
					driver++
				default:
					placed = append(placed, pod)
				}
			}
			return driver + len(placed)
		}).WithContext(ctx).WithTimeout(patience).Should(Equal(5))
		expectOneEach(placed, nodes)
	}, SpecTimeout(specTime))
})

var _ = Describe("The example with claims of devices", func() {
	// claims are the claims of the Pods of a namespace: their UIDs by the names of the Pods that they are reserved for.
	claims := func(ctx context.Context, namespace string) map[types.UID]types.UID {
		GinkgoHelper()
		list, found := &resourcev1.ResourceClaimList{}, map[types.UID]types.UID{}
		Expect(stories.API().List(ctx, list, client.InNamespace(namespace))).To(Succeed())
		for i := range list.Items {
			for _, consumer := range list.Items[i].Status.ReservedFor {
				found[consumer.UID] = list.Items[i].UID
			}
		}
		return found
	}

	// The scheduler and the claim controller are real. The driver and the kubelet's part, which prepares a device, are not here.
	It("P147: keeps the claims of Pods that restart in place, and makes one for a Pod that replaces another: dra/jobset.yaml", func(ctx SpecContext) {
		const driver, node = "gpu.example.com", "with-devices"
		runNodeWith(simnode.Options{Name: node})
		for _, object := range []client.Object{
			&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: driver}},
			&resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: resourcev1.ResourceSliceSpec{
				Driver: driver, NodeName: ptr.To(node), Pool: resourcev1.ResourcePool{Name: node, ResourceSliceCount: 1},
				Devices: []resourcev1.Device{{Name: "gpu-0"}, {Name: "gpu-1"}},
			}},
		} {
			Expect(stories.API().Create(ctx, object)).To(Succeed())
			DeferCleanup(func(ctx SpecContext) { Expect(stories.API().Delete(ctx, object)).To(Succeed()) })
		}
		others, js := exampleOf("dra/jobset.yaml")
		template := &resourcev1.ResourceClaimTemplate{}
		Expect(yaml.UnmarshalStrict(others[0], template)).To(Succeed())
		group := startsAs(ctx, stories.Shape{Process: true}, js)
		template.Namespace = group.Namespace()
		Expect(stories.API().Create(ctx, template)).To(Succeed())

		first := group.RunsAt(1)
		before := claims(ctx, template.Namespace)
		Expect(before).To(HaveLen(2), "a claim for each Pod")
		for _, pod := range first.Pods {
			Expect(pod.Spec.NodeName).To(Equal(node), "only there are devices")
		}

		group.Tell(order.Exit(1), first.Worker(0))
		second := group.RunsAt(2)
		second.IsInPlaceOf(first)
		Expect(claims(ctx, template.Namespace)).To(Equal(before))

		By("losing a Pod")
		deletes(ctx, 0, second.Pods[0])
		third := group.RunsAt(3)
		third.Replaces(second, 0)
		stays, replaced := first.Pods[1].UID, third.Pods[0].UID
		after := claims(ctx, template.Namespace)
		Expect(after).To(And(HaveLen(2), HaveKeyWithValue(stays, before[stays]), HaveKey(replaced)))
		Expect(slices.Collect(maps.Values(before))).NotTo(ContainElement(after[replaced]), "its claim went with the lost Pod")
		group.Charged(2)
	}, SpecTimeout(specTime))
})
