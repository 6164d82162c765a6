/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package access has the steps about the rights of agents: what is granted, what an account lacks, and the admission policies
// that restrict them.
package access
