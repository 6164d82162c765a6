/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"sigs.k8s.io/jobset/pkg/constants"
)

// A pass occupies one of few workers, and the requests of all passes share one
// queue. So that a JobSet of many Jobs does not block others,
//
//   - a pass starts no writes after changesFor; the next pass makes the rest,
//   - the whole process has a limited number of writes in flight,
//   - and no pass waits for the cache: the JobSet is requeued until the cache shows what was created.
const (
	changesFor = 500 * time.Millisecond
	// nextPart is how soon to continue a plan that took too long. JobSets that wait in the queue come first.
	nextPart = time.Millisecond
	// unseenInterval is how often to check whether the cache shows the Jobs that were created.
	unseenInterval = 10 * time.Millisecond
)

// errOutOfTime ends a pass whose writes take too long. It is not a failure.
var errOutOfTime = errors.New("the next pass makes the remaining changes")

// changes limits the writes of one pass.
type changes struct {
	clock clock.PassiveClock
	// until is the time after which no more of them are started, zero for no limit.
	until time.Time
	// slots limits the writes in flight, over all passes.
	slots chan struct{}
}

func newSlots() chan struct{} { return make(chan struct{}, constants.MaxParallelism) }

func (r *JobSetReconciler) startChanges() changes {
	return changes{clock: r.clock, until: r.clock.Now().Add(changesFor), slots: r.slots}
}

// each calls do for the items, several at a time, until the time is up. It returns
// the joined errors, or errOutOfTime if there are none and items are left.
func each[T any](c changes, items []T, do func(T) error) error {
	errs := make([]error, len(items))
	var left atomic.Bool
	var group errgroup.Group
	group.SetLimit(cap(c.slots))
	for i, item := range items {
		if left.Load() {
			break
		}
		group.Go(func() error {
			c.slots <- struct{}{}
			defer func() { <-c.slots }()
			if !c.until.IsZero() && c.clock.Now().After(c.until) {
				left.Store(true)
				return nil
			}
			errs[i] = do(item)
			return nil
		})
	}
	_ = group.Wait() // the errors are in errs
	if err := errors.Join(errs...); err != nil || !left.Load() {
		return err
	}
	return errOutOfTime
}

// all calls do for all items, several at a time, and joins the errors.
func all[T any](items []T, do func(T) error) error {
	return each(changes{slots: newSlots()}, items, do)
}

// awaitsCache reports whether the cache has yet to show Jobs that the last pass
// created, and may still lag. A pass that starts too early tries to create
// those Jobs again, which does no harm, so the limit of the wait need not be exact.
func (r *JobSetReconciler) awaitsCache(key types.NamespacedName) bool {
	return r.memory.forKey(key).unseen.any(r.clock.Now().Add(-r.cacheLag), func(job string) bool {
		_, shown, err := r.jobs.store.GetByKey(job)
		return err != nil || shown
	})
}
