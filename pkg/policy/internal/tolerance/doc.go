/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package tolerance has the steps of spec.faultTolerance: what is unhealthy, deleted by force or released, which nodes Pods avoid
// and leave, and what waits for a queue.
package tolerance
