/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"context"
	"errors"
	"time"
)

// success is a report that nothing but the end of the agent ends (P151). The zero value is none.
type success struct {
	// over is closed once it is.
	over chan struct{}
	stop context.CancelFunc
}

// lastWordsWithin is how long an agent that was told to end goes on reporting that all workers have finished. The kubelet tells it
// to as soon as they have, perhaps while the API server has asked the agent to come back in a second.
const lastWordsWithin = 5 * time.Second

// lastWords ends the report that all workers have finished, if it is not accepted in time. A context that no signal has ended
// stands for a process that was killed, which says nothing more.
func (p *process) lastWords(ctx context.Context) {
	if p.success.stop == nil {
		return
	}
	defer p.success.stop()
	var told stopSignal
	if cause := context.Cause(ctx); cause != nil && !errors.As(cause, &told) {
		return
	}
	select {
	case <-p.success.over:
	case <-time.After(lastWordsWithin):
	}
}
