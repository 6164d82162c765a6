/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dashboard

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/restarts"
	"sigs.k8s.io/jobset/pkg/sizes"
)

// View returns what there is to see now.
func (b *Board) View() *View {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	for id, e := range b.entries {
		switch {
		case e.js == nil:
			if e.seen = nil; len(e.jobs)+len(e.pods)+len(e.events) == 0 {
				delete(b.entries, id)
			}
		case !e.fresh || e.seen.Summary.State != restarts.Running && now.Sub(e.at) > patience:
			e.seen, e.at, e.fresh = JobSetOf(b.inputOf(e, now), e.seen), now, true
			b.view = nil
		}
	}
	if b.view != nil {
		return b.view // nothing has changed
	}
	in := sizes.Input{Nodes: sorted(b.nodes), NodesUnread: b.never(Nodes), Now: now}
	var jobSets []*JobSet
	for _, e := range b.entries {
		if e.js == nil {
			continue
		}
		jobSets, in.JobSets = append(jobSets, e.seen), append(in.JobSets, *e.js)
	}
	b.view = viewOf(b.scope, jobSets, in, b.notes())
	return b.view
}

func (b *Board) inputOf(e *entry, now time.Time) restarts.Input {
	in := restarts.Input{
		JobSet: e.js, Jobs: sorted(e.jobs), Pods: sorted(e.pods), Now: now,
		JobsUnread: b.never(Jobs), PodsUnread: b.never(Pods), EventsUnread: b.never(Events),
	}
	if restarts.NeedsLeases(in.Pods) {
		in.LeasesUnread = b.never(Leases)
		in.Leases = func(key string) *facts.Lease { return b.leases[key] }
	}
	for _, event := range sorted(e.events) {
		if event.InvolvedObject.UID == e.js.UID { // not of an earlier one of the same name
			in.Events = append(in.Events, event)
		}
	}
	for i := range in.Jobs {
		for _, event := range sorted(b.jobEvents[in.Jobs[i].UID]) {
			if event.Namespace == in.Jobs[i].Namespace { // one elsewhere may claim any UID
				in.JobEvents = append(in.JobEvents, event)
			}
		}
	}
	return in
}

// errWaiting stands for what is read for the first time.
var errWaiting = errors.New("they are still being read")

// never says why a kind has not been read, nil if it has: what was read once is shown, even if a connection is lost.
func (b *Board) never(kind Kind) error {
	if !b.waiting[kind] {
		return nil
	}
	return cmp.Or(b.unread[kind], errWaiting)
}

// notes say what cannot be read. JobSets tell themselves which of Jobs, Pods, Leases and events they lack.
func (b *Board) notes() []string {
	var notes []string
	for _, kind := range []Kind{JobSets, Jobs, Pods, Leases, Events, Nodes} {
		switch err := b.unread[kind]; {
		case err != nil && !b.waiting[kind]:
			notes = append(notes, fmt.Sprintf("%s may be out of date, they cannot be watched: %v", kind, err))
		case b.waiting[kind] && (kind == JobSets || kind == Nodes):
			notes = append(notes, fmt.Sprintf("%s could not be read: %v", kind, b.never(kind)))
		}
	}
	return notes
}

// sorted returns objects in the order of their names: maps have none, and messages must not change without a reason.
func sorted[T any](objects map[string]*T) []T {
	all := make([]T, 0, len(objects))
	for _, key := range sortedKeys(objects) {
		all = append(all, *objects[key])
	}
	return all
}

func sortedKeys[T any](objects map[string]*T) []string { return slices.Sorted(maps.Keys(objects)) }
