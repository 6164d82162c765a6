/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package facts

import (
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// The agent of a large group reports in a Lease of its own instead of its Pod, since the same patch of a Lease costs an
// API server a fraction (P151). A report counts wherever it is stored (P152):
//
//	Pod    epoch 2                     Lease  epoch 3, exit of epoch 2    together  epoch 3, exit of epoch 2
//	Pod    epoch 3, exit: done         Lease  epoch 3, exit of epoch 2    together  epoch 3, exit: done
//	Pod    epoch 9, status restored    Lease  epoch 3, S = 2              together  epoch 3
//
// So decisions know one worker with one report, and not where that is stored.

// Lease is what is read of a Lease in which an agent reports. A cache keeps it in place of the Lease.
type Lease struct {
	metav1.ObjectMeta
	Report
	// Of is the UID of the Pod whose agent reports in it, "" if it is not such a Lease.
	Of types.UID
}

// OfLease returns the facts of a Lease.
func OfLease(lease *coordinationv1.Lease) *Lease {
	return &Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: lease.Name, Namespace: lease.Namespace, UID: lease.UID, ResourceVersion: lease.ResourceVersion,
			Labels: Pick(lease.Labels, jobset.JobSetUIDKey),
		},
		Report: reportIn(lease.Annotations), Of: reporterOf(lease),
	}
}

// GetObjectKind and DeepCopyObject make it an object that a cache can hold.
func (l *Lease) GetObjectKind() schema.ObjectKind {
	return &metav1.TypeMeta{APIVersion: coordinationv1.SchemeGroupVersion.String(), Kind: "Lease"}
}

// DeepCopyObject copies what may be set; the rest is shared and never changes.
func (l *Lease) DeepCopyObject() runtime.Object {
	other := *l
	return &other
}

// reporterOf ignores a Lease with another name, or with another owner beside the Pod.
func reporterOf(lease *coordinationv1.Lease) types.UID {
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

// Leases returns a Lease by its namespace and name with a slash between, nil if there is none. A nil one has none.
type Leases func(key string) *Lease

// InList returns Leases that were listed.
func InList(leases []coordinationv1.Lease) Leases {
	byKey := make(map[string]*Lease, len(leases))
	for i := range leases {
		byKey[leases[i].Namespace+"/"+leases[i].Name] = OfLease(&leases[i])
	}
	return func(key string) *Lease { return byKey[key] }
}

// Of returns the Lease of a Pod, nil if it has none.
func (l Leases) Of(m *Member) *Lease {
	if l == nil {
		return nil
	}
	lease := l(m.Namespace + "/" + protocol.LeasePrefix + m.Name)
	if lease == nil || lease.Of != m.UID {
		return nil
	}
	return lease
}

// Join returns a Pod with what it and its Lease report together, the Pod itself if it has no Lease. Neither is changed.
//
// Each is read by itself first (P12): after the status was restored an old report may be above S+1, and must not hide a right one.
// What is then known of the epoch is a lower bound, since each cache may lag: what is seen of either has been reported.
func Join(m *Member, lease *Lease, synced int32) *Member {
	if lease == nil {
		return m
	}
	joined := *m
	joined.join(lease, synced)
	return &joined
}

// join is Join in place.
func (m *Member) join(lease *Lease, synced int32) {
	m.Leased = lease.Reported.Counted(synced)
	ofPod := m.Reported.Counted(synced)
	if m.Leased > ofPod || ofPod == 0 && m.Reported == (Reported{}) {
		m.Reported, m.FromLease = lease.Reported, true
	}
	m.Exit = laterExit(m.Exit, lease.Exit, synced)
	m.Progress = laterProgress(m.Progress, lease.Progress)
	if lease.Address != "" && m.Reported == lease.Reported {
		m.Address = lease.Address
	}
}

// JoinAll returns the Pods of a Job, each with what its Lease reports. A pass joins thousands, so they are copied into one piece of memory.
func (l Leases) JoinAll(members []*Member, synced int32) []*Member {
	joined := members
	var copies []Member
	for i, m := range members {
		lease := l.Of(m)
		if lease == nil {
			continue
		}
		if copies == nil {
			joined, copies = slices.Clone(members), make([]Member, 0, len(members)-i)
		}
		copies = append(copies, *m)
		joined[i] = &copies[len(copies)-1]
		joined[i].join(lease, synced)
	}
	return joined
}

// ReportsIn says where the epoch of a Pod was read.
func (m *Member) ReportsIn() string {
	if m.FromLease {
		return "Lease " + LeaseName(m.Name)
	}
	return "Pod " + m.Name
}

// Outside reports whether a Pod itself reports a later epoch that counts than its Lease, if it has one: so does an agent whose Lease was
// refused. That the two caches lag against each other can look the same.
func (m *Member) Outside(synced int32) bool { return m.Reported.Counted(synced) > m.Leased }
