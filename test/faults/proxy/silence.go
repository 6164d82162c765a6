/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package proxy

import "sync"

// silence is a time in which nothing gets through.
type silence struct {
	mu sync.Mutex
	// over is closed at its end; nil while there is none.
	over chan struct{}
}

// begin reports whether it was not silent before.
func (s *silence) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		return false
	}
	s.over = make(chan struct{})
	return true
}

func (s *silence) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		close(s.over)
		s.over = nil
	}
}

// wait waits for the end of the silence, and of one that begins then; false means that gone was closed meanwhile.
func (s *silence) wait(gone <-chan struct{}) bool {
	for {
		s.mu.Lock()
		over := s.over
		s.mu.Unlock()
		if over == nil {
			return true
		}
		select {
		case <-over:
		case <-gone:
			return false
		}
	}
}
