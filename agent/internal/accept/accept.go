/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package accept has what the two servers of the agent, that of supervisors and that of the startup probe, do when a connection
// cannot be accepted.
package accept

import (
	"errors"
	"syscall"
	"time"
)

// RetryAfter is how long a node that is short of a resource has until the next connection is accepted.
const RetryAfter = 100 * time.Millisecond

// IsShort reports whether a connection was not accepted because the node, or the container, is short of a resource, which is
// no reason to end the agent.
func IsShort(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM)
}
