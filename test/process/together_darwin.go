/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import "syscall"

// dieTogether has no portable form.
func dieTogether(*syscall.SysProcAttr) {}
