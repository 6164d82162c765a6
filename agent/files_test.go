/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// TestWhatWorkersPutInTheWayOfTheAgent: each container of the Pod may create what it likes where they meet (P61).
func TestWhatWorkersPutInTheWayOfTheAgent(t *testing.T) {
	const secret = "for the agent alone"
	for name, put := range map[string]func(path, secretFile string) error{
		"P61: a link":                func(path, secretFile string) error { return os.Symlink(secretFile, path) },
		"P61: a link to nothing":     func(path, secretFile string) error { return os.Symlink(secretFile+"x", path) },
		"P61: a pipe":                func(path, _ string) error { return syscall.Mkfifo(path, 0o666) },
		"P61: a directory":           func(path, _ string) error { return os.Mkdir(path, 0o777) },
		"P61: a link to a directory": func(path, secretFile string) error { return os.Symlink(filepath.Dir(secretFile), path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &supervisors{dir: t.TempDir(), log: slog.New(slog.DiscardHandler)}
			own := t.TempDir()
			secretFile := filepath.Join(own, "secret")
			for _, err := range []error{
				os.Mkdir(filepath.Join(s.dir, protocol.RunDir), 0o700),
				os.WriteFile(secretFile, []byte(secret), 0o600),
				put(filepath.Join(s.dir, protocol.LeaveFile), secretFile),
				put(protocol.SharedFile(s.dir, "w", protocol.DoneFile), secretFile),
				os.MkdirAll(protocol.OwnFile(s.dir, "w", ""), 0o700),
				put(protocol.OwnFile(s.dir, "w", protocol.DoneFile), secretFile),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			over := make(chan struct{})
			go func() {
				defer close(over)
				if because := s.readLeave(); because == "" || strings.Contains(because, secret) {
					t.Errorf("P70: it leaves because %q", because)
				}
				if err := s.writeLeave("so it is"); err != nil {
					t.Errorf("P70: %v", err)
				}
				workers := []Worker{{Container: "w"}}
				if s.readDone(workers); workers[0].State == Done {
					t.Error("P67: what is no file counts as one")
				}
			}()
			select {
			case <-over:
			case <-time.After(30 * time.Second):
				t.Fatal("the agent hangs")
			}
			if files, err := os.ReadDir(own); err != nil || len(files) != 1 {
				t.Errorf("files of the agent: %v, %v", files, err)
			}
			if text, err := os.ReadFile(secretFile); err != nil || string(text) != secret {
				t.Errorf("the agent's own file has %q, %v", text, err)
			}
		})
	}
}

func TestWhereTheAgentFindsThatAWorkerIsDone(t *testing.T) {
	for name, file := range map[string]func(dir, container, name string) string{
		"P61a: in the directory of its container":      protocol.OwnFile,
		"P61a: in a Pod of an earlier manager, beside": protocol.SharedFile,
	} {
		t.Run(name, func(t *testing.T) {
			s := &supervisors{dir: t.TempDir(), log: slog.New(slog.DiscardHandler)}
			workers := []Worker{{Container: "w"}}
			if s.readDone(workers); workers[0].State == Done {
				t.Fatal("it is done without a file")
			}
			path := file(s.dir, "w", protocol.DoneFile)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			if s.readDone(workers); workers[0].State != Done {
				t.Error("it is not done")
			}
		})
	}
}
