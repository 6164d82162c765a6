/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import "syscall"

func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// waitWithoutReaping has no portable form; what is left of the group is then killed only by Kill.
func waitWithoutReaping(int) {}
