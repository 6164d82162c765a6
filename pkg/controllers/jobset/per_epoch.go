/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import "sync"

// perEpoch keeps the first value that it is given in an epoch.
type perEpoch[T any] struct {
	mu    sync.Mutex
	epoch int32
	value *T
}

// keep keeps a value, unless there is one of the same epoch.
func (p *perEpoch[T]) keep(epoch int32, value T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.value == nil || p.epoch != epoch {
		p.epoch, p.value = epoch, &value
	}
}

// in returns the value of an epoch, nil if there is none.
func (p *perEpoch[T]) in(epoch int32) *T {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.epoch != epoch {
		return nil
	}
	return p.value
}
