/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package shared

import (
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/utils/clock"

	"sigs.k8s.io/jobset/pkg/constants"
)

// ErrOutOfTime ends a pass whose writes take too long. It is not a failure.
var ErrOutOfTime = errors.New("the next pass makes the remaining changes")

// Changes limits the writes of one pass.
type Changes struct {
	Clock clock.PassiveClock
	// Until is the time after which no more of them are started, zero for no limit.
	Until time.Time
	// Slots limits the writes in flight, over all passes.
	Slots chan struct{}
}

// NewSlots returns as many slots as one process may have writes in flight.
func NewSlots() chan struct{} { return make(chan struct{}, constants.MaxParallelism) }

// Each calls do for the items, several at a time, until the time is up. It returns
// the joined errors, or ErrOutOfTime if there are none and items are left.
func Each[T any](c Changes, items []T, do func(T) error) error {
	errs := make([]error, len(items))
	var left atomic.Bool
	var group errgroup.Group
	group.SetLimit(cap(c.Slots))
	for i, item := range items {
		if left.Load() {
			break
		}
		group.Go(func() error {
			c.Slots <- struct{}{}
			defer func() { <-c.Slots }()
			if !c.Until.IsZero() && c.Clock.Now().After(c.Until) {
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
	return ErrOutOfTime
}

// All calls do for all items, several at a time, and joins the errors.
func All[T any](items []T, do func(T) error) error {
	return Each(Changes{Slots: NewSlots()}, items, do)
}
