/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import "syscall"

const (
	// filesWanted is for an API server to which 10,000 agents come back at once.
	filesWanted = 100_000
	// filesOfHeld is how many files this process has open for a worker that is held in container mode: the connection
	// of its agent, the port of its barrier, and both ends of a probe that waits.
	filesOfHeld = 4
	// filesOfRest is more than all else has open.
	filesOfRest = 1000
)

// raiseOpenFiles raises the limit of open files, which what is started inherits. Not everybody may.
func raiseOpenFiles() {
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: filesWanted, Max: filesWanted})
}

// portsSuffice says whether so many barriers can have ports that are real. Otherwise they are in memory.
func portsSuffice(workers int) bool {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return err != nil || uint64(workers*filesOfHeld+filesOfRest) <= limit.Cur
}
