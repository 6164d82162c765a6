/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"errors"
	"fmt"
	"io"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

const (
	firstRetry = 10 * time.Millisecond
	lastRetry  = time.Second
	// patience is how long an agent may be away before the log says so.
	patience = 10 * time.Second
)

// Conn is a connection to the agent.
type Conn interface {
	io.ReadWriteCloser
	SetWriteDeadline(time.Time) error
}

// arrival is what comes from the agent: a message, a problem that ended the connection, or else a connection.
type arrival struct {
	conn    Conn
	message *protocol.Message
	problem error
}

// connect keeps one connection to the agent, until over is closed. What one connection brings is received completely
// before the next one begins (P62).
func connect(dial func() (Conn, error), arrivals chan<- arrival, over <-chan struct{}) {
	pass := func(a arrival) {
		select {
		case arrivals <- a:
		case <-over:
		}
	}
	retry, lost, warned := firstRetry, time.Now(), false
	for {
		conn, err := dial()
		if err == nil {
			began := time.Now()
			pass(arrival{conn: conn})
			heard, err := read(conn, pass)
			_ = conn.Close()
			pass(arrival{conn: conn, problem: err})
			lost, warned = time.Now(), false
			if heard || time.Since(began) > lastRetry {
				retry = firstRetry // else it is an agent that ends every connection at once
			}
		} else if !warned && time.Since(lost) > patience {
			warned = true
			pass(arrival{problem: fmt.Errorf("for %s: %w", patience, err)})
		}
		select {
		case <-time.After(retry):
		case <-over:
			return
		}
		retry = min(2*retry, lastRetry)
	}
}

// read passes messages on until the connection ends, and returns why it ended. Heard reports whether there were any.
func read(conn Conn, pass func(arrival)) (heard bool, problem error) {
	messages := protocol.NewReader(conn)
	for {
		m, err := messages.Next()
		switch {
		case errors.Is(err, io.EOF):
			return heard, errors.New("the agent has ended it")
		case err != nil:
			return heard, err
		}
		switch m.Type {
		case protocol.Start, protocol.Stop, protocol.Leave:
		default:
			return heard, fmt.Errorf("an agent does not send %s", m.Type)
		}
		heard = true
		pass(arrival{conn: conn, message: &m})
	}
}
