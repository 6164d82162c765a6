/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package proxy

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// stream is a watch that is open.
type stream struct {
	client string
	proxy  *Proxy
	end    context.CancelFunc

	mu sync.Mutex
	// silent is closed when the watch goes on; nil while it does.
	silent chan struct{}
	timers []*time.Timer
}

// relay passes the events of a watch on as they come.
func (p *Proxy) relay(ctx context.Context, end context.CancelFunc, w http.ResponseWriter, events io.Reader, client string, f fate) {
	s := &stream{client: client, proxy: p, end: end}
	defer s.heal()
	p.mu.Lock()
	p.streams[s] = struct{}{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.streams, s)
		p.mu.Unlock()
	}()
	if f.kind == WatchClosed || f.kind == WatchStalled {
		s.meet(f)
	}
	control := http.NewResponseController(w)
	if control.Flush() != nil {
		return
	}
	buffer := make([]byte, 32<<10)
	for {
		n, err := events.Read(buffer)
		if !s.speaks(ctx) {
			return
		}
		if n > 0 {
			if _, err := w.Write(buffer[:n]); err != nil || control.Flush() != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// meet lets the watch end, or fall silent for a time, at a later time.
func (s *stream) meet(f fate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	begin := func() {
		s.proxy.count(f.kind)
		if f.kind == WatchClosed {
			s.end()
			return
		}
		s.hush(f.lasts)
	}
	s.timers = append(s.timers, time.AfterFunc(f.after, begin))
}

func (s *stream) hush(lasts time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent != nil {
		return
	}
	s.silent = make(chan struct{})
	s.timers = append(s.timers, time.AfterFunc(lasts, s.speak))
}

func (s *stream) speak() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent != nil {
		close(s.silent)
		s.silent = nil
	}
}

// heal takes back what has not happened yet and ends what has.
func (s *stream) heal() {
	s.mu.Lock()
	for _, timer := range s.timers {
		timer.Stop()
	}
	s.timers = nil
	s.mu.Unlock()
	s.speak()
}

// speaks waits for the end of a silence; false means that the watch is over.
func (s *stream) speaks(ctx context.Context) bool {
	s.mu.Lock()
	silent := s.silent
	s.mu.Unlock()
	if silent == nil {
		return true
	}
	select {
	case <-silent:
		return true
	case <-ctx.Done():
		return false
	}
}
