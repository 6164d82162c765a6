/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package pass is what goes into a pass of the controller, and what comes out: Input, the Result of each step, and the Plan that
// results add up to, with its operations, conditions, events and counts, and the words of causes.
package pass
