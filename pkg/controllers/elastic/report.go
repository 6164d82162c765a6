/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/elastic"
)

// waiting returns the condition of a JobSet of which the plan says this (P109).
func waiting(decisions []elastic.Decision) metav1.Condition {
	next := metav1.Condition{Type: string(jobset.JobSetElasticWaiting), Status: metav1.ConditionFalse,
		Reason: constants.ElasticRoomFoundReason, Message: constants.ElasticRoomFoundMessage}
	var messages []string
	for _, d := range decisions {
		reason := map[elastic.State]string{elastic.Waits: constants.MinimumDoesNotFitReason, elastic.Stuck: constants.LostPodsReason}[d.State]
		if reason == "" {
			continue
		}
		if d.Refused {
			reason = constants.ElasticRefusedReason
		}
		if next.Status = metav1.ConditionTrue; len(messages) == 0 {
			next.Reason = reason
		}
		messages = append(messages, fmt.Sprintf("ReplicatedJob %s: %s", d.ReplicatedJob, d.Because))
	}
	if len(messages) == 0 { // it runs, with less than it might have
		for _, d := range decisions {
			if d.Ceiling != nil {
				next.Reason = constants.ElasticRefusedReason
				messages = append(messages, fmt.Sprintf("ReplicatedJob %s: %s", d.ReplicatedJob, d.Ceiling))
			}
		}
	}
	if len(messages) > 0 {
		next.Message = strings.Join(messages, "; ")
	}
	return next
}

// setStatus keeps what a JobSet waits for, and what was learned about its sizes. It reports whether the status has that:
// what a plan decided because of it must not come before.
func (a *autoscaler) setStatus(ctx context.Context, js *jobset.JobSet, decisions []elastic.Decision) (written bool, err error) {
	next := waiting(decisions)
	if next.Status == metav1.ConditionFalse && len(decisions) > 0 && isHeld(js) {
		next.Reason, next.Message = constants.ElasticHeldReason, constants.ElasticHeldMessage
	}
	next.LastTransitionTime = metav1.NewTime(a.clock.Now())
	was := apimeta.FindStatusCondition(js.Status.Conditions, next.Type)
	if was == nil {
		was = &metav1.Condition{Status: metav1.ConditionFalse, Reason: constants.ElasticRoomFoundReason, Message: next.Message} // says nothing
	}
	says := was.Status != next.Status || was.Reason != next.Reason || was.Message != next.Message
	if !says && !learns(js, decisions) {
		return true, nil
	}
	update := js.DeepCopy()
	if !learn(update, decisions) {
		a.requestRound()
		return false, nil // the status has no sizes yet
	}
	if says {
		apimeta.SetStatusCondition(&update.Status.Conditions, next)
	}
	return a.updateStatus(ctx, update)
}

// endWaiting ends the condition of JobSets that are not planned any more, because they have ended or are suspended.
func (a *autoscaler) endWaiting(ctx context.Context, planned []*jobset.JobSet) error {
	all := &jobset.JobSetList{}
	if err := a.client.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing JobSets: %w", err)
	}
	isPlanned := map[string]bool{}
	for _, js := range planned {
		isPlanned[string(js.UID)] = true
	}
	var errs []error
	for i := range all.Items {
		if js := &all.Items[i]; !isPlanned[string(js.UID)] && shared.ManagedHere(js) && js.DeletionTimestamp == nil {
			_, err := a.setStatus(ctx, js, nil)
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
