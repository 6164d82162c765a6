/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// shorten lets a process find what is in its working directory, where emptyDirs are, by a path short enough for a socket.
func shorten(cmd *exec.Cmd) {
	long := strings.NewReplacer(cmd.Dir+"/", "/proc/self/cwd/")
	cmd.Path = long.Replace(cmd.Path)
	for i := range cmd.Args {
		cmd.Args[i] = long.Replace(cmd.Args[i])
	}
	for i := range cmd.Env {
		cmd.Env[i] = long.Replace(cmd.Env[i])
	}
}

// waitWithoutReaping returns when the process has ended and leaves it a zombie, so that its id stays taken.
func waitWithoutReaping(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// killSession kills what is left of the session that a process leads, its own process groups or not, until nothing is.
// The process has ended and is a zombie, so the id of the session is still its own.
func killSession(leader int) {
	for {
		found := false
		dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, dir := range dirs {
			if pid, session := sessionOf(dir); session == leader && pid != leader {
				found = true
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if !found {
			return
		}
	}
}

// sessionOf reads the id of a process and of its session; a zombie and a process that has gone have none.
func sessionOf(stat string) (pid, session int) {
	text, err := os.ReadFile(stat)
	if err != nil {
		return 0, 0
	}
	// pid (name) state ppid group session ...; the name may hold anything.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 4 || fields[0] == "Z" || fields[0] == "X" {
		return 0, 0
	}
	pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(stat)))
	session, _ = strconv.Atoi(fields[3])
	return pid, session
}
