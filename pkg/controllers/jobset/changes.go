/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/pkg/facts"
)

// A pass occupies one of few workers, and the requests of all passes share one
// queue. So that a JobSet of many Jobs does not block others,
//
//   - a pass starts no writes after changesFor; the next pass makes the rest,
//   - the whole process has a limited number of writes in flight,
//   - and no pass waits for the cache: the JobSet is requeued until the cache shows what was created and deleted.
const (
	changesFor = 500 * time.Millisecond
	// nextPart is how soon to continue a plan that took too long. JobSets that wait in the queue come first.
	nextPart = time.Millisecond
	// unseenInterval is how often to check whether the cache shows the Jobs that were created.
	unseenInterval = 10 * time.Millisecond
)

// awaitsCache reports whether the cache has yet to show Jobs that the last pass created, or that it deleted Pods, and may still lag. A
// pass that starts too early tries to create those Jobs again, which does no harm, so the limit of the wait need not be exact; and if
// a Pod reported while it was deleted for being late, the pass would lift a group that lacks it (P24c).
func (r *JobSetReconciler) awaitsCache(key types.NamespacedName) bool {
	remembered, after := r.memory.forKey(key), r.clock.Now().Add(-r.cacheLag)
	return remembered.unseen.any(after, func(job string) bool {
		_, shown, err := r.jobs.Store.GetByKey(job)
		return err != nil || shown
	}) || remembered.deleted.any(after, func(pod string) bool {
		cached, exists, err := r.pods.Store.GetByKey(pod)
		return err != nil || !exists || cached.(*facts.Member).Terminating()
	})
}
