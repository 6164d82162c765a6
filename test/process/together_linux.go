/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import "syscall"

func dieTogether(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }
