/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"slices"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// mostConfirmed is how many workers that seem to be lost, or late, are read at a time. One that is lost breaks the group.
const mostConfirmed = 50

// loss names the first indexes that the Job lacks.
func loss(j *view.JobSlots) *pass.Loss {
	loss := &pass.Loss{Job: j.Job}
	for slot := range j.All {
		if slot.State == view.SlotLost {
			loss.Indexes = append(loss.Indexes, int64(slot.Index))
		}
		if len(loss.Indexes) == mostConfirmed {
			break
		}
	}
	return loss
}

// unconfirmedLoss returns what to read past the cache before anybody acts on a loss, nil if no worker
// seems to be lost, or if this decision is on that read and one of the workers is still lost. A worker
// that seems to be lost may have succeeded: its Pod is gone from one cache before the Job in another
// says so (P45).
func unconfirmedLoss(v *view.View) *pass.Loss {
	lacking, read := v.Group.Lacking, v.Confirmed
	switch {
	case lacking == nil:
		return nil
	case read != nil && read.Job.UID == lacking.UID && slices.ContainsFunc(read.Indexes, lacking.Lacks):
		return nil
	}
	return loss(lacking)
}

// unreadReports returns the Pods whose Leases to read past the cache before anybody acts on it that they have not reported, none
// if this decision is on such a read (P24c). The Pod itself is guarded by its resourceVersion; a report in its Lease does not change it.
func unreadReports(v *view.View, late []*facts.Member) []*facts.Member {
	if !v.InLeases || v.ReportsRead != nil {
		return nil
	}
	return late[:min(len(late), mostConfirmed)]
}

// confirmedLate returns those of the Pods that have not reported as that read shows it.
func confirmedLate(v *view.View, late []*facts.Member) []*facts.Member {
	if !v.InLeases {
		return late
	}
	return slices.DeleteFunc(slices.Clone(late), func(pod *facts.Member) bool { return !v.ReportsRead[pod.UID] })
}
