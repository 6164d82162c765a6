/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/supervisor/setting"
)

const (
	modeExecutable = 0o755
	// modeShared lets each container write as its own user, like in /tmp.
	modeShared  = 0o777 | os.ModeSticky
	mountNoexec = 8
)

// install copies this program into the shared volume, and makes the directory where agent and supervisors meet.
func install(dir string) error {
	problem := &setting.Error{
		Setting: "install " + dir,
		Fix:     "mount an emptyDir there in the container that installs the supervisor, and let its user write to it",
	}
	if err := prepare(dir); err != nil {
		problem.Problem = fmt.Sprintf("failed: %v", err)
		return problem
	}
	var mount syscall.Statfs_t
	if err := syscall.Statfs(dir, &mount); err == nil && mount.Flags&mountNoexec != 0 {
		problem.Problem = "is a volume that the node mounts noexec, so no container can execute the supervisor"
		problem.Fix = "mount the file system of the kubelet's directory without noexec on this node, or set inPlaceRestart.mode: Container in the failure policy"
		return problem
	}
	return nil
}

func prepare(dir string) error {
	for name, mode := range map[string]os.FileMode{protocol.BinDir: modeExecutable, protocol.RunDir: modeShared} {
		if err := makeDir(filepath.Join(dir, name), mode); err != nil {
			return err
		}
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer func() { _ = self.Close() }()
	return replace(filepath.Join(dir, protocol.Binary), modeExecutable, func(w io.Writer) error {
		_, err := io.Copy(w, self)
		return err
	})
}

// makeDir makes a directory with exactly this mode; mkdir alone would take the umask away.
func makeDir(path string, mode os.FileMode) error {
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode()&(os.ModePerm|os.ModeSticky) == mode {
		return nil // made by an earlier run, perhaps of another user
	}
	return os.Chmod(path, mode)
}
