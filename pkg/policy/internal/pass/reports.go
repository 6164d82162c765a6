/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pass

import (
	"cmp"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Reports are what users and operators learn: by events and metrics once the status is written, and, about Pods and
// Jobs that the shell reports once each, in any case.
type Reports struct {
	// Events follow from the notices of the steps. No step sets them.
	Events   []Event
	Outcomes []Outcome
	// Restart is the action by which the failure policy restarts Jobs; "" if it restarts none.
	Restart jobset.FailurePolicyAction
	// GroupRestart is how long the group restart that ends now took.
	GroupRestart time.Duration
	// WarmStarts are those of the epoch that ended before.
	WarmStarts WarmStarts
	// InvalidEpochs are Pods whose epoch annotation is not an epoch.
	InvalidEpochs []*facts.Member
	// Once are events that say why something waits. They are recorded unless the pass before had the same.
	Once []Event
	// Foreign are Jobs that name the JobSet as their controller, and that it did not create.
	Foreign []*batchv1.Job
	// Replaced are Pods that cannot restart in place.
	Replaced []Replacement
}

// Outcome is counted by the metrics once the status is written.
type Outcome string

const (
	// Completed: the JobSet became Completed.
	Completed Outcome = "Completed"
	// Failed: the JobSet became Failed.
	Failed Outcome = "Failed"
	// GroupBroken: the group of workers restarts in place.
	GroupBroken Outcome = "GroupBroken"
	// GroupLifted: the workers of a group restart may start.
	GroupLifted Outcome = "GroupLifted"
	// WasReset: a JobSet that tolerates faults is reset.
	WasReset Outcome = "Reset"
	// BecameUnhealthy: it will be reset if its Pods do not come back in time.
	BecameUnhealthy Outcome = "Unhealthy"
	// DeletedByForce: Pods or Jobs of it are deleted by force, see CountForced.
	DeletedByForce Outcome = "ForcefulDeletion"
	// LostNode: workers on a silent node are to be replaced by force; once for each node.
	LostNode Outcome = "LostNode"
	// AvoidsNode: new Pods of it avoid another node from now on.
	AvoidsNode Outcome = "NodeAvoided"
	// GaveUpNode: they do not avoid one any more, since they have no other.
	GaveUpNode Outcome = "AvoidedNodeGivenUp"
	// MovedInPlace: a group restart moves Pods off sick nodes.
	MovedInPlace Outcome = "MovedInPlace"
	// MovedByReset: a reset does.
	MovedByReset Outcome = "MovedByReset"
	// MoveRefused: Pods stay on sick nodes.
	MoveRefused Outcome = "MoveRefused"
)

// Replacement is a Pod that asked to be replaced (P70).
type Replacement struct {
	Pod *facts.Member
	// Because is what its agent says, Reason the same in one word; empty if the agent could not say it.
	Because string
	Reason  protocol.LeaveReason
}

// WarmStarts is how the workers of an epoch were started, as far as they told (P165).
type WarmStarts struct {
	// Epoch is theirs; 0 if nobody told.
	Epoch      int32
	Warm, Cold int
	// WarmSign and ColdSign are how long the last of each took from its start to its first sign (P130); 0 if none gave one.
	WarmSign, ColdSign time.Duration
}

// String is what the event of a lift says of the epoch before.
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

func (r Reports) and(next Reports) Reports {
	return Reports{
		Outcomes:      Join(r.Outcomes, next.Outcomes),
		Restart:       cmp.Or(next.Restart, r.Restart),
		GroupRestart:  max(r.GroupRestart, next.GroupRestart),
		WarmStarts:    cmp.Or(r.WarmStarts, next.WarmStarts),
		InvalidEpochs: Join(r.InvalidEpochs, next.InvalidEpochs),
		Once:          Join(r.Once, next.Once),
		Foreign:       Join(r.Foreign, next.Foreign),
		Replaced:      Join(r.Replaced, next.Replaced),
	}
}
