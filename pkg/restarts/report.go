/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package restarts tells how a JobSet restarts: what its group of workers does
// now, who is missing, and what the last restarts were. Values in, values out.
//
//	JobSet, Jobs, Pods, events, now  -> Of   -> Report
//	Report                           -> Text -> what a terminal shows
//
// Who is in the group, and who is back, is computed by package policy, which decides by it.
package restarts

import (
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
)

// Input is what was read.
type Input struct {
	JobSet *jobset.JobSet
	// Jobs and Pods may be more than those of the JobSet: the others are left out.
	Jobs []batchv1.Job
	Pods []corev1.Pod
	// Events are those about the JobSet, JobEvents those about Pods that could not be created for Jobs.
	Events, JobEvents []corev1.Event
	// JobsUnread, PodsUnread and EventsUnread say why they were not read; nil if they were.
	JobsUnread, PodsUnread, EventsUnread error
	// Leases are those in which the agents of these Pods report (P157), and LeasesUnread says why they were not read.
	Leases       facts.Leases
	LeasesUnread error
	// Limit is how many restarts to tell at the most; 0 means all.
	Limit int
	Now   time.Time
}

// Report is what there is to tell about the restarts of a JobSet.
type Report struct {
	// Time is when the report was made; all that says "for" or "ago" counts from it.
	Time      metav1.Time `json:"time"`
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	// Strategy is failurePolicy.restartStrategy.
	Strategy jobset.JobSetRestartStrategy `json:"strategy"`
	State    State                        `json:"state"`
	// Epochs is nil for other strategies than InPlaceRestart.
	Epochs *Epochs `json:"epochs,omitempty"`
	Budget Budget  `json:"budget"`
	// Execution is status.executionAttempts, nil if executions are not counted.
	Execution *int32 `json:"executionAttempts,omitempty"`
	// Jobs is nil if they could not be read.
	Jobs *Jobs `json:"jobs,omitempty"`
	// Workers is nil if no worker is waited for, or if they could not be read.
	Workers *Workers `json:"workers,omitempty"`
	// LastRestarts has the newest first.
	LastRestarts []Restart `json:"lastRestarts"`
	Notes        Notes     `json:"notes,omitempty"`
}

// Epochs are the two epochs of the status.
type Epochs struct {
	// Synced says whose workers may run: those of this epoch.
	Synced int32 `json:"synced"`
	// Deprecated says whose workers must restart: those of this epoch, or of an earlier one.
	Deprecated int32 `json:"deprecated"`
}

// Budget is what failurePolicy.maxRestarts leaves.
type Budget struct {
	MaxRestarts int64 `json:"maxRestarts"`
	Used        int64 `json:"used"`
	Left        int64 `json:"left"`
	// InPlace, AllJobs and OneJob add up to Used.
	InPlace int64 `json:"inPlace"`
	AllJobs int64 `json:"allJobs"`
	OneJob  int64 `json:"oneJob"`
	// NotCounted are restarts of all Jobs that consumed nothing.
	NotCounted int64 `json:"notCounted"`
}

// Of makes the report.
func Of(in Input) Report {
	js := in.JobSet
	r := Report{
		Time: metav1.NewTime(in.Now), Namespace: js.Namespace, Name: js.Name,
		Strategy: strategyOf(js), State: stateOf(js), Budget: budgetOf(js), Execution: js.Status.ExecutionAttempts,
	}
	if r.inPlace() {
		r.Epochs = &Epochs{Synced: ptr.Deref(js.Status.SyncedEpoch, 0), Deprecated: ptr.Deref(js.Status.DeprecatedEpoch, 0)}
	}
	r.explainStrategy(js)
	if blocked := policy.IfTrue(js, jobset.JobSetJobsBlocked); blocked != nil && r.State.Name != JobsBlocked {
		r.Notes.Add("%s since %s: %s", blocked.Reason, stamp(blocked.LastTransitionTime.Time), blocked.Message)
	}
	r.explainTolerance(js)
	r.explainLostNodes(js)
	r.explainAgents(in)
	r.explainHostNames(in)
	if in.EventsUnread != nil {
		r.Notes.Add("events could not be read, so what they report about agents and Services is missing here: %v", in.EventsUnread)
	}
	r.addJobs(in)
	r.addRestarts(in)
	r.explainStandbys(&in)
	return r
}

// explainHostNames says why Pods have none, although spec.network asks for them.
func (r *Report) explainHostNames(in Input) {
	if message := lastSaid(in.Events, constants.HostNamesMissingReason); message != "" && r.State.Name != Completed && r.State.Name != Failed {
		r.Notes.Add("host names: %s", message)
	}
}

// NeedsPods reports whether a report looks at Pods: only a group that runs, or is to, waits for workers.
func NeedsPods(js *jobset.JobSet) bool {
	state := stateOf(js).Name
	return strategyOf(js) == jobset.InPlaceRestart && (state == Running || state == Assembling)
}

// NeedsJobEvents reports whether a report looks at the events of Jobs: they say why Pods are not created.
func NeedsJobEvents(js *jobset.JobSet) bool {
	return strategyOf(js) == jobset.InPlaceRestart && stateOf(js).Name == Assembling
}

// failuresOf is the last word about each Job whose Pods could not be created.
func failuresOf(events []corev1.Event) map[types.UID]string {
	failures, reportedAt := map[types.UID]string{}, map[types.UID]metav1.Time{}
	for i := range events {
		e := &events[i]
		at := EventTime(e)
		if !e.LastTimestamp.IsZero() {
			at = e.LastTimestamp
		}
		if uid := e.InvolvedObject.UID; !at.Before(ptr.To(reportedAt[uid])) {
			failures[uid], reportedAt[uid] = strings.TrimPrefix(e.Message, "Error creating: "), at
		}
	}
	return failures
}

func (r *Report) inPlace() bool { return r.Strategy == jobset.InPlaceRestart }

func (r *Report) explainStrategy(js *jobset.JobSet) {
	if by := js.Spec.ManagedBy; by != nil && *by != jobset.JobSetControllerName {
		r.Notes.Add("spec.managedBy is %s: another controller restarts this JobSet, by its own rules", *by)
	}
	switch {
	case r.inPlace():
	case js.Spec.FailurePolicy == nil && js.Spec.FaultTolerance != nil: // a failed Job leads to a reset
	case js.Spec.FailurePolicy == nil:
		r.Notes.Add("there is no failurePolicy: the first Job that fails ends the JobSet, nothing is restarted")
	default:
		r.Notes.Add("restartStrategy is %s: a restart recreates Jobs; there are no epochs and no group restarts, which need InPlaceRestart", r.Strategy)
	}
}

// gatesOf tells which gates left their traces in a JobSet.
func gatesOf(js *jobset.JobSet) gates.Set {
	set := gates.Set{InPlaceRestart: true}
	for i := range js.Status.ReplicatedJobsStatus {
		set.RestartJob = set.RestartJob || len(js.Status.ReplicatedJobsStatus[i].JobRestarts) > 0
	}
	return set
}

// MembersOf returns the facts of the Pods of a JobSet among those that were read, each with what its Lease reports.
func MembersOf(in Input) []*facts.Member {
	input := inputOf(in)
	var members []*facts.Member
	for _, job := range input.Jobs {
		members = append(members, input.Pods[job.UID]...)
	}
	return members
}

func budgetOf(js *jobset.JobSet) Budget {
	status := &js.Status
	b := Budget{InPlace: int64(status.InPlaceRestarts), AllJobs: int64(status.RestartsCountTowardsMax)}
	for i := range status.ReplicatedJobsStatus {
		for _, n := range status.ReplicatedJobsStatus[i].JobRestartsCountTowardsMax {
			b.OneJob += int64(n)
		}
	}
	switch p := js.Spec.FailurePolicy; {
	case p != nil:
		b.MaxRestarts = int64(p.MaxRestarts)
	case status.FaultTolerance != nil:
		b.MaxRestarts = int64(status.FaultTolerance.MaxRestarts)
	}
	b.Used = b.InPlace + b.AllJobs + b.OneJob
	b.Left = max(0, b.MaxRestarts-b.Used)
	b.NotCounted = max(0, int64(status.Restarts)-int64(status.RestartsCountTowardsMax))
	return b
}
