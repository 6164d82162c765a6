/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package progress

import (
	"cmp"
	"slices"

	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/restarts"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// worker is what one Pod tells of an epoch: the one that ended, or, of rank 0, the one that runs.
type worker struct {
	pod string
	protocol.ProgressReport
}

// toldBy returns what the Pods of a JobSet and their Leases tell, by name. What cannot be
// read is left out: whoever may patch Pods writes it.
func toldBy(in restarts.Input) []worker {
	var told []worker
	for _, m := range restarts.MembersOf(in) {
		if m.Progress != nil {
			told = append(told, worker{m.Name, *m.Progress})
		}
	}
	slices.SortFunc(told, func(a, b worker) int { return cmp.Compare(a.pod, b.pod) })
	return told
}

// Restart is what is known of one.
type Restart struct {
	restarts.Restart
	// DetectSeconds is for how long a worker that hung had given no sign when it was ended. nil: nothing tells; a worker
	// that exits is seen at once.
	DetectSeconds *float64 `json:"detectSeconds,omitempty"`
	// StartSeconds is how long the slowest worker that told took from its start to its first sign.
	StartSeconds *float64 `json:"startSeconds,omitempty"`
	// StepsLost are those that had to be computed again. nil: workers told too little.
	StepsLost *int64 `json:"stepsLost,omitempty"`
}

// Restarts adds to the last restarts of a JobSet what its workers tell of the epochs around them.
func Restarts(in restarts.Input, last []restarts.Restart) []Restart {
	return restartsOf(last, toldBy(in))
}

// restartsOf adds to the last restarts what the workers that exist tell of the epochs around them.
func restartsOf(last []restarts.Restart, told []worker) []Restart {
	epochs := map[int32]epoch{}
	for i := range told {
		e := epochs[told[i].Epoch]
		e.add(&told[i])
		epochs[told[i].Epoch] = e
	}
	all := make([]Restart, 0, len(last))
	for i := range last {
		r := Restart{Restart: last[i]}
		if silent := r.Cause.SilentSeconds; silent > 0 {
			r.DetectSeconds = ptr.To(float64(silent))
		}
		if r.Kind == jobset.RestartedInPlace && r.Epoch > 0 {
			r.addEpochs(epochs[r.Epoch], epochs[r.Epoch+1])
		}
		all = append(all, r)
	}
	return all
}

// epoch is what workers told of one together.
type epoch struct {
	start          float64
	steps          bool
	first, highest int64
}

func (e *epoch) add(w *worker) {
	e.start = max(e.start, w.Start().Seconds())
	switch s := w.Steps; {
	case s == nil:
	case !e.steps:
		e.steps, e.first, e.highest = true, s.First, s.Highest
	default:
		e.first, e.highest = min(e.first, s.First), max(e.highest, s.Highest)
	}
}

// addEpochs adds what follows from the epoch that a restart ended and the one that it began.
func (r *Restart) addEpochs(before, after epoch) {
	if after.start > 0 {
		r.StartSeconds = &after.start
	}
	if !before.steps || !after.steps {
		return
	}
	var lost int64
	if after.first <= before.highest {
		lost = before.highest - after.first // one less at the end of the range of numbers
		if lost+1 > lost {
			lost++
		}
	}
	r.StepsLost = &lost
}
