/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"time"

	"sigs.k8s.io/jobset/pkg/facts"
)

// WarmStarts is how the workers of an epoch were started, as far as they told (P165).
type WarmStarts struct {
	// Epoch is theirs; 0 if nobody told.
	Epoch      int32
	Warm, Cold int
	// WarmSign and ColdSign are how long the last of each took from its start to its first sign (P130); 0 if none gave one.
	WarmSign, ColdSign time.Duration
}

// String is what the event of a lift says of the epoch before, and is read back by package restarts.
func (s WarmStarts) String() string {
	if s.Epoch == 0 {
		return ""
	}
	after := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return fmt.Sprintf(" (first sign after %.1f s)", d.Seconds())
	}
	return fmt.Sprintf("; in epoch %d, %d had started warm%s and %d cold%s", s.Epoch, s.Warm, after(s.WarmSign), s.Cold, after(s.ColdSign))
}

// warmStarts reads what the members told with the report by which they wait for the lift.
func (v *view) warmStarts() WarmStarts {
	policy := v.JobSet.Spec.FailurePolicy
	if policy == nil || policy.InPlaceRestart == nil || policy.InPlaceRestart.WarmStart == nil {
		return WarmStarts{}
	}
	starts := WarmStarts{Epoch: v.synced}
	for _, pod := range v.group.pods(func(s *Slot) bool { return s.Pod != nil }) {
		report, told := v.endedReport(facts.ProgressOf(pod))
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
