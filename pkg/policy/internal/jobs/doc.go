/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package jobs has the steps about Jobs: which are created, suspended, resumed and deleted, and what blocks them; failure and success
// policies, startup order, executions, volume claims, and all charges to maxRestarts.
package jobs
