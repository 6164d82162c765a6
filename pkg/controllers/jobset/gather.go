/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// gather reads from the cache everything that a decision may use.
func (r *JobSetReconciler) gather(ctx context.Context, js *jobset.JobSet) (policy.Input, error) {
	owned, err := r.jobs.ControlledBy(js.Namespace, js.UID)
	if err != nil {
		return policy.Input{}, err
	}
	now, leading, jumped := r.memory.look(r.clock)
	remembered, epoch := r.memory.forJobSet(js), ptr.Deref(js.Status.SyncedEpoch, 0)
	remembered.pace.jobs.Store(int64(len(owned)))
	in := policy.Input{
		JobSet:       js,
		Jobs:         owned,
		Gates:        r.gates,
		Now:          now,
		Injection:    r.injectionNow(),
		Progress:     r.progress,
		Tolerance:    r.tolerance,
		FirstFailure: remembered.firstFailure.in(epoch),
		HeldSince:    remembered.heldSince,
		Verdict:      r.verdicts.Verdict(client.ObjectKeyFromObject(js)),
		Clock:        remembered.clockAt(js.Status.AssemblingSince, now, leading, jumped),
	}
	if children.NeedsService(js) {
		if in.ServiceExists, err = r.serviceExists(ctx, js); err != nil {
			return policy.Input{}, err
		}
	}
	if in.Claims, err = r.claimsOf(ctx, js); err != nil {
		return policy.Input{}, err
	}
	if in.SickNodes, err = r.sickNodes(js); err != nil {
		return policy.Input{}, err
	}
	inPlace := workerpod.RestartsInPlace(js, r.gates)
	switch {
	case policy.Tolerates(js, r.gates):
		in.Pods, in.Strays, err = r.podsAndStrays(ctx, js, owned)
	case inPlace:
		in.Pods, err = r.podsOf(owned)
	}
	if err != nil {
		return policy.Input{}, err
	}
	if inPlace {
		in.OutsideLeases, in.InLeases = r.withReports(js, in.Pods), r.reporting != nil
		if in.NotReady, err = r.notReadyUnder(ctx, js, in.Pods, in.Now); err != nil {
			return policy.Input{}, err
		}
		if r.reviewAccess {
			in.Access = remembered.access
		}
		gap, known := r.agentPolicy.Gap()
		in.PolicyGap = gap
		if in.Grant, err = r.grantOf(ctx, js, known); err != nil {
			return policy.Input{}, err
		}
	}
	return in, nil
}

func (r *JobSetReconciler) serviceExists(ctx context.Context, js *jobset.JobSet) (bool, error) {
	key := types.NamespacedName{Namespace: js.Namespace, Name: children.Subdomain(js)}
	err := r.client.Get(ctx, key, &corev1.Service{}, client.UnsafeDisableDeepCopy)
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("reading Service %s: %w", key, err)
	}
	return err == nil, nil
}

func (r *JobSetReconciler) podsOf(owned []*batchv1.Job) (map[types.UID][]*corev1.Pod, error) {
	pods := make(map[types.UID][]*corev1.Pod, len(owned))
	for _, job := range owned {
		podsOfJob, err := r.pods.ControlledBy(job.Namespace, job.UID)
		if err != nil {
			return nil, err
		}
		pods[job.UID] = podsOfJob
	}
	return pods, nil
}
