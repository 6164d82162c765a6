/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import "os/exec"

// waitWithoutReaping has no portable form; what is left of the group is then killed only by Kill.
func waitWithoutReaping(int) {}

// shorten has none.
func shorten(*exec.Cmd) {}

// killSession has no portable form either.
func killSession(int) {}
