/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Slots is how many test programs of a machine may run side by side without sharing ports or addresses.
const Slots = 20

// Slot is the number of this program among those that run on this machine, from 0 to Slots-1. It is taken by a file
// lock when it is first asked for, and given back by the kernel when the program ends, however it ends. Ports and
// loopback addresses are divided by it: they are chosen long before anything listens there, when no other program
// can see that they are taken.
var Slot = sync.OnceValues(func() (int, error) {
	for slot := range Slots {
		path := filepath.Join(os.TempDir(), fmt.Sprintf("jobset-test-slot-%d.lock", slot))
		// Not an os.File, which is closed when nothing refers to it any more.
		file, err := syscall.Open(path, syscall.O_CREAT|syscall.O_RDWR|syscall.O_CLOEXEC, 0o666)
		if err != nil {
			return 0, fmt.Errorf("taking a slot of this machine: opening %s: %w", path, err)
		}
		if err := syscall.Flock(file, syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return slot, nil
		}
		_ = syscall.Close(file) // another program's
	}
	return 0, fmt.Errorf("%d test programs run on this machine already", Slots)
})
