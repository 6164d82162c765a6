/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package order is what the program of test Pods can be told by signals, the
// only words that reach a process from outside whatever it runs in.
package order

import (
	"os"
	"slices"
	"syscall"
)

// first is the first real-time signal that neither a C library nor the Go
// runtime keeps for itself.
const first = 35

// codes are what the signals from first on make a process exit with.
var codes = func() []int {
	var list []int
	for code := range 24 {
		list = append(list, code)
	}
	return append(list, 64, 88, 137, 143)
}()

const (
	// Eat makes a process allocate memory until it is killed.
	Eat = syscall.Signal(63)
	// Hang lets a process go on and give no sign of life any more.
	Hang = syscall.Signal(64)
	// Done and Fail are the short words for exit codes 0 and 1.
	Done, Fail = syscall.SIGUSR1, syscall.SIGUSR2
)

// Exit returns the signal that makes a process exit with a code. There is one
// for 0 to 23 and for 64, 88, 137 and 143.
func Exit(code int) syscall.Signal {
	i := slices.Index(codes, code)
	if i < 0 {
		panic("no signal asks for this exit code")
	}
	return syscall.Signal(first + i)
}

// CodeOf returns the exit code that a signal asks for.
func CodeOf(received os.Signal) (code int, known bool) {
	sig, ok := received.(syscall.Signal)
	if !ok {
		return 0, false
	}
	switch sig {
	case syscall.SIGTERM, syscall.SIGINT:
		return 128 + int(sig), true
	case Done:
		return 0, true
	case Fail:
		return 1, true
	}
	if i := int(sig) - first; i >= 0 && i < len(codes) {
		return codes[i], true
	}
	return 0, false
}

// Signals are all that an ordered exit may arrive as, but for SIGTERM and SIGINT.
func Signals() []os.Signal {
	all := []os.Signal{Done, Fail}
	for i := range codes {
		all = append(all, syscall.Signal(first+i))
	}
	return all
}
