/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
)

// Workers are the workers that must run together now.
type Workers struct {
	Total   int `json:"total"`
	Back    int `json:"back"`
	NotBack int `json:"notBack"`
	// Missing are those that are not back: the rarest state first, in it who is longest in it,
	// then by ReplicatedJob, Job and index.
	Missing []Worker `json:"missing,omitempty"`
	// NotReady are those of a group that runs that are back and do not run, in the same order.
	NotReady []Worker `json:"notReady,omitempty"`
}

// Worker is a worker that is not back, or does not run.
type Worker struct {
	ReplicatedJob string `json:"replicatedJob"`
	JobIndex      int    `json:"jobIndex"`
	Index         int64  `json:"index"`
	// Pod and Node are empty if there is none.
	Pod  string `json:"pod,omitempty"`
	Node string `json:"node,omitempty"`
	// Epoch is what the agent reported; 0 means nothing that is an epoch.
	Epoch int32       `json:"epoch,omitempty"`
	State WorkerState `json:"state"`
	// Since is when that began; nil if nothing tells.
	Since   *metav1.Time `json:"since,omitempty"`
	Message string       `json:"message,omitempty"`
}

// WorkerState is why a worker is not back, or does not run.
type WorkerState string

const (
	// NoPod: the Job controller has not created one.
	NoPod WorkerState = "NoPod"
	// Crowded: several live Pods have the same index.
	Crowded WorkerState = "Crowded"
	// PodFailed: the Pod failed and is not replaced yet.
	PodFailed WorkerState = "Failed"
	// Terminating: the Pod is being deleted.
	Terminating WorkerState = "Terminating"
	// Unscheduled: the Pod has no node.
	Unscheduled WorkerState = "Unscheduled"
	// Restarting: the kubelet restarts all containers of the Pod.
	Restarting WorkerState = "Restarting"
	// Waiting: the kubelet has not come to run the agent, e.g. it pulls an image.
	Waiting WorkerState = "Waiting"
	// NotReported: the Pod runs and its agent has not reported the epoch that is waited for.
	NotReported WorkerState = "NotReported"
	// InvalidEpoch: the annotation of the Pod, or of its Lease, is not an epoch.
	InvalidEpoch WorkerState = "InvalidEpoch"
	// HeldAtBarrier: the worker is ahead of a group that still runs.
	HeldAtBarrier WorkerState = "HeldAtBarrier"

	// Blocked: the worker may run, and a container waits, e.g. for an image.
	Blocked = WorkerState(facts.Blocked)
	// NodeSilent: the worker may run, and its node has stopped reporting.
	NodeSilent = WorkerState(facts.NodeSilent)
	// Starting: the worker may run, and has not started, or is not ready.
	Starting = WorkerState(facts.Starting)
)

// patience is how long after the grace of a Pod its node is given to let it go: a kubelet says so within seconds.
const patience = 30 * time.Second

// workersOf sorts the slots of a group. Failures say why the Job controller could not create a Pod, by the UID of the Job.
func (r *read) workersOf(slots []policy.WorkerSlot) *Workers {
	w := &Workers{Total: len(slots)}
	for i := range slots {
		worker := r.slotWorker(&slots[i])
		if !slots[i].Back {
			w.NotBack++
			w.Missing = append(w.Missing, worker)
			continue
		}
		w.Back++
		if r.epochs.Deprecated < r.epochs.Synced && worker.State != Working {
			w.NotReady = append(w.NotReady, worker)
		}
	}
	inOrder(r.JobSet, w.Missing)
	inOrder(r.JobSet, w.NotReady)
	return w
}

// inOrder puts the rarest state first, since the many wait for the few, and in it who is longest in it.
func inOrder(js *jobset.JobSet, workers []Worker) {
	order, count := map[string]int{}, map[WorkerState]int{}
	for i := range js.Spec.ReplicatedJobs {
		order[js.Spec.ReplicatedJobs[i].Name] = i
	}
	for i := range workers {
		count[workers[i].State]++
	}
	slices.SortFunc(workers, func(a, b Worker) int {
		return cmp.Or(cmp.Compare(count[a.State], count[b.State]), cmp.Compare(a.State, b.State), compareTimes(a.Since, b.Since),
			cmp.Compare(order[a.ReplicatedJob], order[b.ReplicatedJob]), cmp.Compare(a.JobIndex, b.JobIndex), cmp.Compare(a.Index, b.Index))
	})
}

// compareTimes puts a time that is not known last.
func compareTimes(a, b *metav1.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return a.Compare(b.Time)
}

func timeOf(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return ptr.To(metav1.NewTime(t))
}

// workerOf says which worker a slot is.
func workerOf(slot *policy.WorkerSlot) Worker {
	w := Worker{ReplicatedJob: children.OwnValue(slot.Job, jobset.ReplicatedJobNameKey), Index: int64(slot.Index), Epoch: slot.Epoch}
	w.JobIndex, _ = strconv.Atoi(children.OwnValue(slot.Job, jobset.JobIndexKey))
	if slot.Pod != nil {
		w.Pod, w.Node = slot.Pod.Name, slot.Pod.Node
	}
	return w
}

// slotWorker says how the worker of a slot is: why it is not back, or how it is in a group that assembles, or runs.
func (r *read) slotWorker(slot *policy.WorkerSlot) Worker {
	if !slot.Back {
		w := r.missing(slot)
		w.explainAgent(r.JobSet, r.podOf(slot))
		return w
	}
	w := workerOf(slot)
	if r.epochs.Deprecated >= r.epochs.Synced {
		w.State, w.Message = HeldAtBarrier, "restarted, waits for the others to restart"
		return w
	}
	readiness, since := policy.UnreadySince(r.JobSet, slot.Pod)
	if w.State = Working; readiness != facts.Ready {
		w.State, w.Message, w.Since = WorkerState(readiness), whyUnready(slot.Pod, r.podOf(slot)), timeOf(since)
	}
	return w
}

func (r *read) missing(slot *policy.WorkerSlot) Worker {
	w := workerOf(slot)
	if slot.Pod == nil {
		w.State, w.Message = NoPod, r.noPod(slot)
		return w
	}
	w.Since = sinceOf(r.podOf(slot))
	w.State, w.Message = r.whyMissing(slot)
	return w
}

// sinceOf is since when a Pod is as it is: terminating, not ready, without a node; else nil.
func sinceOf(pod *corev1.Pod) *metav1.Time {
	if end := pod.DeletionTimestamp; end != nil {
		return timeOf(end.Add(-time.Duration(ptr.Deref(pod.DeletionGracePeriodSeconds, 0)) * time.Second))
	}
	for _, conditionType := range []corev1.PodConditionType{corev1.PodReady, corev1.PodScheduled} {
		for _, c := range pod.Status.Conditions {
			if c.Type == conditionType && c.Status == corev1.ConditionFalse {
				return timeOf(c.LastTransitionTime.Time)
			}
		}
	}
	if pod.Status.Phase == corev1.PodPending {
		return timeOf(pod.CreationTimestamp.Time)
	}
	return nil
}
