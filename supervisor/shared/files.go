/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package shared is how agent and supervisors use files where others may put something else in the place of a name: in the
// volume that the containers of a Pod share.
package shared

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// OpenRegular opens a regular file, or makes one. It follows no link, and does not wait for the other end of a pipe.
func OpenRegular(path string, flags int) (*os.File, error) {
	file, err := os.OpenFile(path, flags|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", path)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// Chmod gives what this process has just made its mode, and nothing else that has taken its name since.
func Chmod(path string, kind, mode os.FileMode) error {
	const openPath = 0x200000 // O_PATH: a descriptor that names a file and does not open it
	file, err := os.OpenFile(path, openPath|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	switch is, ok := info.Sys().(*syscall.Stat_t); {
	case info.Mode().Type() != kind:
		return fmt.Errorf("%s was replaced by something else: its mode is %s", path, info.Mode())
	case info.Mode()&^os.ModeSetgid == kind|mode: // which fsGroup adds
		return nil // made by an earlier run, perhaps of another user
	case !ok || int(is.Uid) != os.Geteuid():
		return fmt.Errorf("%s has mode %s and belongs to user %d", path, info.Mode(), is.Uid)
	}
	return os.Chmod("/proc/self/fd/"+strconv.Itoa(int(file.Fd())), mode)
}
