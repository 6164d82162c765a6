/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
)

// passInterval is how far apart two passes over one JobSet are at the least.
// Thousands of Pods report within a second; 20 looks a second see them all.
const passInterval = 50 * time.Millisecond

// countsDelayPerJob and maxCountsDelay say how long a change of nothing but
// counts waits for others of the same JobSet: 50 ms at 100 Jobs, 1 s from 2,000.
const (
	countsDelayPerJob = 500 * time.Microsecond
	maxCountsDelay    = time.Second
)

// memory holds what the controller tells and does not decide by: it may be
// lost at any time, and a new leader starts without it.
type memory struct {
	mu      sync.Mutex
	entries map[types.NamespacedName]*remembered
}

type remembered struct {
	uid types.UID
	// lastPass spaces out passes, countsWritten the writes of counts.
	lastPass      time.Time
	countsWritten time.Time
	// jobs is how many Jobs the last pass saw.
	jobs int
	// failure is the first failure seen in an epoch.
	failure      *policy.Failure
	failureEpoch int32
	// broken is when the group of an epoch broke.
	broken      time.Time
	brokenEpoch int32
	// invalid are the epoch annotations already complained about, by Pod.
	invalid map[types.UID]string
	// troubles are what users were told last about something that failed, by reason.
	troubles map[string]trouble
}

// trouble is a note, and the version of the JobSet about which it was told first.
type trouble struct{ note, version string }

func newMemory() *memory {
	return &memory{entries: map[types.NamespacedName]*remembered{}}
}

// entry is what is remembered of a JobSet; nothing of an earlier one of the same name.
func (m *memory) entry(key types.NamespacedName, uid types.UID) *remembered {
	e := m.entries[key]
	if e == nil || uid != "" && e.uid != "" && e.uid != uid {
		e = &remembered{invalid: map[types.UID]string{}, troubles: map[string]trouble{}}
		m.entries[key] = e
	}
	if uid != "" {
		e.uid = uid
	}
	return e
}

func (m *memory) of(js *jobset.JobSet) *remembered {
	return m.entry(types.NamespacedName{Namespace: js.Namespace, Name: js.Name}, js.UID)
}

// forget drops a JobSet that is gone.
func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, key)
}

// startPass returns how long to wait before a pass may start, 0 if it starts now.
func (m *memory) startPass(key types.NamespacedName, now time.Time) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entry(key, "")
	if wait := passInterval - now.Sub(e.lastPass); wait > 0 && wait <= passInterval {
		return wait
	}
	e.lastPass = now
	return 0
}

// sawJobs remembers how many Jobs a JobSet has.
func (m *memory) sawJobs(js *jobset.JobSet, jobs int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(js).jobs = jobs
}

// countsDelay is how long a change of nothing but counts may wait for others.
func (m *memory) countsDelay(key types.NamespacedName) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[key]; e != nil {
		return min(time.Duration(e.jobs)*countsDelayPerJob, maxCountsDelay)
	}
	return 0
}

// failedPass lets the next pass start at once. The queue spaces out retries, and
// it would forget how many there were if it were asked to wait instead.
func (m *memory) failedPass(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entry(key, "").lastPass = time.Time{}
}

// waitForCounts returns how long a write of nothing but counts has to wait.
func (m *memory) waitForCounts(js *jobset.JobSet, now time.Time, interval time.Duration) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(0, interval-now.Sub(m.of(js).countsWritten))
}

// wrote remembers that the status was written.
func (m *memory) wrote(js *jobset.JobSet, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(js).countsWritten = now
}

// sawFailure remembers the first failure of the epoch that runs.
func (m *memory) sawFailure(js *jobset.JobSet, failure policy.Failure) {
	synced := ptr.Deref(js.Status.SyncedEpoch, 0)
	if ptr.Deref(js.Status.DeprecatedEpoch, 0) >= synced {
		return // the group restarts: its containers are meant to end
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.of(js); e.failure == nil || e.failureEpoch != synced {
		e.failure, e.failureEpoch = &failure, synced
	}
}

// failure is the first failure of the epoch that runs, nil if none was seen.
func (m *memory) failure(js *jobset.JobSet) *policy.Failure {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.of(js); e.failureEpoch == ptr.Deref(js.Status.SyncedEpoch, 0) {
		return e.failure
	}
	return nil
}

// broke remembers when the group of the epoch that ran broke.
func (m *memory) broke(js *jobset.JobSet, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.of(js)
	e.broken, e.brokenEpoch = now, ptr.Deref(js.Status.SyncedEpoch, 0)
}

// brokenAt is when the group broke that assembles now; zero if not remembered.
func (m *memory) brokenAt(js *jobset.JobSet) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.of(js); e.brokenEpoch == ptr.Deref(js.Status.SyncedEpoch, 0) {
		return e.broken
	}
	return time.Time{}
}

// complained tells whether an annotation of a Pod was complained about before, and remembers it.
func (m *memory) complained(js *jobset.JobSet, pod types.UID, value string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	invalid := m.of(js).invalid
	told, ok := invalid[pod]
	invalid[pod] = value
	return ok && told == value
}

// toldFirst returns the version of the JobSet about which users were told this first, if they were told it last.
func (m *memory) toldFirst(js *jobset.JobSet, reason, note string) (version string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	troubles := m.of(js).troubles
	if troubles[reason].note != note {
		troubles[reason] = trouble{note, js.ResourceVersion}
	}
	return troubles[reason].version
}
