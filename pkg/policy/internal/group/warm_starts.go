/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// warmStarts reads what the members told with the report by which they wait for the lift.
func warmStarts(v *view.View) pass.WarmStarts {
	policy := v.JobSet.Spec.FailurePolicy
	if policy == nil || policy.InPlaceRestart == nil || policy.InPlaceRestart.WarmStart == nil {
		return pass.WarmStarts{}
	}
	starts := pass.WarmStarts{Epoch: v.Synced}
	for _, pod := range v.Group.Pods(func(s *view.Slot) bool { return s.Pod != nil }) {
		report, told := endedReport(v, pod)
		if !told || report.Warm == nil {
			continue
		}
		if report.Warm.Warm {
			starts.Warm, starts.WarmSign = starts.Warm+1, max(starts.WarmSign, report.Start())
		} else {
			starts.Cold, starts.ColdSign = starts.Cold+1, max(starts.ColdSign, report.Start())
		}
	}
	if starts.Warm+starts.Cold == 0 {
		return pass.WarmStarts{}
	}
	return starts
}
