/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"maps"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/test/worker/order"
)

const (
	gateOfStory      = "example.com/placed"
	finalizerOfStory = "example.com/archive"
	queueLabel       = "queue"
)

// otherControllers: what JobSets of the other strategies live through with the
// real Job controller, scheduler and garbage collector. Other suites play these.
func otherControllers() {
	It("C163 C167 C170: get the template that changed while they were suspended, and wait behind its scheduling gates", func(ctx SpecContext) {
		group := Create(ctx, Shape{Strategy: jobset.Recreate})
		before := group.RunsAttempt(0)
		jobs := group.jobs()
		group.Suspend(true)
		group.Has(jobset.JobSetSuspended, metav1.ConditionTrue, constants.JobSetSuspendedReason)
		// At once: the Job controller may not have suspended the Job yet.
		group.change(func(js *jobset.JobSet) {
			js.Spec.Suspend = ptr.To(false)
			template := &js.Spec.ReplicatedJobs[0].Template.Spec.Template
			template.Labels = map[string]string{queueLabel: "gold"}
			template.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: gateOfStory}}
		})

		group.eventually(func(expect Gomega) {
			expect.Expect(group.live()).To(HaveLen(2))
			for _, pod := range group.live() {
				expect.Expect(pod.Labels).To(HaveKeyWithValue(queueLabel, "gold"))
				expect.Expect(pod.Status.Conditions).To(ContainElement(HaveField("Reason", corev1.PodReasonSchedulingGated)), "conditions of Pod %s", pod.Name)
			}
		}).Should(Succeed())
		for _, pod := range group.live() {
			ungated := pod.DeepCopy()
			ungated.Spec.SchedulingGates = nil
			Expect(api.Patch(ctx, ungated, client.MergeFrom(pod))).To(Succeed())
		}
		group.RunsAttempt(0).IsAllNew(before)
		Expect(group.jobs()).To(Equal(jobs), "UIDs of the Jobs")
		group.Has(jobset.JobSetSuspended, metav1.ConditionFalse, constants.ResumedReason)
	}, SpecTimeout(specTime))

	It("C154 C155 C162: begin in the order of a chain, when others are ready and when others are complete", func(ctx SpecContext) {
		group := Create(ctx, Shape{Strategy: jobset.Recreate, Workers: 1, Change: func(js *jobset.JobSet) {
			first := js.Spec.ReplicatedJobs[0]
			second, third := *first.DeepCopy(), *first.DeepCopy()
			second.Name, second.DependsOn = "second", []jobset.DependsOn{{Name: first.Name, Status: jobset.DependencyReady}}
			third.Name, third.DependsOn = "third", []jobset.DependsOn{{Name: "second", Status: jobset.DependencyComplete}}
			js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, second, third)
		}})
		second := group.runsOf("second")
		Expect(group.appearedAt("second")).To(BeTemporally(">", group.readyAt(replicated)), "the Pod that waits until the first is ready")
		Expect(slices.Sorted(maps.Keys(group.jobs()))).To(Equal([]string{"training-second-0", "training-workers-0"}))

		group.Tell(order.Done, second)
		third := group.runsOf("third")
		Expect(group.appearedAt("third")).To(BeTemporally(">", group.succeededAt("second")), "the Pod that waits until the second is complete")
		group.Tell(order.Done, third, group.runsOf(replicated))
		group.Has(jobset.JobSetCompleted, metav1.ConditionTrue, constants.AllJobsCompletedReason)
	}, SpecTimeout(specTime))

	It("C72 C99 C136 C319: restart one Job alone, whose Pod reads the attempt through the downward API", func(ctx SpecContext) {
		group := Create(ctx, Shape{
			Strategy: jobset.Recreate, Jobs: 2, Workers: 1,
			Rules: []jobset.FailurePolicyRule{{Name: "alone", Action: jobset.RestartJob}},
			Change: func(js *jobset.JobSet) {
				podOf(js).Containers[0].Env = []corev1.EnvVar{{Name: "EPOCH", ValueFrom: &corev1.EnvVarSource{
					FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['" + constants.JobRestartAttemptKey + "']"},
				}}}
			},
		})
		before := group.RunsAttempt(0)
		group.Tell(order.Exit(1), before.Worker(1))
		group.eventually(func(expect Gomega) {
			expect.Expect(group.live()).To(HaveLen(2))
			expect.Expect(group.live()[1].UID).NotTo(Equal(before.Pods[1].UID))
		}).Should(Succeed())
		after := group.RunsAttempt(0)
		Expect(after.Pods[0].UID).To(Equal(before.Pods[0].UID), "UID of the Pod of the other Job")
		for place, attempt := range []string{"0", "1"} {
			Expect(cluster.Log(ctx, after.Worker(place))).To(ContainSubstring(`"epoch":"`+attempt+`"`), "attempt that the worker in place %d reads", place)
		}
		group.eventually(func() []int32 { return group.record.status().ReplicatedJobsStatus[0].JobRestarts }).Should(Equal([]int32{0, 1}))
		group.Told(corev1.EventTypeWarning, constants.ActionReason(jobset.RestartJob), "first failed job: training-workers-1")
	}, SpecTimeout(specTime))

	It("C179 C369: leave the claims that are to be kept, and those that are not go with them", func(ctx SpecContext) {
		group := Create(ctx, Shape{Strategy: jobset.Recreate, Change: func(js *jobset.JobSet) {
			js.Spec.Suspend = ptr.To(true) // claims are made all the same, and need no volumes
			js.Spec.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{
				claim("scratch", jobset.RetentionPolicyDelete), claim("results", jobset.RetentionPolicyRetain),
			}
			for _, name := range []string{"scratch", "results"} {
				worker := &podOf(js).Containers[0]
				worker.VolumeMounts = append(worker.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/" + name})
			}
		}})
		group.eventually(group.claims).Should(ConsistOf("scratch-training", "results-training"))
		group.eventually(group.jobs).Should(HaveLen(1))
		group.delete()
		group.eventually(group.claims).Should(ConsistOf("results-training"))
		group.eventually(group.jobs).Should(BeEmpty())
	}, SpecTimeout(specTime))

	It("C173 C174: are deleted when their time to live is over, and recreate nothing while a finalizer of somebody else holds them", func(ctx SpecContext) {
		group := Create(ctx, Shape{Strategy: jobset.Recreate, Workers: 1, Change: func(js *jobset.JobSet) {
			js.Spec.TTLSecondsAfterFinished = ptr.To[int32](1)
			js.Finalizers = []string{finalizerOfStory}
		}})
		DeferCleanup(func(ctx SpecContext) { // nothing else could go, if this fails
			free := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			Expect(client.IgnoreNotFound(api.Patch(ctx, group.Stored(), free))).To(Succeed())
		})
		group.Tell(order.Done, group.runsOf(replicated))
		group.eventually(func(expect Gomega) {
			js, err := group.jobSet()
			expect.Expect(err).NotTo(HaveOccurred())
			expect.Expect(js.DeletionTimestamp).NotTo(BeNil())
			expect.Expect(js.Finalizers).To(Equal([]string{finalizerOfStory}), "the collector is through")
			expect.Expect(group.jobs()).To(BeEmpty())
			expect.Expect(group.record.pods()).To(BeEmpty())
		}).Should(Succeed())
		group.change(func(js *jobset.JobSet) { js.Finalizers = nil })
		group.eventually(func() bool {
			_, err := group.jobSet()
			return apierrors.IsNotFound(err)
		}).Should(BeTrue(), "the JobSet is gone")
		Expect(group.jobs()).To(BeEmpty())
	}, SpecTimeout(specTime))
}

func claim(name string, whenDeleted jobset.RetentionPolicyType) jobset.VolumeClaimPolicy {
	return jobset.VolumeClaimPolicy{
		RetentionPolicy: &jobset.VolumeRetentionPolicy{WhenDeleted: &whenDeleted},
		Templates: []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}},
			},
		}},
	}
}

// claims are the names of the claims in the namespace that are not being deleted.
func (g *Group) claims() (names []string, err error) {
	var list corev1.PersistentVolumeClaimList
	err = api.List(g.ctx, &list, client.InNamespace(g.namespace))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return names, err
}

// jobs are the UIDs of the Jobs by name.
func (g *Group) jobs() map[string]types.UID {
	GinkgoHelper()
	var list batchv1.JobList
	Expect(api.List(g.ctx, &list, client.InNamespace(g.namespace))).To(Succeed())
	uids := map[string]types.UID{}
	for i := range list.Items {
		uids[list.Items[i].Name] = list.Items[i].UID
	}
	return uids
}

func (g *Group) jobSet() (*jobset.JobSet, error) {
	js := g.Stored()
	err := api.Get(g.ctx, client.ObjectKeyFromObject(js), js)
	return js, err
}

// change changes the JobSet in one write.
func (g *Group) change(change func(*jobset.JobSet)) {
	GinkgoHelper()
	g.eventually(func() error {
		js, err := g.jobSet()
		if err != nil {
			return err
		}
		change(js)
		return api.Update(g.ctx, js)
	}).Should(Succeed())
}

// delete deletes the JobSet as kubectl does; what it owns is left to the collector.
func (g *Group) delete() {
	GinkgoHelper()
	Expect(api.Delete(g.ctx, g.Stored(), client.PropagationPolicy(metav1.DeletePropagationBackground))).To(Succeed())
}

// runsOf waits until the one worker of a ReplicatedJob runs, and listens.
func (g *Group) runsOf(name string) Container {
	GinkgoHelper()
	var worker Container
	g.eventually(func(expect Gomega) {
		pods := slices.DeleteFunc(g.live(), func(pod *corev1.Pod) bool { return pod.Labels[jobset.ReplicatedJobNameKey] != name })
		expect.Expect(pods).To(HaveLen(1), "live Pods of %s", name)
		status := containerStatus(pods[0], workerName)
		expect.Expect(status != nil && status.State.Running != nil).To(BeTrue(), "the worker of Pod %s runs", pods[0].Name)
		_, err := g.starts(pods, workerName)
		expect.Expect(err).NotTo(HaveOccurred())
		worker = Container{Pod: pods[0], Name: workerName}
	}).Should(Succeed())
	return worker
}

// firstOf is when a Pod of a ReplicatedJob was first seen to be like this.
func (g *Group) firstOf(name string, like func(*corev1.Pod) bool) time.Time {
	return g.record.first(func(v view) bool {
		return v.Pod != nil && v.Pod.Labels[jobset.ReplicatedJobNameKey] == name && like(v.Pod)
	})
}

func (g *Group) appearedAt(name string) time.Time {
	return g.firstOf(name, func(*corev1.Pod) bool { return true })
}

func (g *Group) readyAt(name string) time.Time {
	return g.firstOf(name, func(pod *corev1.Pod) bool {
		worker := containerStatus(pod, workerName)
		return worker != nil && worker.Ready
	})
}

func (g *Group) succeededAt(name string) time.Time {
	return g.firstOf(name, func(pod *corev1.Pod) bool { return pod.Status.Phase == corev1.PodSucceeded })
}
