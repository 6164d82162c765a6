/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/supervisor/setting"
	"sigs.k8s.io/jobset/supervisor/shared"
)

const (
	modeExecutable = 0o755
	// modeShared lets each container write as its own user, like in /tmp.
	modeShared = 0o777 | os.ModeSticky
	// modeUnfinished is that of a directory until it has its own.
	modeUnfinished = 0o700
	mountNoexec    = 8
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
	path := filepath.Join(dir, protocol.Binary)
	if isCopy(path, self) {
		return nil // of an earlier start of the agent, and now there may be no room for another one (P75a)
	}
	if _, err := self.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return replace(path, modeExecutable, func(w io.Writer) error {
		_, err := io.Copy(w, self)
		return err
	})
}

// isCopy reports whether a file that others can execute has the same content as this program.
func isCopy(path string, self io.Reader) bool {
	file, err := shared.OpenRegular(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil || info.Mode().Perm() != modeExecutable {
		return false
	}
	mine, theirs := bufio.NewReader(self), bufio.NewReader(file)
	for {
		a, errA := mine.ReadByte()
		b, errB := theirs.ReadByte()
		if a != b || (errA == nil) != (errB == nil) {
			return false
		}
		if errA != nil {
			return errors.Is(errA, io.EOF) && errors.Is(errB, io.EOF)
		}
	}
}

// makeDir makes a directory with exactly this mode; mkdir alone would take the umask away.
func makeDir(path string, mode os.FileMode) error {
	if err := os.Mkdir(path, modeUnfinished); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return shared.Chmod(path, os.ModeDir, mode)
}
