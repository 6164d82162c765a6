/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package manager

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/test/ownagent"
)

const inPlaceOn = "--feature-gates=InPlaceRestart=true"

// newInPlace is a JobSet that restarts in place, whose agents run with an account.
func newInPlace(namespace, name, account string) *jobset.JobSet {
	js := newJobSet(namespace, name)
	js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 1, RestartStrategy: jobset.InPlaceRestart}
	template := &js.Spec.ReplicatedJobs[0].Template
	*template = *ownagent.Job(template, account, workerpod.Options{AgentImage: "agent"})
	return js
}

// told are the notes of events with a reason in a namespace.
func told(ctx context.Context, namespace, reason string) func() ([]string, error) {
	return func() ([]string, error) {
		var events eventsv1.EventList
		err := plane.client.List(ctx, &events, client.InNamespace(namespace))
		var notes []string
		for _, event := range events.Items {
			if event.Reason == reason {
				notes = append(notes, event.Type+" "+event.Regarding.Kind+" "+event.Regarding.Name+": "+event.Note)
			}
		}
		return notes, err
	}
}

var _ = Describe("The rights of agents", func() {
	var m *manager

	BeforeEach(func(ctx SpecContext) {
		kubectl("apply", "--server-side", "-k", filepath.Join(root, "config/components/agent-access/cluster"))
		m = startReady(ctx, newSettings(), inPlaceOn)
		Eventually(holder(ctx)).ShouldNot(BeEmpty())
	})

	It("P56 O97: are asked about while a group assembles; an account that lacks some is told, and that it has them", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		js := newInPlace(namespace, "train", "trainer")
		begun := time.Now()
		create(ctx, js)
		condition := func(status metav1.ConditionStatus) func() (bool, error) {
			return func() (bool, error) {
				err := plane.client.Get(ctx, client.ObjectKeyFromObject(js), js)
				return apimeta.IsStatusConditionPresentAndEqual(js.Status.Conditions, string(jobset.JobSetAgentAccessDenied), status), err
			}
		}

		Eventually(condition(metav1.ConditionTrue)).Should(BeTrue())
		said := apimeta.FindStatusCondition(js.Status.Conditions, string(jobset.JobSetAgentAccessDenied)).Message
		Expect(said).To(ContainSubstring("service account trainer may not watch jobsets, list jobsets, patch pods"))
		Eventually(told(ctx, namespace, "AgentAccessDenied")).Should(Equal([]string{"Warning JobSet train: " + said}))

		By("doing what it says")
		_, command, _ := strings.Cut(said, "grant it with: kubectl ")
		kubectl(strings.Fields(command)...)
		Eventually(condition(metav1.ConditionFalse)).Should(BeTrue())
		Eventually(told(ctx, namespace, "AgentAccessGranted")).Should(HaveLen(1))

		By("asking little")
		asked := 0
		for _, r := range requestsOf("system:serviceaccount:" + system + ":" + account) {
			Expect(r.ResponseStatus.Code).NotTo(Equal(403), "%s %s", r.Verb, r.RequestURI)
			// Other specs leave JobSets that wait for agents, and every scrape asks, too.
			if about := r.RequestObject; about != nil && about.Spec.ResourceAttributes != nil && about.Spec.ResourceAttributes.Namespace == namespace {
				asked++
			}
		}
		times := 2 + int(time.Since(begun)/(10*time.Second))
		Expect(asked).To(And(BeNumerically(">=", 2*3), BeNumerically("<=", times*3)), "three requests each time: once, and then every ten seconds")
	})

	It("P56 O89: are known to be narrowed; a policy or a binding that goes is told by event, log and metric, and that it came back", func(ctx SpecContext) {
		namespace, scraper := newNamespace(ctx), allowedToken(ctx)
		js := newInPlace(namespace, "train", "jobset-agent")
		create(ctx, js)
		unguarded := func(want string) {
			GinkgoHelper()
			Eventually(func() (string, error) {
				_, text, err := m.scrape(scraper)
				return text, err
			}).Should(MatchRegexp(`(?m)^jobset_in_place_unguarded ` + want + `$`))
		}
		unguarded("0")
		before, err := told(ctx, metav1.NamespaceDefault, "AgentPolicyMissing")()
		Expect(err).NotTo(HaveOccurred())

		kubectl("delete", "validatingadmissionpolicybinding", "jobset-agent")
		unguarded(`[1-9]\d*`)
		const missing = "Warning ValidatingAdmissionPolicy jobset-agent: ValidatingAdmissionPolicyBinding jobset-agent is missing: "
		Eventually(told(ctx, metav1.NamespaceDefault, "AgentPolicyMissing")).Should(SatisfyAll(
			HaveLen(len(before)+1), ContainElement(HavePrefix(missing))))
		Eventually(func() string { return string(m.Err.Contents()) }).Should(ContainSubstring("An admission policy of agents is not in force"))

		By("lifting a group meanwhile")
		lifts(ctx, js)
		Eventually(told(ctx, namespace, "AgentPolicyMissing")).Should(ContainElement(HavePrefix("Warning JobSet train: ValidatingAdmissionPolicyBinding")))

		kubectl("apply", "--server-side", "-k", filepath.Join(root, "config/components/agent-access/cluster"))
		unguarded("0")
		Eventually(told(ctx, metav1.NamespaceDefault, "AgentPolicyInForce")).ShouldNot(BeEmpty())
	})
})

// lifts plays the Job controller and the agent of a JobSet of one worker until its barrier is lifted.
func lifts(ctx context.Context, js *jobset.JobSet) {
	GinkgoHelper()
	Eventually(jobsOf(ctx, js)).Should(Equal(1))
	var jobs batchv1.JobList
	Expect(plane.client.List(ctx, &jobs, client.InNamespace(js.Namespace))).To(Succeed())
	job := &jobs.Items[0]
	pod := &corev1.Pod{ObjectMeta: job.Spec.Template.ObjectMeta, Spec: job.Spec.Template.Spec}
	pod.Namespace, pod.Name = job.Namespace, job.Name+"-0"
	pod.Annotations[batchv1.JobCompletionIndexAnnotation] = "0"
	pod.Annotations[jobset.EpochKey] = "1"
	pod.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))}
	Eventually(func() error { return client.IgnoreAlreadyExists(plane.client.Create(ctx, pod)) }).Should(Succeed())
	Eventually(func() (*int32, error) {
		err := plane.client.Get(ctx, client.ObjectKeyFromObject(js), js)
		return js.Status.SyncedEpoch, err
	}).Should(HaveValue(BeEquivalentTo(1)))
}
