/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package embedded

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	admissionv1 "k8s.io/api/admission/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/test/process"
	"sigs.k8s.io/jobset/test/stories"
	"sigs.k8s.io/jobset/test/worker/order"
)

// claims is a JobSet that asks for claims: that many, times 50.
func claims(namespace string, policies int) *jobset.JobSet {
	return hostile(namespace, "claims", func(js *jobset.JobSet, job *batchv1.JobSpec) {
		js.Spec.FailurePolicy = nil
		job.ManagedBy = nil
		container := &job.Template.Spec.Containers[0]
		for i := range policies {
			var policy jobset.VolumeClaimPolicy
			for j := range 50 {
				name := fmt.Sprintf("c%d-%d", i, j)
				policy.Templates = append(policy.Templates, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
				}})
				container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/" + name})
			}
			js.Spec.VolumeClaimPolicies = append(js.Spec.VolumeClaimPolicies, policy)
		}
	})
}

// avoidsAll creates a JobSet that avoids as many nodes as one may, and returns a Pod of it with as many terms as the API server takes.
func avoidsAll(ctx context.Context, namespace string) *corev1.Pod {
	GinkgoHelper()
	js := hostile(namespace, "avoids", func(js *jobset.JobSet, job *batchv1.JobSpec) {
		js.Spec.FailurePolicy, js.Spec.Suspend, job.ManagedBy = nil, ptr.To(true), nil
		js.Spec.FaultTolerance = &jobset.FaultTolerance{AvoidNodes: &jobset.AvoidNodes{Failures: 1}}
	})
	Expect(stories.API().Create(ctx, js)).To(Succeed())
	Eventually(func() error {
		if err := stories.API().Get(ctx, client.ObjectKeyFromObject(js), js); err != nil {
			return err
		}
		js.Status.FaultTolerance = &jobset.FaultToleranceStatus{}
		now := metav1.Now()
		for i := range 16 {
			js.Status.FaultTolerance.NodeFailures = append(js.Status.FaultTolerance.NodeFailures,
				jobset.NodeFailures{Node: fmt.Sprintf("node-%058d", i), Times: []metav1.Time{now}, AvoidedSince: &now})
		}
		return stories.API().Status().Update(ctx, js)
	}).WithContext(ctx).WithTimeout(time.Minute).Should(Succeed())

	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "p-", Labels: map[string]string{
		jobset.JobSetNameKey: js.Name, jobset.JobSetUIDKey: string(js.UID),
	}}}
	pod.Spec.Containers = []corev1.Container{{Name: "c", Image: stories.WorkerImage}}
	selector := &corev1.NodeSelector{}
	for range 20_000 {
		selector.NodeSelectorTerms = append(selector.NodeSelectorTerms,
			corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "a", Operator: corev1.NodeSelectorOpExists}}})
	}
	pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: selector}}
	return pod
}

// stranger sends requests to ports of the manager, without credentials that anybody knows.
type stranger struct{ http.Client }

func newStranger() *stranger {
	return &stranger{http.Client{Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, MaxIdleConnsPerHost: 1000,
	}}}
}

func (s *stranger) send(ctx context.Context, method, url, token string, body []byte) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	request.Header.Set("Content-Type", "application/json")
	if answer, err := s.Do(request); err == nil {
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
	}
}

// reviewOf is what the API server sends about a new object.
func reviewOf(obj client.Object) []byte {
	GinkgoHelper()
	raw, err := json.Marshal(obj)
	Expect(err).NotTo(HaveOccurred())
	review, err := json.Marshal(&admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionv1.SchemeGroupVersion.String(), Kind: "AdmissionReview"},
		Request: &admissionv1.AdmissionRequest{
			UID: "u", Operation: admissionv1.Create, Namespace: obj.GetNamespace(), Name: obj.GetName(), Object: runtime.RawExtension{Raw: raw},
		},
	})
	Expect(err).NotTo(HaveOccurred())
	return review
}

// attack is what many do at once, again and again, after a pause: they share the processors with the API server.
type attack struct {
	name   string
	atOnce int
	pause  time.Duration
	act    func(context.Context)
}

func attacks(ctx context.Context, namespace string) []attack {
	GinkgoHelper()
	pod, js, who := avoidsAll(ctx, namespace), claims(namespace, 4), newStranger()
	unlimited := rest.CopyConfig(shown.plane.Config)
	unlimited.QPS = -1
	user, err := client.New(unlimited, client.Options{Scheme: stories.API().Scheme()})
	Expect(err).NotTo(HaveOccurred())
	port := func(path string) string {
		host, port, _ := shown.plane.Webhooks()
		return fmt.Sprintf("https://%s:%d%s", host, port, path)
	}
	some, most := claims("kube-system", 4), claims("kube-system", 50)
	for _, js := range []*jobset.JobSet{some, most} {
		js.TypeMeta = metav1.TypeMeta{APIVersion: jobset.GroupVersion.String(), Kind: jobset.Kind}
	}
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	aboutSome, aboutMost, aboutPod := reviewOf(some), reviewOf(most), reviewOf(pod)
	var n atomic.Int64
	return []attack{
		// What is large is not sent by the API server, which takes longer for it than the manager.
		{"Pods of 1.4 MiB that avoid 16 nodes, sent to the port of the webhooks", 16, time.Second, func(ctx context.Context) {
			who.send(ctx, http.MethodPost, port("/mutate--v1-pod"), "", aboutPod)
		}},
		{"dry runs of JobSets with 200 claims", 8, time.Second, func(ctx context.Context) {
			_ = user.Create(ctx, js.DeepCopy(), client.DryRunAll)
		}},
		{"reviews of JobSets with 2,500 claims, sent to the port of the webhooks", 16, time.Second, func(ctx context.Context) {
			who.send(ctx, http.MethodPost, port("/validate-jobset-x-k8s-io-v1alpha2-jobset"), "", aboutMost)
		}},
		{"reviews of JobSets with 200 claims, sent to the port of the webhooks", 300, 3 * time.Second, func(ctx context.Context) {
			who.send(ctx, http.MethodPost, port("/validate-jobset-x-k8s-io-v1alpha2-jobset"), "", aboutSome)
		}},
		{"tokens that nobody knows, sent to the port of the metrics", 300, 100 * time.Millisecond, func(ctx context.Context) {
			who.send(ctx, http.MethodGet, "https://"+shown.metrics+"/metrics", fmt.Sprintf("%d.%s", n.Add(1), strings.Repeat("x", 20)), nil)
		}},
	}
}

// begin repeats an attack until it is told to end. It returns when all act.
func (a attack) begin(ctx context.Context) (end func() int64) {
	GinkgoHelper()
	acting, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	var times atomic.Int64
	for range a.atOnce {
		all.Go(func() {
			for acting.Err() == nil {
				times.Add(1)
				a.act(acting)
				_ = process.Pause(acting, a.pause)
			}
		})
	}
	Eventually(times.Load).WithContext(ctx).WithTimeout(time.Minute).Should(BeNumerically(">=", a.atOnce))
	return func() int64 {
		cancel()
		all.Wait()
		return times.Load()
	}
}

var _ = Describe("A manager whom strangers keep busy", Serial, func() {
	It("O77a O70b O73a W69a P93a: restarts a group beside them as fast as without them, and stays small", func(ctx SpecContext) {
		group := stories.Create(ctx, stories.Shape{Process: true})
		round := group.RunsAt(1)
		manager := shown.run.PID()
		namespace := &corev1.Namespace{}
		namespace.GenerateName = "strangers-"
		Expect(stories.API().Create(ctx, namespace)).To(Succeed())
		// Whoever uses up what the manager has delays every restart; what else the machine does delays some of them.
		fastest := func() (time.Duration, []time.Duration) {
			GinkgoHelper()
			var took []time.Duration
			for range 5 {
				told := group.Tell(order.Exit(1), round.Worker(0))
				round = group.RunsAt(round.Epoch + 1)
				took = append(took, time.Since(told))
			}
			return slices.Min(took), took
		}
		_, quiet := fastest()
		for _, a := range attacks(ctx, namespace.Name) {
			before, err := process.PeakResident(manager)
			Expect(err).NotTo(HaveOccurred())
			end := a.begin(ctx)
			least, took := fastest()
			times := end()
			peak, err := process.PeakResident(manager)
			Expect(err).NotTo(HaveOccurred())
			AddReportEntry(fmt.Sprintf("%s: %d of %d at once; restarts beside them took %v, %v without; the manager's greatest memory is %.0f MiB, %.0f before",
				a.name, times, a.atOnce, took, quiet, peak/(1<<20), before/(1<<20)))
			Expect(least).To(BeNumerically("<", time.Second), "the fastest of the restarts beside %s", a.name)
			Expect(peak-before).To(BeNumerically("<", 256<<20), "memory of the manager with %s", a.name)
		}
		Expect(shown.run.PID()).To(Equal(manager), "the manager that ran before")
		Expect(shown.run.Done()).NotTo(BeClosed())
	}, SpecTimeout(specTime))
})
