/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"cmp"
	"maps"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// The agent of a large group reports in a Lease of its own instead of its Pod, since the same patch of a Lease costs an
// API server a fraction (P151). A report is a report wherever it stands (P152):
//
//	Pod    epoch 2                     Lease  epoch 3, exit of epoch 2    together  epoch 3, exit of epoch 2
//	Pod    epoch 3, exit: done         Lease  epoch 3, exit of epoch 2    together  epoch 3, exit: done
//	Pod    epoch 9, status restored    Lease  epoch 3, S = 2              together  epoch 3
//
// So decisions know one Pod with one report, and not where that stands.

// Lease is what is read of a Lease by which an agent reports, in the form of its annotations.
type Lease struct {
	Epoch, WorkerExit, Progress, Address string
	// Present: it has an epoch at all.
	Present bool
}

// OfLease returns the facts of a Lease.
func OfLease(lease *coordinationv1.Lease) Lease {
	text, present := lease.Annotations[jobset.EpochKey]
	return Lease{
		Epoch: text, Present: present,
		WorkerExit: lease.Annotations[jobset.WorkerExitKey], Progress: lease.Annotations[jobset.ProgressKey], Address: lease.Annotations[jobset.AddressKey],
	}
}

// StripLease returns a Lease with the facts of another, and what it is found by.
func StripLease(lease *coordinationv1.Lease) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: lease.Name, Namespace: lease.Namespace, UID: lease.UID, ResourceVersion: lease.ResourceVersion,
		OwnerReferences: lease.OwnerReferences,
		Labels:          Pick(lease.Labels, jobset.JobSetUIDKey),
		Annotations:     Pick(lease.Annotations, jobset.EpochKey, jobset.WorkerExitKey, jobset.ProgressKey, jobset.AddressKey),
	}}
}

// ReporterOf returns the UID of the Pod whose agent reports in a Lease, "" if it is not such a Lease: one with another
// name or with another owner beside the Pod counts for nothing.
func ReporterOf(lease *coordinationv1.Lease) types.UID {
	if len(lease.OwnerReferences) != 1 {
		return ""
	}
	owner := &lease.OwnerReferences[0]
	if owner.APIVersion != corev1.SchemeGroupVersion.String() || owner.Kind != "Pod" || lease.Name != LeaseName(owner.Name) {
		return ""
	}
	return owner.UID
}

// LeaseName returns the name of the Lease in which the agent of a Pod reports.
func LeaseName(pod string) string { return protocol.LeasePrefix + pod }

// Leases returns a cached Lease by its namespace and name with a slash between, nil if there is none. A nil one has none.
type Leases func(key string) *coordinationv1.Lease

// InList returns Leases that were listed.
func InList(leases []coordinationv1.Lease) Leases {
	byKey := make(map[string]*coordinationv1.Lease, len(leases))
	for i := range leases {
		byKey[leases[i].Namespace+"/"+leases[i].Name] = &leases[i]
	}
	return func(key string) *coordinationv1.Lease { return byKey[key] }
}

// Of returns the Lease of a Pod, nil if it has none.
func (l Leases) Of(pod *corev1.Pod) *coordinationv1.Lease {
	if l == nil {
		return nil
	}
	lease := l(pod.Namespace + "/" + protocol.LeasePrefix + pod.Name)
	if lease == nil || ReporterOf(lease) != pod.UID {
		return nil
	}
	return lease
}

// Place says where the epoch of a Pod was read that reports with its Lease.
func (l Leases) Place(pod *corev1.Pod, epoch string) string {
	if lease := l.Of(pod); lease != nil && lease.Annotations[jobset.EpochKey] == epoch {
		return "Lease " + lease.Name
	}
	return "Pod " + pod.Name
}

// Outside reports whether a Pod itself tells a later epoch that counts than its Lease, nil if it has none: so does an agent whose
// Lease was refused. That the two caches lag against each other can look the same.
func Outside(pod *corev1.Pod, lease *coordinationv1.Lease, synced int32) bool {
	text, inPod := pod.Annotations[jobset.EpochKey]
	if !inPod {
		return false
	}
	ofLease := int32(0)
	if lease != nil {
		says := OfLease(lease)
		ofLease = countedEpoch(says.Epoch, says.Present, synced)
	}
	return countedEpoch(text, true, synced) > ofLease
}

// Reporting returns a Pod with what it and its Lease report together, see WithLease.
func (l Leases) Reporting(pod *corev1.Pod, synced int32) *corev1.Pod {
	if lease := l.Of(pod); lease != nil {
		return WithLease(pod, OfLease(lease), synced)
	}
	return pod
}

// WithLease returns a Pod that reports what the Pod and its Lease report together, the Pod itself if that is what it reports
// anyway. The Lease is that of the Pod, by UID. Neither is changed.
//
// Each is read by itself first (P12): after the status was restored an old report may be above S+1, and must not hide a right one.
// What is then known of the epoch is a lower bound, since each cache may lag: what is seen of either has been reported.
func WithLease(pod *corev1.Pod, lease Lease, synced int32) *corev1.Pod {
	merged := map[string]string{}
	if epoch, reported := laterEpoch(pod, lease, synced); reported {
		merged[jobset.EpochKey] = epoch
	}
	if exit := laterExit(pod.Annotations[jobset.WorkerExitKey], lease.WorkerExit, synced); exit != "" {
		merged[jobset.WorkerExitKey] = exit
	}
	if progress := laterProgress(pod.Annotations[jobset.ProgressKey], lease.Progress); progress != "" {
		merged[jobset.ProgressKey] = progress
	}
	if lease.Address != "" && merged[jobset.EpochKey] == lease.Epoch {
		merged[jobset.AddressKey] = lease.Address
	}
	same := true
	for key, value := range merged {
		is, ok := pod.Annotations[key]
		same = same && ok && is == value
	}
	if same {
		return pod
	}
	reporting := *pod
	reporting.Annotations = make(map[string]string, len(pod.Annotations)+len(merged))
	maps.Copy(reporting.Annotations, pod.Annotations)
	maps.Copy(reporting.Annotations, merged)
	return &reporting
}

// laterEpoch returns the epoch that counts. If neither does, it is that of the Pod, or what the Lease has instead of one, so that it is told.
func laterEpoch(pod *corev1.Pod, lease Lease, synced int32) (epoch string, reported bool) {
	text, inPod := pod.Annotations[jobset.EpochKey]
	ofPod, ofLease := countedEpoch(text, inPod, synced), countedEpoch(lease.Epoch, lease.Present, synced)
	if ofLease > ofPod || ofPod == 0 && !inPod {
		return lease.Epoch, lease.Present
	}
	return text, inPod
}

// countedEpoch returns 0 if an epoch counts as not reported (P12).
func countedEpoch(text string, present bool, synced int32) int32 {
	if !present {
		return 0
	}
	epoch := reportedIn(text).Epoch
	if int64(epoch) > int64(synced)+1 {
		return 0
	}
	return epoch
}

// laterExit returns the exit that counts: that of the greater epoch; of one epoch, that of a worker that is done, and else
// the one that ended later. What cannot be read, or is of an epoch that has not begun, counts only if nothing else does.
func laterExit(ofPod, ofLease string, synced int32) string {
	if ofPod == ofLease || ofLease == "" {
		return ofPod
	}
	lease, err := protocol.ParseWorkerExit(ofLease)
	if err != nil || int64(lease.Epoch) > int64(synced)+1 {
		return ofPod
	}
	pod, err := protocol.ParseWorkerExit(ofPod)
	switch {
	case err != nil || int64(pod.Epoch) > int64(synced)+1:
		return ofLease
	case pod.Epoch != lease.Epoch:
		if lease.Epoch > pod.Epoch {
			return ofLease
		}
	case pod.Done != lease.Done:
		if lease.Done {
			return ofLease
		}
	case lease.Time.After(pod.Time):
		return ofLease
	}
	return ofPod
}

// laterProgress returns the progress of the greater epoch; of one epoch, that with the higher last step (P137). It decides nothing.
func laterProgress(ofPod, ofLease string) string {
	lease, err := protocol.ParseProgressReport(ofLease)
	if err != nil {
		return ofPod
	}
	pod, err := protocol.ParseProgressReport(ofPod)
	if err != nil || cmp.Or(cmp.Compare(lease.Epoch, pod.Epoch), cmp.Compare(lastStep(lease), lastStep(pod))) >= 0 {
		return ofLease
	}
	return ofPod
}

func lastStep(r protocol.ProgressReport) int64 {
	if r.Steps == nil {
		return 0
	}
	return r.Steps.Last
}
