/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package observer watches a group from outside, by an undisturbed connection to the
// API server, and holds against every state of it what must always be so:
//
//	epochs and counters never fall, D <= S <= D+1
//	inPlaceRestarts == D: each break is charged once, in the write that it is
//	no full restart happens, and the JobSet does not finish
//	before S rises, each place of the group has reported the new epoch
//
// The second holds because the scenarios here never suspend, resize or restart in full.
package observer

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

// State is what the status of the JobSet says.
type State struct {
	Deprecated, Synced int32
	InPlaceRestarts    int32
}

// Observer watches one JobSet, and the Pods and Leases of its namespace.
type Observer struct {
	places []string

	mu    sync.Mutex
	state State
	// reports says, by place, at which version each epoch was first seen, on a Pod or in its Lease.
	reports    map[string]map[int32]uint64
	lifts      []lift
	checked    int
	inLeases   int
	violations []string
}

// lift is a write that raised S, and its version.
type lift struct {
	epoch   int32
	version uint64
}

func newObserver(js *jobset.JobSet) *Observer {
	o := &Observer{reports: map[string]map[int32]uint64{}}
	for _, rjob := range js.Spec.ReplicatedJobs {
		for replica := range int(rjob.Replicas) {
			for index := range int(ptr.Deref(rjob.Template.Spec.Completions, 1)) {
				o.places = append(o.places, fmt.Sprintf("%s-%s-%d-%d", js.Name, rjob.Name, replica, index))
			}
		}
	}
	return o
}

// seeJobSet looks at a state. A version is that of the object in a watch. After a gap, some
// states before it were not seen.
func (o *Observer) seeJobSet(js *jobset.JobSet, version uint64, gap bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	was := o.state
	is := State{
		Deprecated: ptr.Deref(js.Status.DeprecatedEpoch, 0), Synced: ptr.Deref(js.Status.SyncedEpoch, 0),
		InPlaceRestarts: js.Status.InPlaceRestarts,
	}
	o.state = is
	switch {
	case is.Deprecated < was.Deprecated, is.Synced < was.Synced, is.InPlaceRestarts < was.InPlaceRestarts:
		o.wrong("status fell from %+v to %+v", was, is)
	case is.Deprecated > is.Synced, is.Synced > is.Deprecated+1, !gap && is.Synced > was.Synced+1:
		o.wrong("epochs out of step: from %+v to %+v", was, is)
	case is.InPlaceRestarts != is.Deprecated:
		o.wrong("%d breaks were charged as %d restarts: from %+v to %+v", is.Deprecated, is.InPlaceRestarts, was, is)
	}
	if js.Status.Restarts != 0 || js.Status.TerminalState != "" {
		o.wrong("the group restarted in full or ended: %d restarts, terminal state %q", js.Status.Restarts, js.Status.TerminalState)
	}
	if is.Synced > was.Synced {
		o.lifts = append(o.lifts, lift{epoch: is.Synced, version: version})
	}
}

func (o *Observer) seePod(pod *corev1.Pod, version uint64) {
	o.seeReport(pod.Labels[batchv1.JobNameLabel]+"-"+pod.Annotations[batchv1.JobCompletionIndexAnnotation], pod.Annotations, version)
}

// seeLease looks at a Lease, in which an agent reports (P151). The name of its Pod is the place and a random end.
func (o *Observer) seeLease(lease *coordinationv1.Lease, version uint64) {
	if facts.OfLease(lease).Of == "" {
		return
	}
	pod := lease.OwnerReferences[0].Name
	if o.seeReport(pod[:strings.LastIndexByte(pod, '-')], lease.Annotations, version) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.inLeases++
	}
}

// seeReport returns whether it is the first of its place and epoch.
func (o *Observer) seeReport(place string, annotations map[string]string, version uint64) bool {
	epoch, err := strconv.ParseInt(annotations[jobset.EpochKey], 10, 32)
	if err != nil {
		return false // not reported yet
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.reports[place] == nil {
		o.reports[place] = map[int32]uint64{}
	}
	first, seen := o.reports[place][int32(epoch)]
	if !seen || version < first { // the watches of Pods and Leases lag against each other
		o.reports[place][int32(epoch)] = version
	}
	return !seen
}

// State is what the JobSet was when it was last seen.
func (o *Observer) State() State {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.state
}

// Unfounded lists the places that had not reported an epoch before the group was lifted to
// it. The watch of Pods may lag behind: ask until there are none.
func (o *Observer) Unfounded() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var missing []string
	for _, l := range o.lifts {
		for _, place := range o.places {
			if at, reported := o.reports[place][l.epoch]; !reported || at > l.version {
				missing = append(missing, fmt.Sprintf("%s at epoch %d", place, l.epoch))
			}
		}
	}
	if missing != nil {
		return missing
	}
	o.checked += len(o.lifts)
	o.lifts = nil
	for _, epochs := range o.reports {
		for epoch := range epochs {
			if epoch < o.state.Synced {
				delete(epochs, epoch)
			}
		}
	}
	return nil
}

// Lifts is how many lifts were found to be founded.
func (o *Observer) Lifts() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.checked
}

// InLeases is how many reports were seen first in a Lease.
func (o *Observer) InLeases() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.inLeases
}

// Violations are what must not have happened and did.
func (o *Observer) Violations() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.violations)
}

func (o *Observer) wrong(format string, args ...any) {
	o.violations = append(o.violations, time.Now().Format("15:04:05.000 ")+fmt.Sprintf(format, args...))
}

// Until waits until something is so of the state.
func (o *Observer) Until(ctx context.Context, is func(State) bool) error {
	ticks := time.NewTicker(20 * time.Millisecond)
	defer ticks.Stop()
	for !is(o.State()) {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for the status of the JobSet, which is %+v: %w", o.State(), ctx.Err())
		}
	}
	return nil
}
