/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package sizes tells how large elastic jobs are: who has least of what it wants, who waits, and
// which accelerators are free. Values in, values out.
//
//	JobSets, nodes, Pods, now  -> Of   -> Report
//	Report                     -> Text -> what a terminal shows
//
// It makes no plan: how the manager plans depends on its configuration, which users cannot read. What the
// manager decided is in the status.
package sizes

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/restarts"
)

// Input is what was read.
type Input struct {
	JobSets []jobset.JobSet
	Nodes   []corev1.Node
	// Pods are those that have a node, of the whole cluster.
	Pods []corev1.Pod
	// NodesUnread and PodsUnread say why they were not read; nil if they were.
	NodesUnread, PodsUnread error
	// Accelerators are the resources to count.
	Accelerators []corev1.ResourceName
	Now          time.Time
}

// Report is what there is to tell about elastic jobs.
type Report struct {
	// Time is when the report was made; all that says "ago" counts from it.
	Time metav1.Time `json:"time"`
	// Accelerators is empty if nodes or Pods could not be read.
	Accelerators []Accelerator `json:"accelerators,omitempty"`
	// Jobs are the elastic ReplicatedJobs, the one that has least of what it wants first.
	Jobs  []Job          `json:"jobs"`
	Notes restarts.Notes `json:"notes,omitempty"`
}

// Accelerator counts one resource on the nodes that are ready and not cordoned. The three add up to the
// total, unless more is requested than there is.
type Accelerator struct {
	Resource corev1.ResourceName `json:"resource"`
	Total    int64               `json:"total"`
	Free     int64               `json:"free"`
	// Elastic are those of the jobs of the report, Others those of all other Pods.
	Elastic int64 `json:"elastic"`
	Others  int64 `json:"others"`
}

// Job is an elastic ReplicatedJob of a JobSet that has not ended.
type Job struct {
	Namespace     string `json:"namespace"`
	JobSet        string `json:"jobSet"`
	ReplicatedJob string `json:"replicatedJob"`
	// Score is (current - min) / (max - min), and 1 if the two are equal. Below 0 it lacks some of its minimum.
	Score float64 `json:"score"`
	// Current is the number of instances that it runs with, 0 before it has run. Desired is the one that it is to have.
	Current int32 `json:"current"`
	Desired int32 `json:"desired"`
	Min     int32 `json:"min"`
	Max     int32 `json:"max"`
	// Each is how many of each accelerator one instance requests.
	Each  map[corev1.ResourceName]int64 `json:"each,omitempty"`
	State State                         `json:"state"`
	// Because is what the manager said last about the size, and Since when; empty if nothing tells.
	Because string       `json:"because,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
	// Limit is what keeps it from one more Pod; nil if it is to have its maximum.
	Limit *Limit `json:"limit,omitempty"`
}

// Of makes the report.
func Of(in Input) Report {
	r := Report{Time: metav1.NewTime(in.Now), Jobs: []Job{}}
	listed := map[string]bool{}
	for i := range in.JobSets {
		js := &in.JobSets[i]
		if js.DeletionTimestamp != nil || js.Status.TerminalState != "" {
			continue
		}
		for k := range js.Spec.ReplicatedJobs {
			rjob := &js.Spec.ReplicatedJobs[k]
			if rjob.Elastic == nil {
				continue
			}
			listed[ownerKey(string(js.UID), rjob.Name)] = true
			r.Jobs = append(r.Jobs, jobOf(js, rjob, in.Accelerators))
		}
	}
	slices.SortStableFunc(r.Jobs, func(a, b Job) int {
		return cmp.Or(cmp.Compare(a.Score, b.Score), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.JobSet, b.JobSet),
			strings.Compare(a.ReplicatedJob, b.ReplicatedJob))
	})
	r.addAccelerators(&in, listed)
	return r
}

func ownerKey(uid, replicatedJob string) string { return uid + "/" + replicatedJob }

func jobOf(js *jobset.JobSet, rjob *jobset.ReplicatedJob, accelerators []corev1.ResourceName) Job {
	current, desired := sizeOf(js, rjob)
	job := Job{
		Namespace: js.Namespace, JobSet: js.Name, ReplicatedJob: rjob.Name,
		Current: current, Desired: desired, Min: rjob.Elastic.MinInstances, Max: rjob.Elastic.MaxInstances,
		Score: elastic.Score(current, rjob.Elastic.MinInstances, rjob.Elastic.MaxInstances),
	}
	requests := elastic.Requests(&rjob.Template.Spec.Template.Spec)
	for _, name := range accelerators {
		if requests[name] > 0 {
			if job.Each == nil {
				job.Each = map[corev1.ResourceName]int64{}
			}
			job.Each[name] = requests[name]
		}
	}
	job.Limit = limitOf(js, rjob, desired)
	job.State, job.Because, job.Since = stateOf(js, job.Limit, current, desired)
	return job
}

// addAccelerators counts what the usable nodes have, and who requests it.
func (r *Report) addAccelerators(in *Input, listed map[string]bool) {
	for _, unread := range []struct {
		kind string
		why  error
	}{{"nodes", in.NodesUnread}, {"Pods of all namespaces", in.PodsUnread}} {
		if unread.why != nil {
			r.Notes.Add("%s could not be read, so it is unknown which accelerators are free: %v", unread.kind, unread.why)
		}
	}
	if in.NodesUnread != nil || in.PodsUnread != nil {
		return
	}
	for _, name := range in.Accelerators {
		r.Accelerators = append(r.Accelerators, countOn(in, name, listed))
	}
}

func countOn(in *Input, name corev1.ResourceName, listed map[string]bool) Accelerator {
	count := Accelerator{Resource: name}
	left := map[string]int64{}
	for i := range in.Nodes {
		if node := &in.Nodes[i]; usable(node) {
			of := elastic.Of(node.Status.Allocatable)[name]
			left[node.Name] = of
			count.Total += of
		}
	}
	for i := range in.Pods {
		pod := &in.Pods[i]
		_, counts := left[pod.Spec.NodeName]
		if !counts || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		requested := elastic.Requests(&pod.Spec)[name]
		left[pod.Spec.NodeName] -= requested
		if listed[ownerKey(pod.Labels[jobset.JobSetUIDKey], pod.Labels[jobset.ReplicatedJobNameKey])] {
			count.Elastic += requested
		} else {
			count.Others += requested
		}
	}
	for _, of := range left {
		count.Free += max(0, of)
	}
	return count
}

// usable reports whether the planner counts a node: it is ready and not cordoned.
func usable(node *corev1.Node) bool {
	return !node.Spec.Unschedulable && facts.OfNode(node).Ready
}
