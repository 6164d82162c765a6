/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dashboard

import (
	"fmt"
	"maps"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

// Kind is a kind of object, as it is named to users.
type Kind string

// The kinds that are read.
const (
	JobSets Kind = "JobSets"
	Jobs    Kind = "Jobs"
	Pods    Kind = "Pods"
	// Events are those about JobSets, JobEvents those about Pods that could not be created for Jobs.
	Events    Kind = "Events"
	JobEvents Kind = "Events of Jobs"
	Nodes     Kind = "Nodes"
	// Leases are those in which agents report.
	Leases Kind = "Leases"
)

// mostEvents is how many events of a JobSet are kept although the API server has forgotten them, after an hour.
const mostEvents = 1000

// patience is how old what was made of a JobSet may become that does not just run: messages say how much time is left.
const patience = 10 * time.Second

// Board holds the objects that were read, and makes the view of them. What has not changed is not made again.
type Board struct {
	scope Scope
	now   func() time.Time

	mu      sync.Mutex
	entries map[string]*entry
	nodes   map[string]*corev1.Node
	leases  map[string]*facts.Lease
	// jobEvents are by the UID of the Job that they are about, ofJob is to whom that Job belongs.
	jobEvents map[types.UID]map[string]*corev1.Event
	ofJob     map[types.UID]*entry
	// unread says why a kind cannot be read, waiting which kinds have not been read yet.
	unread  map[Kind]error
	waiting map[Kind]bool
	// view is nil if something has changed since it was made.
	view    *View
	changed chan struct{}
}

// entry is a JobSet, nil as long as only what belongs to it has been seen, and what belongs to it.
type entry struct {
	js     *jobset.JobSet
	jobs   map[string]*batchv1.Job
	pods   map[string]*corev1.Pod
	events map[string]*corev1.Event
	// seen is what was made of it at a time; fresh says that nothing has changed since.
	seen  *JobSet
	at    time.Time
	fresh bool
}

// NewBoard returns a board without objects, which waits for all kinds.
func NewBoard(scope Scope, now func() time.Time) *Board {
	return &Board{
		scope: scope, now: now, entries: map[string]*entry{}, nodes: map[string]*corev1.Node{}, leases: map[string]*facts.Lease{},
		jobEvents: map[types.UID]map[string]*corev1.Event{}, ofJob: map[types.UID]*entry{},
		unread: map[Kind]error{}, waiting: map[Kind]bool{JobSets: true, Jobs: true, Pods: true, Events: true, JobEvents: true, Nodes: true, Leases: true},
		changed: make(chan struct{}),
	}
}

// Changed returns a channel that is closed with the next change.
func (b *Board) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// wake says that something has changed.
func (b *Board) wake() {
	b.view = nil
	close(b.changed)
	b.changed = make(chan struct{})
}

// Put adds or replaces objects, which the board keeps.
func (b *Board) Put(objects ...metav1.Object) { b.change(objects, false) }

// Remove takes objects away.
func (b *Board) Remove(objects ...metav1.Object) { b.change(objects, true) }

func (b *Board) change(objects []metav1.Object, gone bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range objects {
		b.set(o, gone)
	}
	b.wake()
}

// Replace makes the objects of a kind those that were listed.
func (b *Board) Replace(kind Kind, objects []metav1.Object) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting, kind)
	switch kind {
	case JobSets:
		b.removeOthers(objects)
	case Jobs:
		clear(b.ofJob)
	case Nodes:
		clear(b.nodes)
	case JobEvents:
		clear(b.jobEvents)
	case Leases:
		clear(b.leases)
	}
	for _, e := range b.entries {
		switch kind {
		case Jobs:
			clear(e.jobs)
		case Pods:
			clear(e.pods)
		case Events:
			maps.DeleteFunc(e.events, func(_ string, event *corev1.Event) bool { return !e.outlives(event) })
		}
		e.fresh = e.fresh && kind == Nodes
	}
	for _, o := range objects {
		b.set(o, false)
	}
	b.wake()
}

// removeOthers removes the JobSets that are not listed.
func (b *Board) removeOthers(listed []metav1.Object) {
	exists := map[types.UID]bool{}
	for _, o := range listed {
		exists[o.GetUID()] = true
	}
	for _, e := range b.entries {
		if e.js != nil && !exists[e.js.UID] {
			b.set(e.js, true)
		}
	}
}

// Unread says why a kind cannot be read; nil if it can be read again.
func (b *Board) Unread(kind Kind, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if fmt.Sprint(b.unread[kind]) == fmt.Sprint(err) {
		return
	}
	b.unread[kind] = err
	for _, e := range b.entries {
		e.fresh = false
	}
	b.wake()
}

// set keeps an object, or forgets it. Of objects that belong to no JobSet only nodes are kept.
func (b *Board) set(o metav1.Object, gone bool) {
	o.SetManagedFields(nil) // nothing reads them, and they are as large as the rest
	key := idOf(o)
	switch o := o.(type) {
	case *jobset.JobSet:
		e := b.entry(key)
		if was := e.js; was != nil && (gone || was.UID != o.UID) {
			maps.DeleteFunc(e.events, func(_ string, event *corev1.Event) bool { return event.InvolvedObject.UID == was.UID })
		}
		if e.js = o; gone {
			e.js = nil
		}
	case *batchv1.Job:
		e := b.entry(jobSetIDOf(o))
		if was := e.jobs[key]; was != nil {
			delete(b.ofJob, was.UID)
		}
		put(e.jobs, key, o, gone)
		put(b.ofJob, o.UID, e, gone)
	case *corev1.Pod:
		put(b.entry(jobSetIDOf(o)).pods, key, o, gone)
	case *corev1.Node:
		put(b.nodes, key, o, gone)
	case *coordinationv1.Lease:
		put(b.leases, key, facts.OfLease(o), gone)
		for _, e := range b.entries {
			e.fresh = e.fresh && string(e.js.UID) != o.Labels[jobset.JobSetUIDKey]
		}
	case *corev1.Event:
		about := o.InvolvedObject
		if about.Kind == jobset.Kind {
			e := b.entry(about.Namespace + "/" + about.Name)
			put(e.events, key, o, gone && !e.outlives(o))
			return
		}
		events := b.jobEvents[about.UID]
		if events == nil {
			events = map[string]*corev1.Event{}
			b.jobEvents[about.UID] = events
		}
		if put(events, key, o, gone); len(events) == 0 {
			delete(b.jobEvents, about.UID)
		}
		if e := b.ofJob[about.UID]; e != nil {
			e.fresh = false
		}
	}
}

// outlives reports whether an event that the API server has forgotten is kept.
func (e *entry) outlives(event *corev1.Event) bool {
	return e.js != nil && event.InvolvedObject.UID == e.js.UID && len(e.events) <= mostEvents
}

func put[K comparable, T any](to map[K]*T, key K, o *T, gone bool) {
	if to[key] = o; gone {
		delete(to, key)
	}
}

// entry returns the one of a JobSet, which is about to change.
func (b *Board) entry(id string) *entry {
	e := b.entries[id]
	if e == nil {
		e = &entry{jobs: map[string]*batchv1.Job{}, pods: map[string]*corev1.Pod{}, events: map[string]*corev1.Event{}}
		b.entries[id] = e
	}
	e.fresh = false
	return e
}
