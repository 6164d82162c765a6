/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package progress

import (
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Advice says how the limits of progress compare with what was seen. Nothing changes by itself.
type Advice struct {
	// LongestGapSeconds is the longest time between two signs that a worker told, Pod the one, Epoch when; 0 if none did.
	LongestGapSeconds float64 `json:"longestGapSeconds,omitempty"`
	Pod               string  `json:"pod,omitempty"`
	Epoch             int32   `json:"epoch,omitempty"`
	// LongestStartSeconds is the longest time from a start to the first sign; 0 if none is known.
	LongestStartSeconds float64 `json:"longestStartSeconds,omitempty"`
	// StallSeconds and StartSeconds are the limits that are set; 0 is none.
	StallSeconds int32 `json:"stallSeconds,omitempty"`
	StartSeconds int32 `json:"startSeconds,omitempty"`
	// ProposedStallSeconds is five times the longest gap, rounded up, and at least 5; 0 if none is known.
	ProposedStallSeconds int32 `json:"proposedStallSeconds,omitempty"`
}

// addAdvice compares the limits with what the workers that exist told.
func (r *Report) addAdvice(policy *jobset.FailurePolicy, told []worker) {
	a := Advice{}
	if policy != nil && policy.InPlaceRestart != nil && policy.InPlaceRestart.Progress != nil {
		limits := policy.InPlaceRestart.Progress
		a.StallSeconds, a.StartSeconds = ptr.Deref(limits.StallSeconds, 0), ptr.Deref(limits.StartSeconds, 0)
	} else {
		r.Notes.Add("failurePolicy.inPlaceRestart.progress is absent: workers are not watched, and report nothing")
	}
	var longest *worker
	for i := range told {
		w := &told[i]
		a.LongestStartSeconds = max(a.LongestStartSeconds, w.Start().Seconds())
		if w.LongestGap() > 0 && (longest == nil || w.LongestGap() > longest.LongestGap()) {
			longest = w
		}
	}
	if longest != nil {
		a.LongestGapSeconds, a.Pod, a.Epoch = longest.LongestGap().Seconds(), longest.pod, longest.Epoch
		a.ProposedStallSeconds = protocol.AdviseStall(longest.LongestGap())
	}
	if a != (Advice{}) {
		r.Advice = &a
	}
}
