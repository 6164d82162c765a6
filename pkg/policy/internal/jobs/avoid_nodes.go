/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobs

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// A node on which restarts of a JobSet keep beginning is avoided by this JobSet (P93):
//
//	failure    the node of the first cause is counted, in the same write as the restart
//	           at the count: avoidedSince
//	then       Pods that are created from now on cannot be scheduled to the node: the Pod webhook adds that
//	in place   Pods that run on it are deleted while the group assembles; the others stay
//	else       all Pods are new ones anyway
//
// Only a failure makes Pods leave: a healthy run is never disturbed. What the node did to other JobSets
// does not count, since an author could make others leave a node, or be made to. Where a queue places Pods it is only counted (P90a).

const (
	// mostNodeFailures nodes are remembered. The status of the JobSet is sent to every agent.
	mostNodeFailures = 16
	// longestNodeCause is how much of the cause of a failure is kept.
	longestNodeCause = 200
)

// AsksToAvoid returns what the JobSet asks for, nil if it avoids no nodes.
func AsksToAvoid(v *view.View) *jobset.AvoidNodes {
	if !v.Tolerant {
		return nil
	}
	return v.JobSet.Spec.FaultTolerance.AvoidNodes
}

// NodeFailuresOf returns what the status knows of the failures on nodes.
func NodeFailuresOf(js *jobset.JobSet) []jobset.NodeFailures {
	if known := js.Status.FaultTolerance; known != nil {
		return known.NodeFailures
	}
	return nil
}

// IsAvoided reports whether new Pods avoid a node now.
func IsAvoided(n *jobset.NodeFailures, within time.Duration, now time.Time) bool {
	return n.AvoidedSince != nil && now.Before(n.AvoidedSince.Add(within))
}

// AvoidedNodes returns the names of the nodes that new Pods of a JobSet avoid.
func AvoidedNodes(js *jobset.JobSet, g gates.Set, now time.Time) []string {
	if !pass.Tolerates(js, g) || js.Spec.FaultTolerance.AvoidNodes == nil || placement.HasPodsPlacedByQueue(js) {
		return nil
	}
	_, within := tolerance.Avoidance(js.Spec.FaultTolerance.AvoidNodes)
	var names []string
	for _, n := range NodeFailuresOf(js) {
		if IsAvoided(&n, within, now) {
			names = append(names, n.Node)
		}
	}
	slices.Sort(names)
	return names
}

// blamesNode reports whether a failure counts against the node of its Pod. Who deletes, preempts or evicts a
// Pod through the API has reasons of his own. And of workers that wait for each other any may be the first that gives no sign.
func blamesNode(f *pass.Failure) bool {
	if f == nil || f.Node == "" || f.Hang.Hung() {
		return false
	}
	return !f.Deleted || slices.Contains([]string{deletedByTaint, corev1.PodReasonTerminationByKubelet, deletedByGC}, f.Reason)
}

// Reasons of the condition DisruptionTarget, which k8s.io/api does not name.
const (
	deletedByTaint = "DeletionByTaintManager"
	deletedByGC    = "DeletionByPodGC"
)

// NodeCharge is what counting a failure adds to a restart.
type NodeCharge struct {
	pass.Result
	// Slow is why the Pods on the node are not replaced one by one, "" if they are, or if the node is not avoided.
	Slow string
}

// CountFailure counts the first cause of a restart against its node.
func CountFailure(v *view.View, f *pass.Failure) NodeCharge {
	asked := AsksToAvoid(v)
	if asked == nil || !blamesNode(f) {
		return NodeCharge{}
	}
	failures, within := tolerance.Avoidance(asked)
	n := jobset.NodeFailures{Node: f.Node}
	others := make([]jobset.NodeFailures, 0, mostNodeFailures)
	for _, known := range NodeFailuresOf(v.JobSet) {
		if known.Node == f.Node {
			n = *known.DeepCopy()
		} else {
			others = append(others, known)
		}
	}
	if len(others) >= mostNodeFailures {
		others = withoutOldest(others, len(others)-mostNodeFailures+1)
	}
	n.Times = append(slices.DeleteFunc(n.Times, func(t metav1.Time) bool { return !v.Now.Before(t.Add(within)) }), metav1.NewTime(v.Now))
	n.Times = n.Times[max(0, len(n.Times)-failures):]
	n.Cause = pass.Shortened(f.String(), longestNodeCause)
	var c NodeCharge
	if calm := n.GivenUpTime == nil || !v.Now.Before(n.GivenUpTime.Add(within)); len(n.Times) >= failures && calm && !placement.HasPodsPlacedByQueue(v.JobSet) {
		n.AvoidedSince, n.GivenUpTime = ptr.To(metav1.NewTime(v.Now)), nil
		c.Slow, c.Reports.Outcomes = slowToReplace(v, f.Node), []pass.Outcome{pass.AvoidsNode}
		c.Notices = []pass.Notice{pass.Warning(constants.NodeAvoidedReason, fmt.Sprintf(
			"%d restarts within %s began on node %s: new Pods of this JobSet avoid it for %s. The last cause: %s", len(n.Times), within, f.Node, within, n.Cause))}
	}
	c.NodeFailures = &pass.NodeFailures{List: append(others, n)}
	return c
}

// withoutOldest drops the nodes whose last failures are longest ago.
func withoutOldest(list []jobset.NodeFailures, drop int) []jobset.NodeFailures {
	last := func(n *jobset.NodeFailures) time.Time {
		if len(n.Times) == 0 {
			return time.Time{}
		}
		return n.Times[len(n.Times)-1].Time
	}
	slices.SortStableFunc(list, func(a, b jobset.NodeFailures) int { return last(&a).Compare(last(&b)) })
	return list[drop:]
}

// slowToReplace says why deleting the Pods of the group on a node would take longer than to recreate all Jobs (P92).
func slowToReplace(v *view.View, node string) string {
	if !v.Watched {
		return ""
	}
	for _, job := range v.Observed.Active {
		var leave []*facts.Member
		for _, pod := range v.Pods[job.UID] {
			if pod.Node == node && pod.Live() {
				leave = append(leave, pod)
			}
		}
		if wait := view.ReplacedAfter(job, leave); len(leave) > 0 && wait > view.LongestReplacement {
			return fmt.Sprintf("node %s is to be avoided, and the Job controller would wait %s before it replaces Pods of Job %s", node, wait, job.Name)
		}
	}
	return ""
}

// failureOfJob returns the failure of the Pod by which a Job failed, nil if its Pods do not show it: the first that failed,
// or the last if the Job has tried again before.
func failureOfJob(v *view.View, job *batchv1.Job) *pass.Failure {
	var found *pass.Failure
	var at time.Time
	retries := ptr.Deref(job.Spec.BackoffLimit, 6) > 0
	for _, pod := range view.SortByName(slices.Clone(v.Pods[job.UID])) {
		if pod.Phase != corev1.PodFailed || pod.Terminating() {
			continue // who is deleted because the Job failed is not why it failed
		}
		failure, failed := pass.FailureOf(pod)
		if failed && (found == nil || retries == pod.End.At.After(at) && !pod.End.At.Equal(at)) {
			found, at = &failure, pod.End.At
		}
	}
	return found
}
