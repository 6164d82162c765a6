/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"fmt"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

func TestConnectionsBreakAnywhere(t *testing.T) {
	// Each message, of both sides, is the last of its connection once, delivered or lost, and the supervisor is the same
	// afterwards or a new one. Whatever breaks, the worker runs at S in the end, and no supervisor runs an epoch twice.
	for cut := 1; cut <= 10; cut++ {
		for _, delivered := range []bool{false, true} {
			for _, killed := range []bool{false, true} {
				name := fmt.Sprintf("P62 P65: after message %d, delivered: %v, container restarted: %v", cut, delivered, killed)
				bubble(t, name, func(t *testing.T, fake *fakeAPI) { breakAfter(t, fake, cut, delivered, killed) })
			}
		}
	}
}

func breakAfter(t *testing.T, fake *fakeAPI, cut int, delivered, killed bool) {
	js := at(0, 0)
	fake.set(js)
	pod := newPod(t, "a", "x")
	agent := pod.start(t, fake)
	x := &actor{t: t, pod: pod, container: "x", state: protocol.Held, loyal: true}
	lines := &lineCount{cut: cut, delivered: delivered, broken: func() {
		if killed {
			x.mu.Lock()
			x.state, x.epoch, x.exit = protocol.Held, 0, nil
			x.mu.Unlock()
		}
	}}
	x.wrap = func(c net.Conn) net.Conn { return &cutConn{Conn: c, lines: lines} }
	t.Cleanup(x.kill)
	x.connect()
	failures := 0
	for range 60 {
		pass(100 * time.Millisecond)
		report := fake.lastReport("a")
		switch {
		case js.Deprecated < js.Synced && report == strconv.Itoa(int(js.Synced+1)):
			js.Deprecated = js.Synced
		case js.Deprecated == js.Synced && report == strconv.Itoa(int(js.Synced+1)):
			js.Synced++
		case x.runs() == js.Synced && failures == 0:
			failures++
			x.fails(1)
			continue
		case x.runs() == js.Synced && failures == 1:
			failures++
			js.Deprecated = js.Synced
		}
		fake.set(js)
	}
	wantRuns(t, agent, js.Synced, x)
	if failures != 2 || js.Synced > 5 {
		t.Errorf("%d failures, S is %d; log:\n%s", failures, js.Synced, agent.log)
	}
	if lines.seen < cut {
		t.Errorf("there were only %d messages", lines.seen)
	}
	for i := 1; i < len(x.ran); i++ {
		if x.ran[i] <= x.ran[i-1] {
			t.Errorf("the worker ran in epochs %v", x.ran)
		}
	}
}

// lineCount counts the messages of both sides of a supervisor's connections.
type lineCount struct {
	mu        sync.Mutex
	seen      int
	cut       int
	delivered bool
	broken    func()
}

// next counts a message, and reports whether it arrives and whether the connection ends with it.
func (l *lineCount) next() (arrives, ends bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen++
	ends = l.seen == l.cut
	if ends {
		l.broken()
	}
	return !ends || l.delivered, ends
}

// cutConn is the supervisor's end of a connection that breaks. A write is one message, and so is a read.
type cutConn struct {
	net.Conn
	lines *lineCount
}

func (c *cutConn) Write(p []byte) (int, error) {
	arrives, ends := c.lines.next()
	if ends {
		defer func() { _ = c.Close() }()
	}
	if !arrives {
		return 0, net.ErrClosed
	}
	return c.Conn.Write(p)
}

func (c *cutConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		return n, err
	}
	arrives, ends := c.lines.next()
	if ends {
		_ = c.Close()
	}
	if !arrives {
		return 0, net.ErrClosed
	}
	return n, nil
}
