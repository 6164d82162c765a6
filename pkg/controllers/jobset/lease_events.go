/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"cmp"
	"context"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/source"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// In large groups agents report in Leases (P152). Whatever reads a Pod of a group reads it with its Lease, so that decisions need not
// know. A Pod read past the cache has the Lease of the cache: an older report delays a lift, and there is no newer one to fear.

// mergedReports are Pods with what they and their Leases report. A pass over thousands of Pods comes up to 20 times a second, and most have
// not changed since the last one.
type mergedReports map[types.UID]struct {
	pod, reporting *corev1.Pod
	lease          *coordinationv1.Lease
	synced         int32
}

// of returns a Pod with what it and its Lease report. Objects of the cache do not change: others take their place.
func (m mergedReports) of(pod *corev1.Pod, lease *coordinationv1.Lease, synced int32) *corev1.Pod {
	last := m[pod.UID]
	if last.pod != pod || last.lease != lease || last.synced != synced {
		last.pod, last.lease, last.synced = pod, lease, synced
		last.reporting = facts.WithLease(pod, facts.OfLease(lease), synced)
		m[pod.UID] = last
	}
	return last.reporting
}

// withReports puts what Leases report into the Pods of a group. Those of the cache stay as they are. It returns the Pods that report
// outside of their Leases.
func (r *JobSetReconciler) withReports(js *jobset.JobSet, pods map[types.UID][]*corev1.Pod) (outside map[types.UID]bool) {
	if r.reporting == nil || !workerpod.WantsInPlace(js) {
		return nil
	}
	outside = map[types.UID]bool{}
	synced, remembered, inLeases := ptr.Deref(js.Status.SyncedEpoch, 0), r.memory.forJobSet(js), 0
	if remembered.reports == nil {
		remembered.reports = mergedReports{}
	}
	for _, ofJob := range pods {
		for i, pod := range ofJob {
			lease := r.reporting.Of(pod)
			if facts.Outside(pod, lease, synced) {
				outside[pod.UID] = true
			}
			if lease != nil {
				ofJob[i] = remembered.reports.of(pod, lease, synced)
				inLeases++
			}
		}
	}
	if len(remembered.reports) > 2*inLeases { // most are of Pods that are gone
		remembered.reports = nil
	}
	return outside
}

// injectionNow is the agent of workers that bring none. Agents report in no Lease as long as none can be read, or none
// is, because their policy is missing (P153b). A manager that grants their rights takes these back meanwhile, which they notice at once.
func (r *JobSetReconciler) injectionNow() workerpod.Injection {
	with := r.injection
	if r.leases == nil || !r.leases.Seen() {
		with.LeaseReportsFrom = 0
	}
	gap, _ := r.leasePolicy.Gap()
	with.LeasesUnread = gap != "" && !r.grants
	return with
}

// watchLeases reconciles a JobSet when what a Lease reports changes. The controller does not wait for the watch: that would keep a
// manager that may not list Leases from all its work.
func (r *JobSetReconciler) watchLeases(b *builder.Builder, pods *podEvents) *builder.Builder {
	if r.leases == nil {
		return b
	}
	return b.WatchesRawSource(source.Func(func(ctx context.Context, q queue) error {
		r.leases.OnChange(func(before, after *coordinationv1.Lease) { pods.leaseChanged(ctx, before, after, q) })
		return nil
	}))
}

// leaseChanged enqueues the JobSet of the Pod that reports in a Lease if the Pod then reports something else that decisions read. If
// the Pod is not in the cache yet, its own event is still to come.
func (e *podEvents) leaseChanged(ctx context.Context, before, after *coordinationv1.Lease, q queue) {
	lease := cmp.Or(after, before)
	name, ok := strings.CutPrefix(lease.Name, protocol.LeasePrefix)
	if !ok {
		return
	}
	pod := &corev1.Pod{}
	key := types.NamespacedName{Namespace: lease.Namespace, Name: name}
	if err := e.reader.Get(ctx, key, pod, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	js := e.jobSetOf(ctx, pod)
	if js == nil || !e.inPlace(js) {
		return
	}
	synced := ptr.Deref(js.Status.SyncedEpoch, 0)
	reporting := func(lease *coordinationv1.Lease) *corev1.Pod {
		return facts.Leases(func(string) *coordinationv1.Lease { return lease }).Reporting(pod, synced)
	}
	was, is := reporting(before), reporting(after)
	e.observe(ctx, js, was, is)
	if matters(was, is) {
		wakeJobSet(js, q)
	}
}
