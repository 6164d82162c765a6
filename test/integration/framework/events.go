/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"cmp"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Event is an event without its object and times.
type Event struct{ Type, Reason, Note string }

// Normal is an event of type Normal.
func Normal(reason, note string) Event { return Event{corev1.EventTypeNormal, reason, note} }

// Warning is an event of type Warning.
func Warning(reason, note string) Event { return Event{corev1.EventTypeWarning, reason, note} }

// Told lists the events about an object, in the order in which they happened. Events are sent side by side, but named by the time they were made.
func (w *World) Told(about client.Object) []Event {
	GinkgoHelper()
	var list eventsv1.EventList
	Expect(w.Client.List(w.Context, &list, client.InNamespace(w.Namespace))).To(Succeed())
	slices.SortFunc(list.Items, func(a, b eventsv1.Event) int { return cmp.Compare(a.Name, b.Name) })
	var told []Event
	for i := range list.Items {
		if event := &list.Items[i]; event.Regarding.UID == about.GetUID() {
			told = append(told, Event{event.Type, event.Reason, event.Note})
		}
	}
	return told
}

// HasEvents waits until exactly these events exist about an object.
func (w *World) HasEvents(about client.Object, wanted ...Event) {
	GinkgoHelper()
	Eventually(func() []Event { return w.Told(about) }).Should(Equal(wanted))
}

// Condition is a condition of a JobSet without its times.
type Condition struct {
	Kind            jobset.JobSetConditionType
	Status          metav1.ConditionStatus
	Reason, Message string
}

// True is a condition with status True.
func True(kind jobset.JobSetConditionType, reason, message string) Condition {
	return Condition{kind, metav1.ConditionTrue, reason, message}
}

// False is a condition with status False.
func False(kind jobset.JobSetConditionType, reason, message string) Condition {
	return Condition{kind, metav1.ConditionFalse, reason, message}
}

// Conditions lists the conditions of a JobSet in the order of the status.
func (w *World) Conditions(js *jobset.JobSet) []Condition {
	GinkgoHelper()
	var all []Condition
	for _, c := range Now(w, js).Status.Conditions {
		all = append(all, Condition{jobset.JobSetConditionType(c.Type), c.Status, c.Reason, c.Message})
	}
	return all
}

// HasConditions waits until these are the conditions of a JobSet, all of them in
// the order in which they came.
func (w *World) HasConditions(js *jobset.JobSet, wanted ...Condition) {
	GinkgoHelper()
	Eventually(func() []Condition { return w.Conditions(js) }).Should(Equal(wanted))
}
