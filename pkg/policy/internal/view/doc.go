/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package view is what every step looks at: the input of a pass, and what the JobSet, its Jobs and its Pods add up to. No step
// changes it.
package view
