/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package elastic has the steps that follow what the planner of elastic groups says about sizes.
package elastic
