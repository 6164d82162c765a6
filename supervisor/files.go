/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// replace writes a file so that whoever looks sees all of it or nothing.
func replace(path string, mode os.FileMode, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".*")
	if err != nil {
		return err
	}
	err = errors.Join(write(file), file.Chmod(mode), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// modeReadable lets an agent read what a worker's user has written.
const modeReadable = 0o644

// isDone reports whether a file says that the worker has finished. Every worker of the Pod can make links and pipes
// there; only a regular file counts.
func isDone(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// writeDone says that the worker has finished. The file counts even if there is no room for the message.
func writeDone(path string, m protocol.Message) error {
	text, err := protocol.Encode(m)
	if err != nil {
		return err
	}
	err = replace(path, modeReadable, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		err = replace(path, modeReadable, func(io.Writer) error { return nil })
	}
	return err
}
