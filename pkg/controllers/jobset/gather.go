/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/facts"
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
		Deadlines:    r.deadlines,
		Tolerance:    r.tolerance,
		FirstFailure: remembered.firstFailure.in(epoch),
		HeldSince:    remembered.heldSince,
		PendingSince: remembered.pendingSince,
		Heard:        r.memory.heard.all(),
		Verdict:      r.verdicts.Verdict(client.ObjectKeyFromObject(js)),
		Clock:        remembered.clockAt(js.Status.AssemblingSince, now, leading, jumped),
	}
	if children.NeedsService(js) {
		if in.Service, err = r.serviceOf(ctx, js); err != nil {
			return policy.Input{}, err
		}
		in.ServiceExists = in.Service != nil
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
	default:
		in.Lingering, err = r.lingering(owned, now)
	}
	if err != nil {
		return policy.Input{}, err
	}
	if inPlace {
		err = r.gatherGroup(ctx, &in, remembered)
	}
	return in, err
}

// gatherGroup adds what only decisions about a group that restarts in place use.
func (r *JobSetReconciler) gatherGroup(ctx context.Context, in *policy.Input, known *remembered) error {
	js := in.JobSet
	r.joinReports(in)
	var err error
	if in.NotReady, err = r.notReadyUnder(ctx, js, in.Pods, in.Now); err != nil {
		return err
	}
	in.Quiet = known.quiet
	if r.reviewAccess {
		in.Access = known.access
	}
	var policed bool
	in.PolicyGap, policed = r.agentPolicy.Gap()
	in.LeaseGap, _ = r.leasePolicy.Gap()
	in.InLeases = r.readsLeases()
	in.Grant, err = r.grantOf(ctx, js, policed)
	return err
}

// serviceOf returns the Service with the name of the headless Service, whoever made it; nil if there is none.
func (r *JobSetReconciler) serviceOf(ctx context.Context, js *jobset.JobSet) (*corev1.Service, error) {
	key, service := types.NamespacedName{Namespace: js.Namespace, Name: children.Subdomain(js)}, &corev1.Service{}
	err := r.client.Get(ctx, key, service, client.UnsafeDisableDeepCopy)
	switch {
	case err == nil:
		return service, nil
	case client.IgnoreNotFound(err) == nil:
		return nil, nil
	}
	return nil, fmt.Errorf("reading Service %s: %w", key, err)
}

func (r *JobSetReconciler) podsOf(owned []*batchv1.Job) (map[types.UID][]*facts.Member, error) {
	pods := make(map[types.UID][]*facts.Member, len(owned))
	for _, job := range owned {
		podsOfJob, err := r.pods.ControlledBy(job.Namespace, job.UID)
		if err != nil {
			return nil, err
		}
		pods[job.UID] = podsOfJob
	}
	return pods, nil
}

// lingering reads the Pods of Jobs that have waited long for them.
func (r *JobSetReconciler) lingering(owned []*batchv1.Job, now time.Time) (map[types.UID][]*facts.Member, error) {
	var members map[types.UID][]*facts.Member
	for _, job := range owned {
		if !policy.Lingers(job, now) {
			continue
		}
		pods, err := r.pods.ControlledBy(job.Namespace, job.UID)
		if err != nil {
			return nil, err
		}
		if members == nil {
			members = map[types.UID][]*facts.Member{}
		}
		members[job.UID] = pods
	}
	return members, nil
}
