/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package shared

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

// TestTheModeOfAFileThatANeighbourReplaces: each of these had its mode changed when the name was followed.
func TestTheModeOfAFileThatANeighbourReplaces(t *testing.T) {
	t.Parallel()
	socket := func(path string) error {
		listener, err := net.Listen("unix", path)
		if err == nil {
			t.Cleanup(func() { _ = listener.Close() })
		}
		return err
	}
	for name, tc := range map[string]struct {
		// put makes what has the name, and returns the victim.
		put  func(path, victim string) error
		kind os.FileMode
		want bool
	}{
		"P61b: the socket itself":                {func(path, _ string) error { return socket(path) }, os.ModeSocket, true},
		"P61b: the directory itself":             {func(path, _ string) error { return os.Mkdir(path, 0o700) }, os.ModeDir, true},
		"P61b: a link to a file":                 {func(path, victim string) error { return os.Symlink(victim, path) }, os.ModeSocket, false},
		"P61b: a file under a second name":       {func(path, victim string) error { return os.Link(victim, path) }, os.ModeSocket, false},
		"P61b: a link in place of a directory":   {func(path, victim string) error { return os.Symlink(filepath.Dir(victim), path) }, os.ModeDir, false},
		"P61b: a directory in place of a socket": {func(path, _ string) error { return os.Mkdir(path, 0o700) }, os.ModeSocket, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, own := t.TempDir(), filepath.Join(t.TempDir(), "own")
			path, victim := filepath.Join(dir, "s"), filepath.Join(own, "victim")
			if err := os.Mkdir(own, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(victim, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := tc.put(path, victim); err != nil {
				t.Fatal(err)
			}
			if err := Chmod(path, tc.kind, 0o666); (err == nil) != tc.want {
				t.Errorf("got %v", err)
			}
			for path, want := range map[string]os.FileMode{victim: 0o600, own: 0o700 | os.ModeDir} {
				if info, err := os.Stat(path); err != nil || info.Mode() != want {
					t.Errorf("P61b: the mode of %s became %v, %v", path, info.Mode(), err)
				}
			}
			if info, err := os.Lstat(path); tc.want && (err != nil || info.Mode() != tc.kind|0o666) {
				t.Errorf("its mode is %v, %v", info.Mode(), err)
			}
		})
	}
}
