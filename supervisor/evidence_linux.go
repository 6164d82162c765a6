/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

const (
	// examineTimeout bounds how long a restart waits for the process table, and then for the evidence, examineAtMost of how
	// many processes.
	examineTimeout = 100 * time.Millisecond
	examineAtMost  = 64
	// maxDescriptors is how many descriptors of a process are looked at for sockets.
	maxDescriptors = 1024
	// tick is the unit of CPU times in /proc.
	tick = 10 * time.Millisecond
	// unread stands for what may not be read, or says nothing.
	unread = "-"
)

// The lines around evidence in the log of a container. Programs look for them.
const (
	evidenceBegins = "evidence of a worker that gives no sign: begin"
	evidenceEnds   = "evidence of a worker that gives no sign: end"
)

// observed is what one process of a worker did.
type observed struct {
	pid   int
	name  string
	state byte
	// wchan is the function of the kernel in which it sleeps, call its system call.
	wchan, call string
	cpu         time.Duration
	sockets     int
}

func (o observed) place() string {
	if o.wchan == unread && o.call == unread {
		return string(o.state)
	}
	return fmt.Sprintf("%c %s %s", o.state, o.wchan, o.call)
}

// Note remembers the CPU time of each process, which Examine compares with, and returns the digest.
func (c *container) Note() protocol.Evidence {
	all := examine(c.root())
	c.noted = make(map[int]time.Duration, len(all))
	for _, o := range all {
		c.noted[o.pid] = o.cpu
	}
	return digestOf(all)
}

func digestOf(all []observed) protocol.Evidence {
	places := make([]string, len(all))
	for i, o := range all {
		places[i] = o.place()
	}
	return protocol.NewEvidence(places)
}

// Examine writes to the log what the processes of the worker do, and returns the digest of that (P134).
func (c *container) Examine() protocol.Evidence {
	all := examine(c.root())
	c.log.Info(evidenceBegins, "processes", len(all))
	for _, o := range all {
		words := []any{"pid", o.pid, "name", o.name, "state", string(o.state), "wchan", o.wchan, "syscall", o.call, "sockets", o.sockets}
		if before, ok := c.noted[o.pid]; ok {
			words = append(words, "cpuSinceHalfTheLimit", o.cpu-before)
		}
		c.log.Info("process", words...)
	}
	c.log.Info(evidenceEnds)
	return digestOf(all)
}

// examine looks at the processes of the worker, which are below root, until its time is over. It reads in another goroutine: a file system
// whose server is away holds whoever asks it for the kind of a file.
func examine(root int) []observed {
	pids := slices.Sorted(maps.Keys(descendants(processes(time.Now().Add(examineTimeout)), root)))
	pids = pids[:min(len(pids), examineAtMost)]
	results := make(chan observed, len(pids))
	go func() {
		defer close(results)
		for _, pid := range pids {
			if o, ok := observe(pid); ok {
				results <- o
			}
		}
	}()
	var all []observed
	for timeout := time.After(examineTimeout); ; {
		select {
		case o, more := <-results:
			if !more {
				return all
			}
			all = append(all, o)
		case <-timeout:
			return all
		}
	}
}

// observe reads what there is of a process in /proc. A zombie does nothing.
func observe(pid int) (observed, bool) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return observed{}, false
	}
	o, ok := parseObserved(pid, stat)
	if !ok || o.state == 'Z' || o.state == 'X' {
		return observed{}, false
	}
	o.wchan, o.call = unread, unread
	if text, err := os.ReadFile(filepath.Join(dir, "wchan")); err == nil && len(text) > 0 && string(text) != "0" {
		o.wchan = string(text)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "syscall")); err == nil {
		o.call = callOf(dir, strings.Fields(string(text)))
	}
	o.sockets = countSockets(filepath.Join(dir, "fd"))
	return o, true
}

// parseObserved reads user and system time in fields 14 and 15, besides name and state.
func parseObserved(pid int, stat []byte) (observed, bool) {
	name, fields := splitStat(stat)
	if len(fields) < 13 || len(fields[0]) != 1 {
		return observed{}, false
	}
	user, err := strconv.ParseInt(string(fields[11]), 10, 64)
	system, err2 := strconv.ParseInt(string(fields[12]), 10, 64)
	return observed{
		pid: pid, name: string(name), state: fields[0][0], cpu: time.Duration(user+system) * tick,
	}, err == nil && err2 == nil
}

// calls are the system calls that have names in a digest. Those of descriptors have one as their first argument.
var calls = map[int64]struct {
	name       string
	descriptor bool
}{
	syscall.SYS_READ: {"read", true}, syscall.SYS_WRITE: {"write", true}, syscall.SYS_READV: {"readv", true}, syscall.SYS_WRITEV: {"writev", true},
	syscall.SYS_PREAD64: {"pread64", true}, syscall.SYS_PWRITE64: {"pwrite64", true}, syscall.SYS_IOCTL: {"ioctl", true},
	syscall.SYS_FSYNC: {"fsync", true}, syscall.SYS_FLOCK: {"flock", true}, syscall.SYS_FCNTL: {"fcntl", true},
	syscall.SYS_RECVFROM: {"recvfrom", true}, syscall.SYS_RECVMSG: {"recvmsg", true}, syscall.SYS_SENDTO: {"sendto", true},
	syscall.SYS_SENDMSG: {"sendmsg", true}, syscall.SYS_CONNECT: {"connect", true}, syscall.SYS_ACCEPT: {"accept", true}, syscall.SYS_ACCEPT4: {"accept4", true},
	syscall.SYS_EPOLL_PWAIT: {"epoll_pwait", true},
	syscall.SYS_FUTEX:       {"futex", false}, syscall.SYS_PPOLL: {"ppoll", false}, syscall.SYS_PSELECT6: {"pselect6", false}, syscall.SYS_WAIT4: {"wait4", false},
	syscall.SYS_OPENAT: {"openat", false}, syscall.SYS_NANOSLEEP: {"nanosleep", false}, syscall.SYS_CLOCK_NANOSLEEP: {"clock_nanosleep", false},
	syscall.SYS_RT_SIGSUSPEND: {"rt_sigsuspend", false}, syscall.SYS_RT_SIGTIMEDWAIT: {"rt_sigtimedwait", false},
}

// callOf returns the name of a system call, with the kind of file that it is about: read(fifo).
func callOf(dir string, fields []string) string {
	if len(fields) == 0 {
		return unread
	}
	number, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil || number < 0 { // "running", or in no call
		return unread
	}
	call, known := calls[number]
	if !known {
		return fmt.Sprintf("syscall_%d", number)
	}
	if !call.descriptor || len(fields) < 2 {
		return call.name
	}
	descriptor, err := strconv.ParseUint(fields[1], 0, 64)
	if err != nil {
		return call.name
	}
	return call.name + "(" + kindOf(filepath.Join(dir, "fd", strconv.FormatUint(descriptor, 10))) + ")"
}

// kindOf returns the kind of file behind a descriptor.
func kindOf(link string) string {
	target, err := os.Readlink(link)
	if err != nil {
		return unread
	}
	if kind, _, ok := strings.Cut(target, ":["); ok && !strings.HasPrefix(target, "/") {
		return kind // socket, pipe, anon_inode
	}
	info, err := os.Stat(link)
	switch {
	case err != nil:
		return "file"
	case info.Mode()&os.ModeNamedPipe != 0:
		return "fifo"
	case info.Mode()&os.ModeDevice != 0:
		return "device"
	case info.IsDir():
		return "directory"
	}
	return "file"
}

func countSockets(dir string) int {
	open, err := os.Open(dir)
	if err != nil {
		return 0
	}
	defer func() { _ = open.Close() }()
	names, _ := open.Readdirnames(maxDescriptors)
	count := 0
	for _, name := range names {
		if target, err := os.Readlink(filepath.Join(dir, name)); err == nil && strings.HasPrefix(target, "socket:") {
			count++
		}
	}
	return count
}
