/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// Event is recorded once the status is written.
type Event struct {
	// Type is Normal or Warning.
	Type    string
	Reason  string
	Message string
}

// notice is a condition, an event, or a condition with the event that announces its change.
type notice struct {
	// condition is the next one of its type; there is none if its type is "".
	condition metav1.Condition
	// ifTrue: only if the condition is True until now.
	ifTrue bool
	// again: the transition time moves even if the status of the condition stays.
	again bool
	// event is recorded if status or reason of the condition change, or if there is no condition; none if its reason is "".
	event Event
}

// mostMessage is how long the schema lets the message of a condition be. A status with a longer one would never be written.
const mostMessage = 32768

// apply writes the condition and reports whether the event is to be recorded: it follows a change of status or reason, and
// never one of a message, or each sentence that a release polishes would be told again on upgrade. The transition time moves
// only when the status of the condition does.
func (n *notice) apply(conditions *[]metav1.Condition, now time.Time) bool {
	if n.condition.Type != "" {
		if n.ifTrue && !apimeta.IsStatusConditionTrue(*conditions, n.condition.Type) {
			return false
		}
		n.condition.LastTransitionTime = metav1.NewTime(now)
		n.condition.Message = shortened(n.condition.Message, mostMessage)
		was := apimeta.FindStatusCondition(*conditions, n.condition.Type)
		changed := was == nil || was.Status != n.condition.Status || was.Reason != n.condition.Reason
		apimeta.SetStatusCondition(conditions, n.condition)
		if n.again {
			apimeta.FindStatusCondition(*conditions, n.condition.Type).LastTransitionTime = n.condition.LastTransitionTime
		}
		if !changed && !n.again {
			return false
		}
	}
	return n.event.Reason != ""
}

// becomesTrue makes a condition True, and announces that.
func becomesTrue(conditionType jobset.JobSetConditionType, reason, message string) notice {
	n := silently(conditionType, metav1.ConditionTrue, reason, message)
	n.event = Event{Type: eventType(conditionType), Reason: reason, Message: message}
	return n
}

// restartsNow says that a group restart begins, at this moment: the pause after quick failures counts
// from here, also if a restart of all Jobs was not over yet.
func restartsNow(message string) notice {
	n := silently(jobset.JobSetRestarting, metav1.ConditionTrue, constants.InPlaceRestartReason, message)
	n.again = true
	return n
}

// becomesFalse makes a condition False, and announces that, if it is True. A condition that never
// was True is not added, and one that is False already keeps the reason of its own end.
func becomesFalse(conditionType jobset.JobSetConditionType, reason, message string) notice {
	n := silently(conditionType, metav1.ConditionFalse, reason, message)
	n.ifTrue, n.event = true, Event{Type: corev1.EventTypeNormal, Reason: reason, Message: message}
	return n
}

// silently writes a condition without an event.
func silently(conditionType jobset.JobSetConditionType, status metav1.ConditionStatus, reason, message string) notice {
	return notice{condition: metav1.Condition{Type: string(conditionType), Status: status, Reason: reason, Message: message}}
}

func warning(reason, message string) notice {
	return notice{event: Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message}}
}

func normal(reason, message string) notice {
	return notice{event: Event{Type: corev1.EventTypeNormal, Reason: reason, Message: message}}
}

func eventType(conditionType jobset.JobSetConditionType) string {
	switch conditionType {
	case jobset.JobSetFailed, jobset.JobSetRestarting, jobset.JobSetInPlaceRestartDisabled, jobset.JobSetAgentAccessDenied,
		jobset.JobSetUnhealthy, jobset.JobSetOnSickNodes, jobset.JobSetJobsBlocked:
		return corev1.EventTypeWarning
	default:
		return corev1.EventTypeNormal
	}
}

// shortened shortens a text to so many bytes.
func shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("...")], "") + "..."
}
