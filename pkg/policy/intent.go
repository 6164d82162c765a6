/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// byIntent reports whether the group assembles because somebody wants it to be another one, and not because something
// failed (P101a). A first start is not one: nothing ran before that it could keep.
func (v *view) byIntent() bool {
	c := apimeta.FindStatusCondition(v.JobSet.Status.Conditions, string(jobset.JobSetRestarting))
	failed := c != nil && c.Status == metav1.ConditionTrue && c.Reason != constants.MovedOffNodesReason
	return v.synced > 0 && !failed
}

// whyItWaits says who keeps a change by intent from coming together.
func (v *view) whyItWaits() string {
	message := fmt.Sprintf("%s: %s. No worker failed before, so this is not charged and the group waits",
		v.notReportedWithin(v.lastDeadline()), v.whoIsMissing())
	if changes := v.sizeChanges(); len(changes) > 0 {
		message += fmt.Sprintf("; it was resized (%s) and runs again if it gets its earlier size back", strings.Join(changes, ", "))
	}
	return message
}
