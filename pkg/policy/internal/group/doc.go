/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package group has the steps of groups that restart in place: what lifts and breaks them, who is late, lost or hung, and how long
// each state lasted.
package group
