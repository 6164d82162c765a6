/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/policy"
)

// summary is what the JobSets of a cluster come to at one moment.
type summary struct {
	// assembling is how many groups come together, and longest how long the first of them has done so.
	assembling int
	longest    time.Duration
	// nearlySpent is how many JobSets have used most of their restarts.
	nearlySpent int
}

// summarize looks at every JobSet once. Those that this controller does not act on do not count:
// nobody would clear what their status says.
func summarize(jobSets []*jobset.JobSet, gates gates.Set, now time.Time) summary {
	var s summary
	for _, js := range jobSets {
		if js.DeletionTimestamp != nil || finished(js) || !managedHere(js) {
			continue
		}
		if nearlySpent(js, gates) {
			s.nearlySpent++
		}
		if since, ok := assemblingSince(js); ok {
			s.assembling++
			s.longest = max(s.longest, now.Sub(since))
		}
	}
	return s
}

// assemblingSince is since when the group of a JobSet comes together, if somebody waits for it (P20, P24).
func assemblingSince(js *jobset.JobSet) (time.Time, bool) {
	status := &js.Status
	runs := ptr.Deref(status.DeprecatedEpoch, 0) < ptr.Deref(status.SyncedEpoch, 0)
	if policy.Bypassed(js) || runs || ptr.Deref(js.Spec.Suspend, false) {
		return time.Time{}, false
	}
	if status.AssemblingSince != nil {
		return status.AssemblingSince.Time, true
	}
	// Without deadlines nobody keeps that time. Then a restart is known by its condition, a start is not.
	c := apimeta.FindStatusCondition(status.Conditions, string(jobset.JobSetRestarting))
	if c == nil || c.Status != metav1.ConditionTrue || c.Reason != constants.InPlaceRestartReason {
		return time.Time{}, false
	}
	return c.LastTransitionTime.Time, true
}

// nearlySpent tells whether at least 80 % of maxRestarts are used. Whoever allows no restart has
// none to run out of.
func nearlySpent(js *jobset.JobSet, gates gates.Set) bool {
	if js.Spec.FailurePolicy == nil || js.Spec.FailurePolicy.MaxRestarts < 1 {
		return false
	}
	return policy.UsedRestarts(&js.Status, gates)*5 >= int64(js.Spec.FailurePolicy.MaxRestarts)*4
}

func finished(js *jobset.JobSet) bool {
	return apimeta.IsStatusConditionTrue(js.Status.Conditions, string(jobset.JobSetCompleted)) ||
		apimeta.IsStatusConditionTrue(js.Status.Conditions, string(jobset.JobSetFailed))
}

func managedHere(js *jobset.JobSet) bool {
	return js.Spec.ManagedBy == nil || *js.Spec.ManagedBy == jobset.JobSetControllerName
}
