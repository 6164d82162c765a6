/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"os"
	"syscall"
)

// dial connects to a Unix socket. Package net would be a sixth of the binary, all of it resident.
func dial(path string) (Conn, error) {
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	// This never blocks: the agent accepts, no process listens, or too many are waiting.
	if err := syscall.Connect(socket, &syscall.SockaddrUnix{Name: path}); err != nil {
		_ = syscall.Close(socket)
		return nil, &os.PathError{Op: "connect", Path: path, Err: err}
	}
	return os.NewFile(uintptr(socket), path), nil
}
