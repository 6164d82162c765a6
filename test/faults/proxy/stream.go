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
	silent silence

	mu     sync.Mutex
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
		if !s.silent.wait(ctx.Done()) {
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
	if !s.silent.begin() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timers = append(s.timers, time.AfterFunc(lasts, s.silent.end))
}

// heal takes back what has not happened yet and ends what has.
func (s *stream) heal() {
	s.mu.Lock()
	for _, timer := range s.timers {
		timer.Stop()
	}
	s.timers = nil
	s.mu.Unlock()
	s.silent.end()
}
