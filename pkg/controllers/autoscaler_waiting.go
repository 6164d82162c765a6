/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
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
		if next.Status = metav1.ConditionTrue; len(messages) == 0 {
			next.Reason = reason
		}
		messages = append(messages, fmt.Sprintf("ReplicatedJob %s: %s", d.ReplicatedJob, d.Because))
	}
	if len(messages) > 0 {
		next.Message = strings.Join(messages, "; ")
	}
	return next
}

// setWaiting keeps the condition that says what a JobSet waits for.
func (a *autoscaler) setWaiting(ctx context.Context, js *jobset.JobSet, decisions []elastic.Decision) error {
	next := waiting(decisions)
	if next.Status == metav1.ConditionFalse && len(decisions) > 0 && isHeld(js) {
		next.Reason, next.Message = constants.ElasticHeldReason, constants.ElasticHeldMessage
	}
	next.LastTransitionTime = metav1.NewTime(a.clock.Now())
	was := apimeta.FindStatusCondition(js.Status.Conditions, next.Type)
	matters := next.Reason == constants.ElasticHeldReason || was != nil && (was.Status == metav1.ConditionTrue || was.Reason == constants.ElasticHeldReason)
	if next.Status == metav1.ConditionFalse && !matters {
		return nil // it never waited, or that is over already
	}
	update := js.DeepCopy()
	if !apimeta.SetStatusCondition(&update.Status.Conditions, next) {
		return nil
	}
	switch err := a.client.Status().Update(ctx, update); {
	case apierrors.IsConflict(err):
		a.requestRound() // others write the status, too
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("saying in the status of JobSet %s what it waits for: %w", klog.KObj(js), err)
	}
	return nil
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
		if js := &all.Items[i]; !isPlanned[string(js.UID)] && managedHere(js) && js.DeletionTimestamp == nil {
			errs = append(errs, a.setWaiting(ctx, js, nil))
		}
	}
	return errors.Join(errs...)
}
