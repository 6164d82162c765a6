/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package jobs has the steps about Jobs: which are created, resumed, scaled and deleted, failure and success policies, startup
// order, volume claims, and all charges to maxRestarts.
package jobs
