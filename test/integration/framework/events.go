/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package framework

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Event is an event without its object and times.
type Event struct{ Type, Reason, Note string }

// Normal is an event of type Normal.
func Normal(reason, note string) Event { return Event{corev1.EventTypeNormal, reason, note} }

// Warning is an event of type Warning.
func Warning(reason, note string) Event { return Event{corev1.EventTypeWarning, reason, note} }

// told lists the events about an object, in the order in which they happened. Events are sent side by side, but named by the time they were made.
func (w *World) told(about client.Object) []Event {
	GinkgoHelper()
	var list eventsv1.EventList
	Expect(w.Client.List(w.Context, &list, client.InNamespace(w.Namespace))).To(Succeed())
	slices.SortFunc(list.Items, func(a, b eventsv1.Event) int { return cmp.Compare(a.Name, b.Name) })
	var all []Event
	for i := range list.Items {
		if event := &list.Items[i]; event.Regarding.UID == about.GetUID() {
			all = append(all, Event{event.Type, event.Reason, event.Note})
		}
	}
	return all
}

// HasEvents waits until exactly these events exist about an object.
func (w *World) HasEvents(about client.Object, wanted ...Event) {
	GinkgoHelper()
	Eventually(func() []Event { return w.told(about) }).Should(Equal(wanted))
}

// recorded is what a manager told its recorder of events, by object.
type recorded struct {
	mu    sync.Mutex
	about map[types.UID][]Event
}

type recordingManager struct {
	ctrl.Manager
	recorded *recorded
}

func (m recordingManager) GetEventRecorder(name string) events.EventRecorder {
	return recorder{m.Manager.GetEventRecorder(name), m.recorded}
}

type recorder struct {
	events.EventRecorder
	recorded *recorded
}

func (r recorder) Eventf(regarding, related runtime.Object, eventType, reason, action, note string, args ...any) {
	if object, ok := regarding.(client.Object); ok {
		r.recorded.mu.Lock()
		r.recorded.about[object.GetUID()] = append(r.recorded.about[object.GetUID()], Event{eventType, reason, fmt.Sprintf(note, args...)})
		r.recorded.mu.Unlock()
	}
	r.EventRecorder.Eventf(regarding, related, eventType, reason, action, note, args...)
}

// Records claims that the manager has recorded this many events about a JobSet once it has settled. An empty reason is any. What
// the API server has proves no such thing: each event is sent on its own, at any time, and one that is repeated becomes a series.
func (w *World) Records(js *jobset.JobSet, times int, reason string) {
	GinkgoHelper()
	w.Settles(js)
	w.Manager.recorded.mu.Lock()
	defer w.Manager.recorded.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(w.Manager.recorded.about[js.UID]), func(e Event) bool { return reason != "" && e.Reason != reason })
	Expect(all).To(HaveLen(times), "events of reason %q", reason)
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
