/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"slices"
	"sync"
	"time"
)

// unseen are the Jobs that were created, or the Pods that were deleted, and that the cache has not shown so since. Several
// requests of a pass add to it at a time.
type unseen struct {
	mu   sync.Mutex
	keys []string
	// last is when the last of them was created or deleted.
	last time.Time
}

func (u *unseen) add(key string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.keys, u.last = append(u.keys, key), now
}

// count returns how many the cache has yet to show.
func (u *unseen) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.keys)
}

// forget gives up waiting for them.
func (u *unseen) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.keys = nil
}

// gone says that a Job was deleted, which the cache may have shown for less than the time between two looks.
func (u *unseen) gone(key string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.keys = slices.DeleteFunc(u.keys, func(unseen string) bool { return unseen == key })
}

// any reports whether the cache has yet to show one of them. It forgets those that the cache
// shows, and all of them if the last is not from after a time.
func (u *unseen) any(after time.Time, shown func(key string) bool) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.last.After(after) {
		u.keys = nil
	}
	for len(u.keys) > 0 && shown(u.keys[0]) {
		u.keys = u.keys[1:]
	}
	return len(u.keys) > 0
}
