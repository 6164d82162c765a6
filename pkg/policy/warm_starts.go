/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

// warmStarts reads what the members told with the report by which they wait for the lift.
func (v *view) warmStarts() WarmStarts {
	policy := v.JobSet.Spec.FailurePolicy
	if policy == nil || policy.InPlaceRestart == nil || policy.InPlaceRestart.WarmStart == nil {
		return WarmStarts{}
	}
	starts := WarmStarts{Epoch: v.synced}
	for _, pod := range v.group.pods(func(s *Slot) bool { return s.Pod != nil }) {
		report, told := v.endedReport(pod)
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
		return WarmStarts{}
	}
	return starts
}
