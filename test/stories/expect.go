/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package stories

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// Charged expects that this many group restarts in place have ended, and no other
// restart, and that the JobSet says so.
func (g *Group) Charged(restarts int32) {
	GinkgoHelper()
	status := g.record.status()
	Expect(status.InPlaceRestarts).To(Equal(restarts), "inPlaceRestarts")
	Expect(status.Restarts).To(BeZero(), "restarts")
	Expect(status.RestartsCountTowardsMax).To(BeZero(), "restartsCountTowardsMax")
	Expect(status.TerminalState).To(BeEmpty(), "terminalState")
	if restarts == 0 {
		Expect(apimeta.IsStatusConditionTrue(status.Conditions, string(jobset.JobSetRestarting))).To(BeFalse(), "RestartingJobSet")
		return
	}
	g.Has(jobset.JobSetRestarting, metav1.ConditionFalse, constants.WorkersSyncedReason)
	g.Told(corev1.EventTypeWarning, constants.InPlaceRestartStartedReason, "restart in place")
	g.Told(corev1.EventTypeNormal, constants.InPlaceRestartCompletedReason, "restarted in place")
}

// Has waits for a condition.
func (g *Group) Has(conditionType jobset.JobSetConditionType, status metav1.ConditionStatus, reason string) {
	GinkgoHelper()
	g.eventually(func() string {
		c := apimeta.FindStatusCondition(g.record.status().Conditions, string(conditionType))
		if c == nil {
			return "absent"
		}
		return fmt.Sprintf("%s %s", c.Status, c.Reason)
	}).Should(Equal(fmt.Sprintf("%s %s", status, reason)), "condition %s", conditionType)
}

// Told waits for an event of the JobSet.
func (g *Group) Told(eventType, reason, part string) {
	GinkgoHelper()
	g.eventually(func(expect Gomega) {
		var found []string
		for _, event := range g.events() {
			found = append(found, fmt.Sprintf("%s %s: %s", event.Type, event.Reason, event.Note))
		}
		expect.Expect(found).To(ContainElement(And(HavePrefix(eventType+" "+reason+": "), ContainSubstring(part))), "events")
	}).Should(Succeed())
}

func (s *fixture) events() []eventsv1.Event {
	GinkgoHelper()
	var list eventsv1.EventList
	Expect(api.List(s.ctx, &list, client.InNamespace(s.namespace))).To(Succeed())
	return slices.DeleteFunc(list.Items, func(event eventsv1.Event) bool { return event.Regarding.Kind != jobset.Kind })
}

// Fails waits until the JobSet has failed for a reason, and its Pods have ended.
func (g *Group) Fails(reason string) {
	GinkgoHelper()
	g.Has(jobset.JobSetFailed, metav1.ConditionTrue, reason)
	Expect(g.record.status().TerminalState).To(Equal(string(jobset.JobSetFailed)))
	g.Told(corev1.EventTypeWarning, reason, "")
	g.eventually(g.live).Should(BeEmpty(), "live Pods of a JobSet that has failed")
}

// Completes waits until the JobSet is complete, and every container has ended.
func (g *Group) Completes() {
	GinkgoHelper()
	g.Has(jobset.JobSetCompleted, metav1.ConditionTrue, constants.AllJobsCompletedReason)
	Expect(g.record.status().TerminalState).To(Equal(string(jobset.JobSetCompleted)))
	g.Told(corev1.EventTypeNormal, constants.AllJobsCompletedReason, "")
	// Pods and JobSets come by two watches.
	g.eventually(func(expect Gomega) {
		for _, pod := range g.record.pods() {
			expect.Expect(pod.Status.Phase).To(Equal(corev1.PodSucceeded), "phase of Pod %s", pod.Name)
			for _, name := range []string{g.shape.Container, agentName} {
				expect.Expect(containerStatus(pod, name).State.Running).To(BeNil(), "container %s of Pod %s", name, pod.Name)
			}
		}
	}).Should(Succeed())
}

// LeavesNothing deletes the JobSet and waits until all it made is gone.
func (g *Group) LeavesNothing() {
	GinkgoHelper()
	g.delete()
	g.eventually(g.objects).Should(ConsistOf("ConfigMap kube-root-ca.crt", "ServiceAccount default"), "what every namespace has")
}

// objects are all objects of the namespace but events, as kind and name.
func (s *fixture) objects() ([]string, error) {
	kinds, err := discovery.ServerPreferredNamespacedResources(discoverer)
	if err != nil {
		return nil, fmt.Errorf("listing the kinds of this cluster: %w", err)
	}
	var found []string
	for _, group := range kinds {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, kind := range group.APIResources {
			if kind.Kind == "Event" || !slices.Contains(kind.Verbs, "list") {
				continue
			}
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(version.WithKind(kind.Kind + "List"))
			if err := api.List(s.ctx, list, client.InNamespace(s.namespace)); err != nil {
				return nil, fmt.Errorf("listing %s: %w", kind.Name, err)
			}
			for i := range list.Items {
				found = append(found, kind.Kind+" "+list.Items[i].Name)
			}
		}
	}
	return found, nil
}

// epochsOnlyGrew looks back at all that was seen: D and S never decrease, and D is never above S.
func (g *Group) epochsOnlyGrew() {
	GinkgoHelper()
	last := [2]int32{}
	for _, now := range g.record.epochsSeen() {
		Expect(now[0]).To(And(BeNumerically(">=", last[0]), BeNumerically("<=", now[1])), "deprecatedEpoch after %v", last)
		Expect(now[1]).To(BeNumerically(">=", last[1]), "syncedEpoch after %v", last)
		last = now
	}
}

// summary is the state of the story in a few lines.
func (s *fixture) summary() string {
	status := s.record.status()
	var out strings.Builder
	fmt.Fprintf(&out, "JobSet: D %d, S %d, inPlaceRestarts %d, restarts %d, %s\n", ptr.Deref(status.DeprecatedEpoch, 0),
		ptr.Deref(status.SyncedEpoch, 0), status.InPlaceRestarts, status.Restarts, status.TerminalState)
	for _, c := range status.Conditions {
		fmt.Fprintf(&out, "  %s %s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
	}
	for _, pod := range s.record.pods() {
		fmt.Fprintf(&out, "Pod %s on %s: %s\n", pod.Name, pod.Spec.NodeName, sketch(pod))
	}
	for _, event := range s.events() {
		fmt.Fprintf(&out, "Event %s %s: %s\n", event.Type, event.Reason, event.Note)
	}
	return out.String()
}
