/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// archive writes the files of a directory, sorted, as root's and with one time. Their
// mode is 0755 if the owner may execute them and 0644 if not, whatever the umask was.
func archive(o options) (err error) {
	file, err := os.Create(o.out)
	if err != nil {
		return fmt.Errorf("creating an archive: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	compressor := gzip.NewWriter(file) // its header has neither a name nor a time
	writer := tar.NewWriter(compressor)
	for _, directory := range o.args {
		if err := addDirectory(writer, directory, time.Unix(o.time, 0).UTC()); err != nil {
			return fmt.Errorf("adding %s to %s: %w", directory, o.out, err)
		}
	}
	return errors.Join(writer.Close(), compressor.Close())
}

// addDirectory adds what is below a directory. WalkDir goes in the order of names.
func addDirectory(writer *tar.Writer, directory string, at time.Time) error {
	return filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is not a regular file", path)
		}
		name, err := filepath.Rel(directory, path)
		if err != nil {
			return err
		}
		header := &tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Mode: 0o644, Size: info.Size(), ModTime: at, Format: tar.FormatPAX}
		if info.Mode()&0o100 != 0 {
			header.Mode = 0o755
		}
		if err := writer.WriteHeader(header); err != nil {
			return err
		}
		source, err := os.Open(path)
		if err != nil {
			return err
		}
		defer func() { _ = source.Close() }()
		_, err = io.Copy(writer, source)
		return err
	})
}
