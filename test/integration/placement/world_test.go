/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	admissionv1 "k8s.io/api/admission/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/test/integration/framework"
)

const (
	rack      = "example.com/rack"
	transient = ". this is an expected, transient error"
)

// world is a namespace and the nodes of a spec.
type world struct{ *framework.World }

func newWorld() *world {
	GinkgoHelper()
	ctx := context.Background() // that of a BeforeEach ends before the spec begins
	return &world{&framework.World{Cluster: api, Context: ctx, Namespace: api.NewNamespace(ctx)}}
}

// node makes a node with a rack, or with none, and returns its name.
func (w *world) node(name, inRack string) string {
	GinkgoHelper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: w.Namespace + "-" + name}}
	if inRack != "" {
		node.Labels = map[string]string{rack: inRack}
	}
	Expect(w.Client.Create(w.Context, node)).To(Succeed())
	return node.Name
}

// job is a Job: what its Pods know of it.
type job struct {
	name   string
	prefix []string // jobset, replicatedjob, index
	uid    types.UID
}

func newJob(index int) job {
	prefix := []string{"js", "w", strconv.Itoa(index)}
	return job{name: placement.JobName(prefix[0], prefix[1], index), prefix: prefix, uid: uuid.NewUUID()}
}

type change = func(*corev1.Pod)

// pod is a Pod of a Job as the Job controller creates it, placed exclusively by rack.
func (w *world) pod(j job, index int, changes ...change) *corev1.Pod {
	keys := map[string]string{
		jobset.JobSetNameKey:                 j.prefix[0],
		jobset.ReplicatedJobNameKey:          j.prefix[1],
		jobset.JobIndexKey:                   j.prefix[2],
		jobset.JobKey:                        placement.JobKey(w.Namespace, j.name),
		batchv1.JobCompletionIndexAnnotation: strconv.Itoa(index),
	}
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   w.Namespace,
			Name:        fmt.Sprintf("%s-%d-%s", j.name, index, utilrand.String(5)),
			Labels:      keys,
			Annotations: maps.Clone(keys),
			// With it, a Pod that is deleted can be looked at.
			Finalizers: []string{batchv1.JobTrackingFinalizer},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: j.name, UID: j.uid, Controller: ptr.To(true),
			}},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "worker", Image: "worker"}},
		},
	}
	pod.Annotations[jobset.ExclusiveKey] = rack
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func on(node string) change { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

func selecting(key, value string) change {
	return func(p *corev1.Pod) {
		if p.Spec.NodeSelector == nil {
			p.Spec.NodeSelector = map[string]string{}
		}
		p.Spec.NodeSelector[key] = value
	}
}

func annotated(key, value string) change {
	return func(p *corev1.Pod) { p.Annotations[key] = value }
}

func withoutAnnotation(key string) change { return func(p *corev1.Pod) { delete(p.Annotations, key) } }

func withoutLabel(key string) change { return func(p *corev1.Pod) { delete(p.Labels, key) } }

func ownedByNobody(p *corev1.Pod) { p.OwnerReferences = nil }

// starts creates a Pod, as soon as admission has heard of what it needs, and returns it as admitted.
func (w *world) starts(pod *corev1.Pod) *corev1.Pod {
	GinkgoHelper()
	var admitted *corev1.Pod
	Eventually(func() error {
		admitted = pod.DeepCopy()
		return w.Client.Create(w.Context, admitted)
	}).Should(Succeed())
	return admitted
}

// smuggles a Pod past the webhooks: they select it by a label, which it gets afterwards.
func (w *world) smuggles(pod *corev1.Pod) *corev1.Pod {
	GinkgoHelper()
	pod = pod.DeepCopy()
	delete(pod.Labels, jobset.JobSetNameKey)
	Expect(w.Client.Create(w.Context, pod)).To(Succeed())
	w.patches(pod, fmt.Sprintf(`{"metadata":{"labels":{%q:"js"}}}`, jobset.JobSetNameKey))
	return pod
}

// tries to create a Pod, without doing so, and returns the answer of the API server.
func (w *world) tries(pod *corev1.Pod) (*corev1.Pod, *metav1.Status) {
	GinkgoHelper()
	admitted := pod.DeepCopy()
	err := w.Client.Create(w.Context, admitted, client.DryRunAll)
	if err == nil {
		return admitted, nil
	}
	var status apierrors.APIStatus
	Expect(errors.As(err, &status)).To(BeTrue(), "not an answer of the API server: %v", err)
	return nil, ptr.To(status.Status())
}

// becomes waits until a Pod would be admitted in this shape. What admission reads lags behind.
func (w *world) becomes(pod *corev1.Pod, matches func(Gomega, *corev1.Pod)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		admitted, refusal := w.tries(pod)
		g.Expect(refusal).To(BeNil())
		matches(g, admitted)
	}).Should(Succeed())
}

// isRefused waits until a Pod would be refused with this message.
func (w *world) isRefused(pod *corev1.Pod, by, message string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		_, refusal := w.tries(pod)
		g.Expect(refusal).NotTo(BeNil(), "the Pod is admitted")
		g.Expect(refusal.Message).To(Equal(fmt.Sprintf("admission webhook %q denied the request: %s", by, message)))
		g.Expect(refusal.Code).To(BeEquivalentTo(http.StatusForbidden))
		g.Expect(refusal.Reason).To(Equal(metav1.StatusReasonForbidden))
	}).Should(Succeed())
}

// binds Pods to a node, as the scheduler does.
func (w *world) binds(node string, pods ...*corev1.Pod) {
	GinkgoHelper()
	for _, pod := range pods {
		binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}
		Expect(w.Client.SubResource("binding").Create(w.Context, pod.DeepCopy(), binding)).To(Succeed())
	}
}

// ends sets the phase of a Pod.
func (w *world) ends(pod *corev1.Pod, phase corev1.PodPhase) {
	GinkgoHelper()
	w.patchesStatus(pod, fmt.Sprintf(`{"status":{"phase":%q}}`, phase))
}

// deletes a Pod, which then is terminating.
func (w *world) deletes(pod *corev1.Pod) {
	GinkgoHelper()
	Expect(w.Client.Delete(w.Context, pod.DeepCopy())).To(Succeed())
}

// removes a Pod at once.
func (w *world) removes(pod *corev1.Pod) {
	GinkgoHelper()
	w.patches(pod, `{"metadata":{"finalizers":null}}`)
	Expect(client.IgnoreNotFound(w.Client.Delete(w.Context, pod.DeepCopy(), client.GracePeriodSeconds(0)))).To(Succeed())
}

func (w *world) patches(object client.Object, merge string) {
	GinkgoHelper()
	object = object.DeepCopyObject().(client.Object)
	Expect(w.Client.Patch(w.Context, object, client.RawPatch(types.MergePatchType, []byte(merge)))).To(Succeed())
}

func (w *world) patchesStatus(object client.Object, merge string) {
	GinkgoHelper()
	object = object.DeepCopyObject().(client.Object)
	Expect(w.Client.Status().Patch(w.Context, object, client.RawPatch(types.MergePatchType, []byte(merge)))).To(Succeed())
}

// ask asks a webhook directly: what the API server would never send.
func ask(path string, operation admissionv1.Operation, pod *corev1.Pod) *admissionv1.AdmissionResponse {
	GinkgoHelper()
	raw, err := json.Marshal(pod)
	Expect(err).NotTo(HaveOccurred())
	review := admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: uuid.NewUUID(), Operation: operation, Namespace: pod.Namespace, Name: pod.Name, Object: runtime.RawExtension{Raw: raw},
		},
	}
	body, err := json.Marshal(review)
	Expect(err).NotTo(HaveOccurred())
	host, port, _ := api.Webhooks()
	httpClient := &http.Client{Transport: &http.Transport{TLSClientConfig: trusting, DisableKeepAlives: true}}
	response, err := httpClient.Post(fmt.Sprintf("https://%s:%d%s", host, port, path),
		"application/json", bytes.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close() //nolint:errcheck // it was only read
	Expect(json.NewDecoder(response.Body).Decode(&review)).To(Succeed())
	Expect(review.Response).NotTo(BeNil())
	return review.Response
}

const (
	mutatePath   = "/mutate--v1-pod"
	validatePath = "/validate--v1-pod"
)
