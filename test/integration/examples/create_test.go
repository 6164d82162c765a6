/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package examples

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/webhooks"
	"sigs.k8s.io/jobset/test/integration/examples/manifest"
	"sigs.k8s.io/jobset/test/integration/framework"
)

// notCreated are the kinds that this API server does not know, and why. Of
// these only the YAML is read, which is strict about keys that come twice.
var notCreated = map[schema.GroupVersionKind]string{
	{Group: "kueue.x-k8s.io", Version: "v1beta2", Kind: "ResourceFlavor"}:                "comes with Kueue",
	{Group: "kueue.x-k8s.io", Version: "v1beta2", Kind: "ClusterQueue"}:                  "comes with Kueue",
	{Group: "kueue.x-k8s.io", Version: "v1beta2", Kind: "LocalQueue"}:                    "comes with Kueue",
	{Group: "trainer.kubeflow.org", Version: "v1alpha1", Kind: "ClusterTrainingRuntime"}: "comes with the Kubeflow Trainer; test/integration/embedded creates it",
	{Group: "trainer.kubeflow.org", Version: "v1alpha1", Kind: "TrainJob"}:               "comes with the Kubeflow Trainer; test/integration/embedded creates it",
	{Group: "argoproj.io", Version: "v1alpha1", Kind: "Workflow"}:                        "comes with Argo Workflows",
	{Group: "scheduling.k8s.io", Version: "v1beta1", Kind: "Workload"}:                   "comes with Kubernetes 1.37; examples/examples_test.go decodes it",
	{Group: "scheduling.k8s.io", Version: "v1beta1", Kind: "PodGroup"}:                   "comes with Kubernetes 1.37; examples/examples_test.go decodes it",
	{Group: "kustomize.config.k8s.io", Version: "v1beta1", Kind: "Kustomization"}:        "is rendered by its own spec below",
	{Group: "config.jobset.x-k8s.io", Version: "v1alpha1", Kind: "Configuration"}:        "is a file of the manager",
}

var _ = Describe("Each manifest of the examples and of config/samples (O112)", func() {
	for _, file := range files {
		if file.PatchOf != "" {
			continue
		}
		It("is taken by the API server as it is written: "+file.Path, func(ctx SpecContext) {
			newUser(ctx).takes(ctx, file)
		})
	}

	It("O112: of config/samples is among them: JobSets, and a configuration, which is a file of the manager", func() {
		kinds := map[string]int{}
		for _, file := range files {
			if !strings.HasPrefix(file.Path, "config/samples/") {
				continue
			}
			Expect(file.PatchOf).To(BeEmpty(), file.Path)
			for _, document := range file.Documents {
				kinds[read(document).GetKind()]++
			}
		}
		Expect(kinds).To(And(HaveLen(2), HaveKeyWithValue(jobset.Kind, BeNumerically(">=", 1)), HaveKeyWithValue("Configuration", 1)))
	})

	It("accounts for the kinds that are not created here: no such kind is listed in vain", func() {
		seen := map[schema.GroupVersionKind]bool{}
		for _, file := range files {
			for _, document := range file.Documents {
				seen[read(document).GroupVersionKind()] = true
			}
		}
		for kind := range notCreated {
			Expect(seen).To(HaveKey(kind), "no manifest is of this kind any more")
		}
	})

	It("in a kustomization renders to objects that are taken: examples/in-place-restart/access", func(ctx SpecContext) {
		u := newUser(ctx)
		rendered := documents(cluster.Kubectl("kustomize", root+"/examples/in-place-restart/access"))
		var kinds []string
		for _, document := range rendered {
			object := u.object(document)
			u.creates(ctx, object)
			kinds = append(kinds, object.GetKind()+" "+object.GetName())
		}
		Expect(kinds).To(ConsistOf("ServiceAccount jobset-agent", "RoleBinding jobset-agent"))
	})
})

var _ = Describe("Each JobSet of the manifests", func() {
	for _, file := range files {
		for i, document := range jobSets(file) {
			It(fmt.Sprintf("has the defaults that are documented, and no others: %s %d", file.Path, i), func(ctx SpecContext) {
				u := newUser(ctx)
				stored := u.stores(ctx, document)

				want := typed(document)
				webhooks.Default(want, allOn)
				schemaDefaults(want)
				Expect(cmp.Diff(want.Spec, stored.Spec, cmpopts.EquateEmpty())).To(BeEmpty(), "spec (-written +stored)")
			})

			It(fmt.Sprintf("makes Jobs, Pods, a Service and claims that the API server takes: %s %d", file.Path, i), func(ctx SpecContext) {
				u := newUser(ctx)
				for _, document := range file.Documents {
					// Pods name them.
					if object := read(document); object.GetKind() == "PriorityClass" {
						u.creates(ctx, object)
						u.isKnown(ctx, object.GetName())
					}
				}
				stored := u.stores(ctx, document)
				for _, child := range childrenOf(stored) {
					u.keepsAll(ctx, child)
					if job, ok := child.(*batchv1.Job); ok {
						u.keepsAll(ctx, podOf(job))
					}
				}
				Expect(u.Warnings).To(BeEmpty())
			})
		}
	}
})

// takes creates the documents of a file as they are written, and claims that nothing of them is dropped or warned of.
func (u *user) takes(ctx context.Context, file manifest.File) {
	GinkgoHelper()
	Expect(file.Documents).NotTo(BeEmpty())
	for _, document := range file.Documents {
		object := read(document)
		if reason, unknown := notCreated[object.GroupVersionKind()]; unknown {
			GinkgoWriter.Printf("not created: kind %s is unknown here, it %s\n", object.GetKind(), reason)
			Expect(u.serves(object)).To(BeFalse(), "%s is served here, so it can be created here", object.GroupVersionKind())
			continue
		}
		written := u.object(document)
		stored := written.DeepCopy()
		u.creates(ctx, stored)
		Expect(lost(written.Object, stored.Object)).To(BeEmpty(), "in what is stored of %s", written.GetKind())
	}
	Expect(u.Warnings).To(BeEmpty())
}

// isKnown waits until the admission of Pods, which reads a cache, has heard of a PriorityClass.
func (u *user) isKnown(ctx context.Context, class string) {
	GinkgoHelper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: u.Space, GenerateName: "rehearsal-"}, Spec: corev1.PodSpec{
		PriorityClassName: class, Containers: []corev1.Container{{Name: "worker", Image: "worker"}},
	}}
	Eventually(func() error { return u.Create(ctx, pod.DeepCopy(), client.DryRunAll) }).Should(Succeed())
}

func (u *user) stores(ctx context.Context, document []byte) *jobset.JobSet {
	GinkgoHelper()
	object := u.object(document)
	u.creates(ctx, object)
	stored := &jobset.JobSet{}
	Expect(u.Get(ctx, client.ObjectKeyFromObject(object), stored)).To(Succeed())
	return stored
}

// keepsAll rehearses an object and claims that the API server drops nothing of it.
func (u *user) keepsAll(ctx context.Context, object client.Object) {
	GinkgoHelper()
	stored := u.rehearses(ctx, object)
	before, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	Expect(err).NotTo(HaveOccurred())
	after, err := runtime.DefaultUnstructuredConverter.ToUnstructured(stored)
	Expect(err).NotTo(HaveOccurred())
	for _, fields := range []map[string]any{before, after} {
		// Its gate is off in this version of Kubernetes, which then drops the field.
		unstructured.RemoveNestedField(fields, "spec", "schedulingGroup")
		unstructured.RemoveNestedField(fields, "spec", "template", "spec", "schedulingGroup")
		delete(fields, "status")
	}
	Expect(lost(before, after)).To(BeEmpty(), "of %T %s%s", object, object.GetName(), object.GetGenerateName())
}

// childrenOf are all objects that the controller makes for a JobSet.
func childrenOf(js *jobset.JobSet) []client.Object {
	var all []client.Object
	if children.NeedsService(js) {
		all = append(all, children.Service(js))
	}
	for _, claim := range children.Claims(js) {
		all = append(all, claim)
	}
	builder := children.NewBuilder(js).CountJobRestarts(allOn.RestartJob).InjectAgents(framework.Injection)
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		for index := range int(rjob.Replicas) {
			all = append(all, builder.Job(rjob, index))
		}
	}
	return all
}

// podOf is the first Pod of a Job, as the Job controller makes it. With
// exclusive placement it is the one that does not wait for another.
func podOf(job *batchv1.Job) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(),
		Spec:       *job.Spec.Template.Spec.DeepCopy(),
	}
	pod.Namespace, pod.GenerateName = job.Namespace, job.Name+"-0-"
	metav1.SetMetaDataAnnotation(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, "0")
	metav1.SetMetaDataLabel(&pod.ObjectMeta, batchv1.JobCompletionIndexAnnotation, "0")
	metav1.SetMetaDataLabel(&pod.ObjectMeta, batchv1.JobNameLabel, job.Name)
	pod.Spec.Hostname = job.Name + "-0"
	return pod
}

// schemaDefaults are those of the CRD, which come beside those of the webhook.
func schemaDefaults(js *jobset.JobSet) {
	if p := js.Spec.FailurePolicy; p != nil && p.RestartStrategy == "" {
		p.RestartStrategy = jobset.Recreate
	}
	if p := js.Spec.FailurePolicy; p != nil && p.InPlaceRestart != nil && p.InPlaceRestart.Progress != nil && p.InPlaceRestart.Progress.MaxExtensionSeconds == nil {
		p.InPlaceRestart.Progress.MaxExtensionSeconds = ptr.To[int32](3600)
	}
	for i := range js.Spec.VolumeClaimPolicies {
		if p := js.Spec.VolumeClaimPolicies[i].RetentionPolicy; p.WhenDeleted == nil {
			p.WhenDeleted = ptr.To(jobset.RetentionPolicyDelete)
		}
	}
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		if rjob.GroupName == "" {
			rjob.GroupName = "default"
		}
		if rjob.Replicas == 0 {
			rjob.Replicas = 1
		}
		for c := range rjob.Template.Spec.Template.Spec.Containers {
			ports := rjob.Template.Spec.Template.Spec.Containers[c].Ports
			for p := range ports {
				if ports[p].Protocol == "" {
					ports[p].Protocol = corev1.ProtocolTCP
				}
			}
		}
	}
}

// embedded are the manifests that the steps of an Argo workflow create.
func embedded(workflow *unstructured.Unstructured) [][]byte {
	if workflow.GetKind() != "Workflow" {
		return nil
	}
	var found [][]byte
	templates, _, _ := unstructured.NestedSlice(workflow.Object, "spec", "templates")
	for _, template := range templates {
		text, ok, _ := unstructured.NestedString(template.(map[string]any), "resource", "manifest")
		if !ok {
			continue
		}
		document, err := yaml.YAMLToJSONStrict([]byte(text))
		if err != nil {
			panic(err)
		}
		found = append(found, document)
	}
	return found
}
