/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"cmp"
	"context"
	"strings"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// In large groups agents report in Leases (P152). A pass joins each Pod with the report in its Lease once, so that decisions need not
// know. A Pod read past the cache has the Lease of the cache: an older report delays a lift, and there is no newer one to fear.

// joinReports puts what Leases report into the Pods of a group.
func (r *JobSetReconciler) joinReports(in *policy.Input) {
	if in.LeasesSeen = r.reporting != nil && workerpod.WantsInPlace(in.JobSet); !in.LeasesSeen {
		return
	}
	for job, pods := range in.Pods {
		in.Pods[job] = r.reporting.JoinAll(pods, ptr.Deref(in.JobSet.Status.SyncedEpoch, 0))
	}
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
		r.leases.OnChange(func(before, after *facts.Lease) { pods.leaseChanged(ctx, before, after, q) })
		return nil
	}))
}

// leaseChanged enqueues the JobSet of the Pod that reports in a Lease if the Pod then reports something else that decisions read. If
// the Pod is not in the cache yet, its own event is still to come.
func (e *podEvents) leaseChanged(ctx context.Context, before, after *facts.Lease, q queue) {
	lease := cmp.Or(after, before)
	name, ok := strings.CutPrefix(lease.Name, protocol.LeasePrefix)
	if !ok {
		return
	}
	pod := e.pods.Named(lease.Namespace, name)
	if pod == nil {
		return
	}
	js := e.jobSetOf(ctx, pod)
	if js == nil || !e.inPlace(js) {
		return
	}
	synced := ptr.Deref(js.Status.SyncedEpoch, 0)
	joined := func(lease *facts.Lease) *facts.Member {
		return facts.Join(pod, facts.Leases(func(string) *facts.Lease { return lease }).Of(pod), synced)
	}
	was, is := joined(before), joined(after)
	e.observe(ctx, js, was, is)
	if matters(was, is) {
		wakeJobSet(js, q)
	}
}
