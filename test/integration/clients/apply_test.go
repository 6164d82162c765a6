/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package clients

import (
	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	applybatchv1 "k8s.io/client-go/applyconfigurations/batch/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	apply "sigs.k8s.io/jobset/client-go/applyconfiguration/jobset/v1alpha2"
	"sigs.k8s.io/jobset/client-go/clientset/versioned/fake"
	"sigs.k8s.io/jobset/test/integration/framework"
)

// jobTemplate has lists that merge by key, deep inside of the types of Kubernetes.
func jobTemplate() *applybatchv1.JobTemplateSpecApplyConfiguration {
	return applybatchv1.JobTemplateSpec().WithSpec(applybatchv1.JobSpec().
		WithParallelism(2).
		WithCompletions(2).
		WithCompletionMode(batchv1.IndexedCompletion).
		WithTemplate(applycorev1.PodTemplateSpec().
			WithLabels(map[string]string{"app": "train"}).
			WithSpec(applycorev1.PodSpec().
				WithRestartPolicy(corev1.RestartPolicyNever).
				WithTolerations(applycorev1.Toleration().WithKey("gpu").WithOperator(corev1.TolerationOpExists)).
				WithContainers(applycorev1.Container().
					WithName("worker").
					WithImage("worker").
					WithEnv(applycorev1.EnvVar().WithName("A").WithValue("a")).
					WithVolumeMounts(applycorev1.VolumeMount().WithName("data").WithMountPath("/data")).
					WithPorts(applycorev1.ContainerPort().WithContainerPort(8080).WithProtocol(corev1.ProtocolTCP)).
					WithResources(applycorev1.ResourceRequirements().
						WithRequests(corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")})).
					WithReadinessProbe(applycorev1.Probe().
						WithHTTPGet(applycorev1.HTTPGetAction().WithPort(intstr.FromInt32(8080))))))))
}

// everything uses every type that has an apply configuration, but for the status.
func everything(namespace string) *apply.JobSetApplyConfiguration {
	return apply.JobSet("js", namespace).
		WithLabels(map[string]string{"team": "blue"}).
		WithAnnotations(map[string]string{"note": "x"}).
		WithFinalizers("example.com/held").
		WithOwnerReferences(applymetav1.OwnerReference().
			WithAPIVersion("v1").WithKind("ConfigMap").WithName("owner").WithUID("1-2-3")).
		WithSpec(apply.JobSetSpec().
			WithReplicatedJobs(
				apply.ReplicatedJob().WithName("driver").WithReplicas(2).WithTemplate(jobTemplate()),
				apply.ReplicatedJob().WithName("workers").WithReplicas(0).WithTemplate(jobTemplate()).
					WithDependsOn(apply.DependsOn().WithName("driver").WithStatus(jobset.DependencyReady)),
			).
			WithNetwork(apply.Network().WithEnableDNSHostnames(true).WithSubdomain("net")).
			WithCoordinator(apply.Coordinator().WithReplicatedJob("driver").WithJobIndex(1).WithPodIndex(1)).
			WithStartupPolicy(apply.StartupPolicy().WithStartupPolicyOrder(jobset.AnyOrder)).
			WithSuccessPolicy(apply.SuccessPolicy().WithOperator(jobset.OperatorAll).WithTargetReplicatedJobs("driver")).
			WithFailurePolicy(apply.FailurePolicy().WithMaxRestarts(3).WithRules(
				apply.FailurePolicyRule().WithName("rule").WithAction(jobset.FailJobSet).WithTargetReplicatedJobs("workers"))).
			WithVolumeClaimPolicies(apply.VolumeClaimPolicy().
				WithRetentionPolicy(apply.VolumeRetentionPolicy().WithWhenDeleted(jobset.RetentionPolicyRetain)).
				WithTemplates(corev1.PersistentVolumeClaim{
					ObjectMeta: metav1.ObjectMeta{Name: "data"},
					Spec: corev1.PersistentVolumeClaimSpec{
						AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
						Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
					},
				})))
}

var _ = Describe("Server-side apply", func() {
	by := func(manager string) metav1.ApplyOptions { return metav1.ApplyOptions{FieldManager: manager} }

	It("O439: creates a JobSet from apply configurations, and Extract returns what was applied", func(ctx SpecContext) {
		client, namespace := newClient(ctx)
		applied := everything(namespace)
		js, err := client.Apply(ctx, applied, by("owner"))
		Expect(err).NotTo(HaveOccurred())
		Expect(js.Spec.ReplicatedJobs[1].Replicas).To(BeZero())
		Expect(js.Spec.ReplicatedJobs[1].DependsOn).To(Equal([]jobset.DependsOn{{Name: "driver", Status: jobset.DependencyReady}}))
		Expect(js.Spec.VolumeClaimPolicies[0].Templates[0].Name).To(Equal("data"))

		extracted, err := apply.ExtractJobSet(get(ctx, client, "js"), "owner")
		Expect(err).NotTo(HaveOccurred())
		// Extract reads a Go object, which does not tell a zero from nothing.
		applied.Spec.ReplicatedJobs[1].Replicas = nil
		Expect(cmp.Diff(applied, extracted)).To(BeEmpty())
	})

	It("O439: merges list elements by their key and tells two owners of one field apart", func(ctx SpecContext) {
		client, namespace := newClient(ctx)
		_, err := client.Apply(ctx, everything(namespace), by("owner"))
		Expect(err).NotTo(HaveOccurred())

		suspended := apply.JobSet("js", namespace).WithSpec(apply.JobSetSpec().WithSuspend(true))
		js, err := client.Apply(ctx, suspended, by("queue"))
		Expect(err).NotTo(HaveOccurred())
		Expect(js.Spec.Suspend).To(HaveValue(BeTrue()))
		Expect(js.Spec.ReplicatedJobs).To(HaveLen(2))

		pool := applycorev1.PodSpec().WithNodeSelector(map[string]string{"pool": "a"})
		placed := apply.JobSet("js", namespace).WithSpec(apply.JobSetSpec().WithReplicatedJobs(
			apply.ReplicatedJob().WithName("workers").WithTemplate(applybatchv1.JobTemplateSpec().WithSpec(
				applybatchv1.JobSpec().WithTemplate(applycorev1.PodTemplateSpec().WithSpec(pool))))))
		js, err = client.Apply(ctx, placed, by("queue-placement"))
		Expect(err).NotTo(HaveOccurred())
		Expect(js.Spec.ReplicatedJobs).To(HaveLen(2))
		Expect(framework.PodTemplate(js, 0).Spec.NodeSelector).To(BeEmpty())
		Expect(framework.PodTemplate(js, 1).Spec.NodeSelector).To(Equal(map[string]string{"pool": "a"}))
		Expect(framework.PodTemplate(js, 1).Spec.Containers).To(HaveLen(1))

		_, err = client.Apply(ctx, apply.JobSet("js", namespace).WithSpec(apply.JobSetSpec().WithSuspend(false)), by("other"))
		Expect(apierrors.IsConflict(err)).To(BeTrue(), "%v", err)
		Expect(err).To(MatchError(ContainSubstring(`conflict with "queue"`)))
	})

	It("O439: ApplyStatus writes the status", func(ctx SpecContext) {
		client, namespace := newClient(ctx)
		create(ctx, client, framework.AB())
		failed := condition(jobset.JobSetFailed, "no more")
		js, err := client.ApplyStatus(ctx, apply.JobSet("js", namespace).WithStatus(apply.JobSetStatus().
			WithTerminalState(string(jobset.JobSetFailed)).
			WithConditions(applymetav1.Condition().
				WithType(failed.Type).WithStatus(failed.Status).WithReason(failed.Reason).
				WithMessage(failed.Message).WithLastTransitionTime(failed.LastTransitionTime)).
			WithReplicatedJobsStatus(apply.ReplicatedJobStatus().WithName("a").
				WithReady(0).WithSucceeded(0).WithFailed(1).WithActive(0).WithSuspended(0))), by("controller"))
		Expect(err).NotTo(HaveOccurred())
		Expect(js.Status).To(BeComparableTo(jobset.JobSetStatus{
			TerminalState:        string(jobset.JobSetFailed),
			Conditions:           []metav1.Condition{failed},
			ReplicatedJobsStatus: []jobset.ReplicatedJobStatus{{Name: "a", Failed: 1}},
		}))
		extracted, err := apply.ExtractJobSetStatus(js, "controller")
		Expect(err).NotTo(HaveOccurred())
		Expect(extracted.Status.TerminalState).To(HaveValue(Equal("Failed")))
		Expect(extracted.Spec).To(BeNil())
	})
})

var _ = Describe("The fake clientset", func() {
	It("O439: stores, lists and watches like the real one", func(ctx SpecContext) {
		js := framework.AB()
		js.Namespace = "default"
		clients := fake.NewClientset(js)
		client := clients.JobsetV1alpha2().JobSets("default")
		watcher, err := client.Watch(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		defer watcher.Stop()

		Expect(get(ctx, client, "js").Spec).To(Equal(js.Spec))
		other := framework.JobSet("other", framework.Replicated("a", 0, 1))
		create(ctx, client, other)
		Eventually(watcher.ResultChan()).Should(Receive(HaveField("Object.ObjectMeta.Name", "other")))
		Expect(get(ctx, client, "other").Spec.ReplicatedJobs[0].Replicas).To(BeZero())
		list, err := client.List(ctx, metav1.ListOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(list.Items).To(HaveLen(2))
		Expect(report(ctx, client, "js", jobset.JobSetCompleted, "").Status.Conditions).To(HaveLen(1))
		Expect(clients.Actions()).NotTo(BeEmpty())

		simple := fake.NewSimpleClientset(js).JobsetV1alpha2().JobSets("default")
		Expect(get(ctx, simple, "js").Spec).To(Equal(js.Spec))
	})

	It("O439: applies, and knows the same owners as the API server", func(ctx SpecContext) {
		server, namespace := newClient(ctx)
		fakes := fake.NewClientset().JobsetV1alpha2().JobSets(namespace)
		owner := metav1.ApplyOptions{FieldManager: "owner"}
		fromServer, err := server.Apply(ctx, everything(namespace), owner)
		Expect(err).NotTo(HaveOccurred())
		fromFake, err := fakes.Apply(ctx, everything(namespace), owner)
		Expect(err).NotTo(HaveOccurred())
		Expect(fromFake.ManagedFields).To(HaveLen(1))
		Expect(fromServer.ManagedFields).NotTo(BeEmpty())
		Expect(fromFake.ManagedFields[0].FieldsV1.GetRawString()).To(MatchJSON(fromServer.ManagedFields[0].FieldsV1.GetRawString()))

		changed := everything(namespace)
		changed.Spec.Suspend = ptr.To(true)
		fromFake, err = fakes.Apply(ctx, changed, owner)
		Expect(err).NotTo(HaveOccurred())
		Expect(fromFake.Spec.Suspend).To(HaveValue(BeTrue()))
		Expect(fromFake.Spec.ReplicatedJobs).To(HaveLen(2))
	})
})
