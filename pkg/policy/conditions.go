/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// set makes a condition True and announces it by an event if anything changed.
// The transition time moves only when the status does.
func (d *decision) set(conditionType jobset.JobSetConditionType, reason, message string) {
	if d.put(conditionType, metav1.ConditionTrue, reason, message) {
		d.event(eventType(conditionType), reason, message)
	}
}

// clear makes a condition False, and announces it, if it is True now. A
// condition that never was True is not added, and one that is False already
// keeps the reason of its own end.
func (d *decision) clear(conditionType jobset.JobSetConditionType, reason, message string) {
	if d.isTrue(conditionType) && d.put(conditionType, metav1.ConditionFalse, reason, message) {
		d.event(corev1.EventTypeNormal, reason, message)
	}
}

// put writes a condition without an event and tells whether it changed.
func (d *decision) put(conditionType jobset.JobSetConditionType, status metav1.ConditionStatus, reason, message string) bool {
	return apimeta.SetStatusCondition(&d.plan.Status.Conditions, metav1.Condition{
		Type:               string(conditionType),
		Status:             status,
		Reason:             reason,
		Message:            message,
		LastTransitionTime: metav1.NewTime(d.in.Now),
	})
}

func (d *decision) isTrue(conditionType jobset.JobSetConditionType) bool {
	return apimeta.IsStatusConditionTrue(d.plan.Status.Conditions, string(conditionType))
}

// restartingInPlace tells whether a group restart is under way.
func (d *decision) restartingInPlace() bool {
	c := apimeta.FindStatusCondition(d.plan.Status.Conditions, string(jobset.JobSetRestarting))
	return c != nil && c.Status == metav1.ConditionTrue && c.Reason == constants.InPlaceRestartReason
}

func (d *decision) event(eventType, reason, message string) {
	d.plan.Events = append(d.plan.Events, Event{Type: eventType, Reason: reason, Message: message})
}

func eventType(conditionType jobset.JobSetConditionType) string {
	switch conditionType {
	case jobset.JobSetFailed, jobset.JobSetRestarting, jobset.JobSetInPlaceRestartDisabled:
		return corev1.EventTypeWarning
	default:
		return corev1.EventTypeNormal
	}
}

// finished is the condition that ended the JobSet.
func finished(js *jobset.JobSet) (metav1.Condition, bool) {
	for _, c := range js.Status.Conditions {
		ends := c.Type == string(jobset.JobSetCompleted) || c.Type == string(jobset.JobSetFailed)
		if ends && c.Status == metav1.ConditionTrue {
			return c, true
		}
	}
	return metav1.Condition{}, false
}

// complete ends the JobSet as completed.
func (d *decision) complete() {
	d.set(jobset.JobSetCompleted, constants.AllJobsCompletedReason, constants.AllJobsCompletedMessage)
	d.clear(jobset.JobSetRestarting, constants.RestartingEndedCompletedReason, constants.RestartingEndedCompletedMessage)
	d.plan.Status.TerminalState = string(jobset.JobSetCompleted)
	d.plan.Outcomes = append(d.plan.Outcomes, Completed)
}

// fail ends the JobSet as failed.
func (d *decision) fail(reason, message string) {
	d.set(jobset.JobSetFailed, reason, message)
	d.clear(jobset.JobSetRestarting, constants.RestartingEndedFailedReason, constants.RestartingEndedFailedMessage)
	d.plan.Status.TerminalState = string(jobset.JobSetFailed)
	d.plan.Outcomes = append(d.plan.Outcomes, Failed)
}

// ttl deletes a finished JobSet when its time is over. A JobSet that does not
// say when it finished is not deleted.
func (d *decision) ttl(end metav1.Condition) error {
	js := d.in.JobSet
	seconds := js.Spec.TTLSecondsAfterFinished
	if seconds == nil {
		return nil
	}
	if end.LastTransitionTime.IsZero() {
		return fmt.Errorf("error checking if ttl expired: unable to find the time when the JobSet %s/%s finished", js.Namespace, js.Name)
	}
	left := end.LastTransitionTime.Add(time.Duration(*seconds) * time.Second).Sub(d.in.Now)
	if left <= 0 {
		d.plan.DeleteJobSet = true
		return nil
	}
	d.plan.requeueAfter(left)
	return nil
}
