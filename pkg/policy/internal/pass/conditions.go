/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pass

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

// Notice is a condition, an event, or a condition with the event that announces its change.
type Notice struct {
	// Condition is the next one of its type; there is none if its type is "".
	Condition metav1.Condition
	// IfTrue: only if the condition is True until now.
	IfTrue bool
	// Again: the transition time moves even if the status of the condition stays.
	Again bool
	// Event is recorded if status or reason of the condition change, or if there is no condition; none if its reason is "".
	Event Event
}

// mostMessage is how long the schema lets the message of a condition be. A status with a longer one would never be written.
const mostMessage = 32768

// Apply writes the condition and reports whether the event is to be recorded: it follows a change of status or reason, and
// never one of a message, or each sentence that a release polishes would be told again on upgrade. The transition time moves
// only when the status of the condition does.
func (n *Notice) Apply(conditions *[]metav1.Condition, now time.Time) bool {
	if n.Condition.Type != "" {
		if n.IfTrue && !apimeta.IsStatusConditionTrue(*conditions, n.Condition.Type) {
			return false
		}
		n.Condition.LastTransitionTime = metav1.NewTime(now)
		n.Condition.Message = Shortened(n.Condition.Message, mostMessage)
		was := apimeta.FindStatusCondition(*conditions, n.Condition.Type)
		changed := was == nil || was.Status != n.Condition.Status || was.Reason != n.Condition.Reason
		apimeta.SetStatusCondition(conditions, n.Condition)
		if n.Again {
			apimeta.FindStatusCondition(*conditions, n.Condition.Type).LastTransitionTime = n.Condition.LastTransitionTime
		}
		if !changed && !n.Again {
			return false
		}
	}
	return n.Event.Reason != ""
}

// BecomesTrue makes a condition True, and announces that.
func BecomesTrue(conditionType jobset.JobSetConditionType, reason, message string) Notice {
	n := Silently(conditionType, metav1.ConditionTrue, reason, message)
	n.Event = Event{Type: eventType(conditionType), Reason: reason, Message: message}
	return n
}

// RestartsNow says that a group restart begins, at this moment: the pause after quick failures counts
// from here, also if a restart of all Jobs was not over yet.
func RestartsNow(message string) Notice {
	n := Silently(jobset.JobSetRestarting, metav1.ConditionTrue, constants.InPlaceRestartReason, message)
	n.Again = true
	return n
}

// BecomesFalse makes a condition False, and announces that, if it is True. A condition that never
// was True is not added, and one that is False already keeps the reason of its own end.
func BecomesFalse(conditionType jobset.JobSetConditionType, reason, message string) Notice {
	n := Silently(conditionType, metav1.ConditionFalse, reason, message)
	n.IfTrue, n.Event = true, Event{Type: corev1.EventTypeNormal, Reason: reason, Message: message}
	return n
}

// Silently writes a condition without an event.
func Silently(conditionType jobset.JobSetConditionType, status metav1.ConditionStatus, reason, message string) Notice {
	return Notice{Condition: metav1.Condition{Type: string(conditionType), Status: status, Reason: reason, Message: message}}
}

// Warning is an event of type Warning without a condition.
func Warning(reason, message string) Notice {
	return Notice{Event: Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message}}
}

// Normal is an event of type Normal without a condition.
func Normal(reason, message string) Notice {
	return Notice{Event: Event{Type: corev1.EventTypeNormal, Reason: reason, Message: message}}
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

// Shortened shortens a text to so many bytes.
func Shortened(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most-len("...")], "") + "..."
}
