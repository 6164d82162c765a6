/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"fmt"
	"maps"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
)

// readReports reads the Leases of Pods that seem to be late past the cache, and returns the input with what they report (P24c). A
// Pod without a Lease has reported nothing there, and in one that this manager may not read nothing is seen anyway.
func (r *JobSetReconciler) readReports(ctx context.Context, in policy.Input, late []*facts.Member) (policy.Input, error) {
	var found []coordinationv1.Lease
	read := make(map[types.UID]bool, len(late))
	for _, pod := range late {
		leases, err := r.leaseNamed(ctx, pod.Namespace, facts.LeaseName(pod.Name))
		if err != nil && !apierrors.IsForbidden(err) {
			return in, fmt.Errorf("reading whether Pod %s, which seems to be late, has reported in its Lease: %w", klog.KObj(pod), err)
		}
		found, read[pod.UID] = append(found, leases...), true
	}
	live, synced := facts.InList(found), ptr.Deref(in.JobSet.Status.SyncedEpoch, 0)
	in.Pods, in.ReportsRead = maps.Clone(in.Pods), read
	for job, pods := range in.Pods {
		in.Pods[job] = slices.Clone(pods)
		for i, pod := range in.Pods[job] {
			if read[pod.UID] {
				in.Pods[job][i] = facts.Join(pod, live.Of(pod), synced)
			}
		}
	}
	return in, nil
}

// leaseNamed returns the Lease of a name, none if there is none, past the cache. This manager may list Leases and not get them; the
// API server reads one key for such a list.
func (r *JobSetReconciler) leaseNamed(ctx context.Context, namespace, name string) ([]coordinationv1.Lease, error) {
	list := &coordinationv1.LeaseList{}
	err := r.live.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{metav1.ObjectNameField: name})
	return list.Items, err
}

// readsLeases reports whether agents may report in Leases, and nobody else in theirs (P153b).
func (r *JobSetReconciler) readsLeases() bool {
	gap, known := r.leasePolicy.Gap()
	return r.reporting != nil && known && gap == ""
}
