/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package dashboard is the local web page of `kubectl jobset dashboard`.
//
//	objects, now     -> JobSetOf, nodesOf -> View       what there is to see; values in, values out
//	two Views        -> Diff              -> Delta      what a page must change
//	watches          -> Board             -> View       the objects, and what was made of them
//	Board            -> Handler           -> a browser  assets, and Deltas as server-sent events
//
// It reads, and writes nothing. How a JobSet restarts, and who is missing, is told by package restarts; sizes by
// package sizes.
package dashboard

import (
	"cmp"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/restarts"
	"sigs.k8s.io/jobset/pkg/sizes"
)

const (
	// mostCells bounds what a page draws of one JobSet; a note says so if there are more workers.
	mostCells = 20000
	// mostTrouble bounds the table of workers that are not back. Cells show all of them.
	mostTrouble = 50
	// mostRestarts bounds the history.
	mostRestarts = 100
)

// Scope is which JobSets are shown.
type Scope struct {
	// Namespace is empty for all.
	Namespace string `json:"namespace"`
	// Name is empty for all of the namespace.
	Name string `json:"name,omitempty"`
}

// View is all there is to see. It is never changed: a change makes a new one.
type View struct {
	Scope Scope
	// JobSets are ordered by namespace and name.
	JobSets []*JobSet
	Nodes   []Node
	Elastic []sizes.Job
	// Notes are what a reader must know to read the rest.
	Notes []string
}

// JobSet is what there is to see of one.
type JobSet struct {
	Summary Summary
	Detail  Detail
	Cells   []Cell
	// failures are those that were on a known node.
	failures []restarts.NodeFailure
}

// Summary is a line of the list of JobSets.
type Summary struct {
	// ID is namespace/name.
	ID    string             `json:"id"`
	State restarts.StateName `json:"state"`
	Total int                `json:"total"`
	// Running are the workers that run, or have succeeded.
	Running int `json:"running"`
}

// Detail is everything but the cells.
type Detail struct {
	ID       string                       `json:"id"`
	Strategy jobset.JobSetRestartStrategy `json:"strategy"`
	State    restarts.State               `json:"state"`
	Epochs   *restarts.Epochs             `json:"epochs,omitempty"`
	Budget   restarts.Budget              `json:"budget"`
	Total    int                          `json:"total"`
	Back     int                          `json:"back"`
	// Trouble are the workers that are not back, or do not run: the first of NotBack.
	Trouble []restarts.Worker `json:"trouble,omitempty"`
	NotBack int               `json:"notBack"`
	// Steps are those of the last restart, or of the first start.
	Steps []Step `json:"steps,omitempty"`
	// Reports is how many workers were back when, as far as the dashboard has seen it.
	Reports Reports `json:"reports"`
	// Time is nil without a ledger (P140).
	Time     *Time              `json:"time,omitempty"`
	Restarts []restarts.Restart `json:"restarts"`
	Notes    []string           `json:"notes,omitempty"`
}

// Cell is a worker. Names are short: there are thousands.
type Cell struct {
	// Name is ReplicatedJob-Job-index.
	Name    string               `json:"w"`
	State   restarts.WorkerState `json:"s"`
	Epoch   int32                `json:"e,omitempty"`
	Pod     string               `json:"p,omitempty"`
	Node    string               `json:"n,omitempty"`
	Message string               `json:"m,omitempty"`
}

// JobSetOf says what there is to see of a JobSet. Before is what was seen of it the last time, nil if nothing.
func JobSetOf(in restarts.Input, before *JobSet) *JobSet {
	in.Limit = mostRestarts
	report := restarts.Of(in)
	workers, total, err := restarts.Everyone(in, mostCells)
	id := idOf(in.JobSet)
	v := &JobSet{
		Summary: Summary{ID: id, State: report.State.Name, Total: total},
		Detail: Detail{
			ID: id, Strategy: report.Strategy, State: report.State, Epochs: report.Epochs, Budget: report.Budget,
			Total: total, Restarts: report.LastRestarts, Notes: report.Notes,
		},
	}
	switch {
	case err != nil:
		workers = nil
		v.Detail.Notes = append(v.Detail.Notes, err.Error())
	case in.PodsUnread != nil:
		workers = nil // without Pods their state is unknown
		if report.Workers == nil && !restarts.NeedsPods(in.JobSet) {
			v.Detail.Notes = append(v.Detail.Notes, "Pods could not be read, so the workers are missing here: "+in.PodsUnread.Error())
		}
	case len(workers) < total:
		v.Detail.Notes = append(v.Detail.Notes, "of "+strconv.Itoa(total)+" workers the first "+strconv.Itoa(len(workers))+" are shown")
	}
	v.addWorkers(workers, report.Workers)
	v.failures = restarts.NodeFailuresOf(in.JobSet, report.LastRestarts, in.Now)
	if before != nil {
		v.Detail.Reports = before.Detail.Reports
	}
	v.Detail.Reports = v.Detail.Reports.next(&report, in.Now)
	v.Detail.Steps = stepsOf(&report, &in)
	v.Detail.Time = timeOf(in, &report)
	return v
}

// addWorkers makes the cells, and counts. Group is nil if no group is waited for.
func (v *JobSet) addWorkers(workers []restarts.Worker, group *restarts.Workers) {
	v.Cells = make([]Cell, len(workers))
	var trouble []restarts.Worker
	for i := range workers {
		w := &workers[i]
		v.Cells[i] = Cell{
			Name:  w.ReplicatedJob + "-" + strconv.Itoa(w.JobIndex) + "-" + strconv.FormatInt(w.Index, 10),
			State: w.State, Epoch: w.Epoch, Pod: w.Pod, Node: w.Node, Message: w.Message,
		}
		switch w.State {
		case restarts.Working, restarts.Succeeded:
			v.Summary.Running++
		default:
			trouble = append(trouble, *w)
		}
	}
	v.Detail.Back = v.Summary.Running
	switch v.Summary.State {
	case restarts.Suspended, restarts.Completed, restarts.Failed, restarts.Deleting:
		return // the group does not wait for them
	}
	if group != nil {
		v.Detail.Back, trouble = group.Back, slices.Concat(group.Missing, group.NotReady)
	}
	v.Detail.NotBack = len(trouble)
	v.Detail.Trouble = trouble[:min(len(trouble), mostTrouble)]
}

func idOf(o metav1.Object) string { return o.GetNamespace() + "/" + o.GetName() }

// jobSetIDOf returns the JobSet that a Job or Pod belongs to, by its labels; "" if to none.
func jobSetIDOf(o metav1.Object) string {
	if name := o.GetLabels()[jobset.JobSetNameKey]; name != "" {
		return o.GetNamespace() + "/" + name
	}
	return ""
}

// viewOf puts together what there is to see.
func viewOf(scope Scope, jobSets []*JobSet, in sizes.Input, notes []string) *View {
	slices.SortFunc(jobSets, func(a, b *JobSet) int { return cmp.Compare(a.Summary.ID, b.Summary.ID) })
	return &View{
		Scope: scope, JobSets: jobSets, Notes: notes,
		Nodes:   nodesOf(jobSets, in.Nodes, in.NodesUnread),
		Elastic: sizes.Of(in).Jobs,
	}
}
