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
	"syscall"
	"testing"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// A worker may have filled the volume, and whoever must be replaced frees nothing of it.
func TestAFullVolumeKeepsNobodyFromLeaving(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root mounts")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("this machine mounts nothing: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	if err := os.Mkdir(filepath.Join(dir, protocol.RunDir), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "full"), make([]byte, 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the volume is not full: %v", err)
	}
	s := &supervisors{dir: dir, log: slog.New(slog.DiscardHandler)}
	if err := s.writeLeave("so it is"); err != nil {
		t.Errorf("P70: %v", err)
	}
	if because := s.readLeave(); because != "an earlier agent decided so" {
		t.Errorf("P70: a later agent leaves because %q", because)
	}
}
