/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha2 "k8s.io/api/scheduling/v1alpha2"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/cluster"
	"sigs.k8s.io/jobset/test/integration/framework"
	"sigs.k8s.io/jobset/test/process"
	"sigs.k8s.io/jobset/test/simnode"
	"sigs.k8s.io/jobset/test/stories"
)

// gangGates make Kubernetes 1.36 schedule each Job as a gang; the API is off by default, too.
const (
	gangGates = "--feature-gates=GenericWorkload=true,GangScheduling=true,WorkloadWithJob=true"
	gangAPI   = "--runtime-config=scheduling.k8s.io/v1alpha2=true"
)

// A control plane of its own, whose gates are on: the Job controller makes a Workload and a PodGroup for each Job.
var _ = Describe("Gangs that the Job controller makes", Ordered, func() {
	BeforeAll(func(ctx SpecContext) {
		usual := shown
		s := &simulation{dir: GinkgoT().TempDir(), manager: usual.manager, containers: usual.containers}
		s.plane = framework.StartControlPlane(cluster.Options{
			Dir: s.dir, Controllers: &cluster.Controllers{Manager: []string{gangGates}, Scheduler: []string{gangGates}},
			APIServer: []string{"--kubelet-preferred-address-types=InternalIP", gangGates, gangAPI},
		})
		Expect(s.plane.Install(ctx)).To(Succeed())
		var err error
		s.metrics, err = process.FreeAddress()
		Expect(err).NotTo(HaveOccurred())
		Expect(s.SetGate(ctx, true)).To(Succeed())
		DeferCleanup(func() {
			s.stops()
			shown = usual
			Expect(stories.Use(usual)).To(Succeed())
		})
		shown = s
		Expect(stories.Use(s)).To(Succeed())
	})

	// accelerated makes the Pods of a JobSet ask for one accelerator each.
	accelerated := func(js *jobset.JobSet) {
		for i := range js.Spec.ReplicatedJobs {
			pod := &js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec
			pod.TopologySpreadConstraints = nil
			pod.Containers[0].Resources = corev1.ResourceRequirements{Limits: corev1.ResourceList{stories.Accelerator: resource.MustParse("1")}}
		}
	}
	// creates the JobSet of the example, or a variant of it.
	creates := func(ctx SpecContext, changes ...func(js *jobset.JobSet)) *jobset.JobSet {
		GinkgoHelper()
		text, err := os.ReadFile(filepath.Join(framework.Root(), "examples", "workload-aware", "gang-for-each-job.yaml"))
		Expect(err).NotTo(HaveOccurred())
		js := &jobset.JobSet{}
		Expect(yaml.UnmarshalStrict(text, js)).To(Succeed())
		js.Namespace = newNamespace(ctx)
		for _, change := range append(changes, accelerated) {
			change(js)
		}
		Expect(stories.API().Create(ctx, js)).To(Succeed())
		return js
	}
	// placed is how many Pods of each Job have a node.
	placed := func(ctx context.Context, js *jobset.JobSet) []int {
		GinkgoHelper()
		pods := &corev1.PodList{}
		Expect(stories.API().List(ctx, pods, client.InNamespace(js.Namespace))).To(Succeed())
		found := map[string]int{}
		for i := range pods.Items {
			found[pods.Items[i].Labels[batchv1.JobNameLabel]] += min(len(pods.Items[i].Spec.NodeName), 1)
		}
		return slices.Collect(maps.Values(found))
	}

	It("P146: places all Pods of a Job or none, each Job by itself: workload-aware/gang-for-each-job.yaml", func(ctx SpecContext) {
		runGangNode(ctx, "three", "3")
		js := creates(ctx)
		groups := &schedulingv1alpha2.PodGroupList{}
		Eventually(func() []schedulingv1alpha2.PodGroup {
			Expect(stories.API().List(ctx, groups, client.InNamespace(js.Namespace))).To(Succeed())
			return groups.Items
		}).WithContext(ctx).Should(HaveLen(2), "a PodGroup for each Job")
		for _, group := range groups.Items {
			Expect(metav1.GetControllerOf(&group).Kind).To(Equal("Job"))
			Expect(group.Spec.SchedulingPolicy.Gang.MinCount).To(BeEquivalentTo(2))
		}
		partly := ConsistOf(0, 2)
		Eventually(placed).WithArguments(ctx, js).WithTimeout(patience).Should(partly)
		Consistently(placed).WithArguments(ctx, js).WithTimeout(3*time.Second).Should(partly, "no Pod takes the third place alone")

		By("adding a node")
		runGangNode(ctx, "one", "1")
		Eventually(placed).WithArguments(ctx, js).WithTimeout(patience).Should(Equal([]int{2, 2}))
	}, SpecTimeout(specTime))

	It("P146: are made for Jobs that begin suspended, and refuse another parallelism", func(ctx SpecContext) {
		runGangNode(ctx, "room", "4")
		js := creates(ctx, func(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) })
		jobs := &batchv1.JobList{}
		Eventually(func() error {
			if err := stories.API().List(ctx, jobs, client.InNamespace(js.Namespace)); err != nil {
				return err
			}
			if len(jobs.Items) != 2 || len(jobs.Items[0].Status.Conditions) == 0 {
				return fmt.Errorf("%d Jobs, or the Job controller has not looked at them", len(jobs.Items))
			}
			return nil
		}).WithContext(ctx).Should(Succeed())
		Expect(stories.API().Patch(ctx, js.DeepCopy(), client.RawPatch(client.Merge.Type(), []byte(`{"spec":{"suspend":false}}`)))).To(Succeed())
		Eventually(placed).WithArguments(ctx, js).WithTimeout(patience).Should(Equal([]int{2, 2}))
		pods := &corev1.PodList{}
		Expect(stories.API().List(ctx, pods, client.InNamespace(js.Namespace))).To(Succeed())
		Expect(pods.Items[0].Spec.SchedulingGroup).NotTo(BeNil())

		larger := []byte(`{"spec":{"parallelism":3,"completions":3}}`)
		err := stories.API().Patch(ctx, jobs.Items[0].DeepCopy(), client.RawPatch(client.Merge.Type(), larger))
		Expect(err).To(MatchError(ContainSubstring("cannot change parallelism for a Job referencing gang-scheduled PodGroup")))
	}, SpecTimeout(specTime))

	It("P146: take the Pod that replaces a lost one, and their group restarts in place", func(ctx SpecContext) {
		runGangNode(ctx, "room", "2")
		group := stories.Create(ctx, stories.Shape{Process: true, Change: accelerated})
		first := group.RunsAt(1)
		Expect(first.Pods[0].Spec.SchedulingGroup).NotTo(BeNil())
		deletes(ctx, 0, first.Pods[0])
		second := group.RunsAt(2)
		second.Replaces(first, 0)
		Expect(second.Pods[0].Spec.SchedulingGroup).To(Equal(first.Pods[0].Spec.SchedulingGroup))
		group.Charged(1)
	}, SpecTimeout(specTime))

	It("P146: never start with exclusive placement, whose followers wait for their leader", func(ctx SpecContext) {
		runGangNode(ctx, "room", "4")
		js := creates(ctx, func(js *jobset.JobSet) { js.Annotations = map[string]string{jobset.ExclusiveKey: corev1.LabelHostname} })
		leaders := Equal([]int{0, 0})
		Eventually(placed).WithArguments(ctx, js).Should(leaders)
		Consistently(placed).WithArguments(ctx, js).WithTimeout(5 * time.Second).Should(leaders)
	}, SpecTimeout(specTime))
})

func runGangNode(ctx SpecContext, name, accelerators string) {
	GinkgoHelper()
	runNodeWith(simnode.Options{Name: name, Extended: corev1.ResourceList{stories.Accelerator: resource.MustParse(accelerators)}})
}
