/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
)

// memory keeps what is not in the API. It may be lost at any time, and a new leader starts without it. Nothing that the
// metrics keep is read by a decision. What depends on the fields of remembered:
//
//	pace, unseen, deleted      when the next pass and the next write of counts are made, never what they do
//	assembly, prepared,        the clock of the assembly (P24, P48): without them a deadline comes later
//	answered, lostTouch, leading
//	clockJumps                 which time did not pass (P21a): without it a deadline comes early after a jump
//	heldSince                  how long a drastic break waits for more successes (P45): without it the wait starts over
//	pendingSince               how long a break waits for a success that is seen (P45d): the same
//	movingSince                how long marked nodes are gathered before their Pods are moved (P92): the same
//	heard, quiet               when workers on lost nodes are replaced (P172): without them later
//	firstFailure               the cause in messages (P21); the break itself follows from the Pods
//	access                     which rights of agents are reported as missing (P56): without it they are asked for again
//	reported                   which events are not repeated
type memory struct {
	mu sync.Mutex
	// leading is when this manager made its first pass as the leader, with synced caches, or its clock last jumped.
	leading time.Time
	clockJumps
	// heard is what was heard from nodes (P172): without it a worker on a lost node is replaced later.
	heard   heardNodes
	entries map[types.NamespacedName]*remembered
}

// remembered is what is kept of one JobSet. Only its passes use it, one at a time, but for
// the types with a lock or an atomic of their own.
type remembered struct {
	uid    types.UID
	pace   pace
	unseen unseen
	// deleted are the Pods that were deleted and that the cache still shows as before.
	deleted  unseen
	assembly assemblyClock
	// prepared are the Pods that were seen being prepared since the group assembles.
	prepared map[types.UID]policy.Prepared
	// answered is when the API server answered again about this JobSet, zero if it always did; lostTouch: it has not yet.
	answered  time.Time
	lostTouch bool
	// quiet is since when the number of workers that are back is the same.
	quiet        policy.Quiet
	firstFailure perEpoch[policy.Failure]
	// heldSince is since when a drastic break has been wanted, zero if it is not.
	heldSince time.Time
	// pendingSince is since when a break has been waiting for a success that is not counted, zero if none does.
	pendingSince time.Time
	// movingSince is since when Pods have had to leave their nodes, zero if none has.
	movingSince time.Time
	// access is what the API server said about the rights of agents, by service account.
	access   map[string]policy.AgentAccess
	reported reported
}

func newMemory() *memory {
	return &memory{entries: map[types.NamespacedName]*remembered{}}
}

// forJobSet returns what is kept of a JobSet. It starts afresh if it was kept of an earlier JobSet of the same name.
func (m *memory) forJobSet(js *jobset.JobSet) *remembered {
	return m.entry(client.ObjectKeyFromObject(js), js.UID)
}

// forKey returns what is kept under a name, whichever JobSet has it.
func (m *memory) forKey(key types.NamespacedName) *remembered {
	return m.entry(key, "")
}

func (m *memory) entry(key types.NamespacedName, uid types.UID) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[key]
	if e == nil || uid != "" && e.uid != "" && e.uid != uid {
		e = &remembered{access: map[string]policy.AgentAccess{}, reported: newReported()}
		m.entries[key] = e
	}
	if uid != "" {
		e.uid = uid
	}
	return e
}

// forget drops a JobSet that is gone.
func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, key)
}

// look reads a clock. It returns since when this manager leads, as far as it can tell by that clock, and when that last jumped.
func (m *memory) look(at clock.PassiveClock) (now, leading, jumped time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now = at.Now()
	if jumped := m.check(at, now); jumped || m.leading.IsZero() {
		m.leading = now
	}
	return now, m.leading, m.jumped
}

// ledSince is since when reports about a JobSet could be seen: since this manager leads, or since the API server answers again. Others
// are none of its business: a read that failed for one JobSet says nothing about the agents of others (P24b).
func (e *remembered) ledSince(leading, now time.Time) time.Time {
	if e.lostTouch {
		e.answered, e.lostTouch = now, false
	}
	if e.answered.After(leading) {
		return e.answered
	}
	return leading
}

// clockAt is what is remembered of clocks, for a group that assembles since a moment.
func (e *remembered) clockAt(assemblesSince *metav1.Time, now, leading, jumped time.Time) policy.Clock {
	return policy.Clock{
		LedSince:    e.ledSince(leading, now),
		SteadySince: jumped,
		Stood:       e.assembly.stoodFor(assemblesSince, now),
		Prepared:    e.prepared,
	}
}

// keepSince keeps since when something has been wanted without a break.
func keepSince(since *time.Time, wanted bool, now time.Time) {
	switch {
	case !wanted:
		*since = time.Time{}
	case since.IsZero():
		*since = now
	}
}
