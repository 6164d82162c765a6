/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

const (
	// openPath is O_PATH: a descriptor that names a file and does not open it.
	openPath = 0x200000
	modeGate = 0o666
)

// gate is the pipe that a program reads before it touches anything (P160). What opens it is the pipe itself, by its
// descriptor: whoever shares the volume may put something else in the place of its name.
type gate struct {
	path string
	pipe int
	// abandoned: nobody is to be let through any more; passed: somebody was.
	abandoned, passed atomic.Bool
	// attended is closed when nobody attends the gate any more; nil if nobody ever has.
	attended chan struct{}
}

// newGate makes a gate that no other program has.
func newGate(path string) (*gate, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if err := syscall.Mkfifo(path, modeGate); err != nil {
		return nil, &os.PathError{Op: "mkfifo", Path: path, Err: err}
	}
	pipe, err := syscall.Open(path, openPath|syscall.O_CLOEXEC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	g := &gate{path: path, pipe: pipe}
	var is syscall.Stat_t
	if err := syscall.Fstat(pipe, &is); err != nil || is.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		g.abandon()
		return nil, fmt.Errorf("%s was replaced by something that is no pipe", path)
	}
	// The program may run as another user than the supervisor. Whoever reaches the volume is in this Pod.
	if err := os.Chmod(link(g.pipe), modeGate); err != nil {
		g.abandon()
		return nil, err
	}
	return g, nil
}

// link leads to a pipe whatever its name leads to.
func link(pipe int) string { return "/proc/self/fd/" + strconv.Itoa(pipe) }

// pass writes the line if somebody waits at the gate now, and never blocks.
func (g *gate) pass(line []byte) error {
	return g.open(g.pipe, line, syscall.O_NONBLOCK)
}

// attend lets through whoever comes to the gate, at any later time, and then makes the supervisor look. It blocks a
// thread until then, or until the gate is abandoned.
func (g *gate) attend(line []byte, changed chan os.Signal) error {
	pipe, err := syscall.Dup(g.pipe) // its own, since the number of a closed one is soon that of something else
	if err != nil {
		return os.NewSyscallError("dup", err)
	}
	syscall.CloseOnExec(pipe)
	g.attended = make(chan struct{})
	go func() {
		defer close(g.attended)
		defer func() { _ = syscall.Close(pipe) }()
		if g.open(pipe, line, 0) == nil {
			nudge(changed)
		}
	}()
	return nil
}

func (g *gate) open(pipe int, line []byte, how int) error {
	var into int
	for err := error(syscall.EINTR); errors.Is(err, syscall.EINTR); {
		if g.abandoned.Load() {
			return os.ErrClosed
		}
		if into, err = syscall.Open(link(pipe), syscall.O_WRONLY|syscall.O_CLOEXEC|how, 0); err != nil && !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("open", err) // ENXIO: nobody is there
		}
	}
	defer func() { _ = syscall.Close(into) }()
	if g.abandoned.Load() {
		return os.ErrClosed
	}
	// Who wrote into the pipe itself until it was full must not hold the supervisor up.
	_ = syscall.SetNonblock(into, true)
	if _, err := syscall.Write(into, line); err != nil {
		return os.NewSyscallError("write", err)
	}
	g.passed.Store(true)
	_ = os.Remove(g.path) // so that a second open fails, and does not wait for a second line
	return nil
}

// abandon lets nobody through any more. It frees a thread that attends the gate. One that had just looked whether the gate is
// abandoned opens the pipe later, and would block without limit if no reader stayed until then.
func (g *gate) abandon() {
	if g == nil || g.abandoned.Swap(true) {
		return
	}
	_ = os.Remove(g.path)
	if from, err := syscall.Open(link(g.pipe), syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0); err == nil {
		if g.attended != nil {
			go func() {
				<-g.attended
				_ = syscall.Close(from)
			}()
		} else {
			_ = syscall.Close(from)
		}
	}
	_ = syscall.Close(g.pipe)
}

// gateLine is what is written into a gate: all variables that the run decides.
func gateLine(variables []string) ([]byte, error) {
	all := make(map[string]string, len(variables))
	for _, v := range variables {
		name := nameOf(v)
		all[name] = v[min(len(v), len(name)+1):]
	}
	line, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	if len(line) >= protocol.MaxGateLine {
		return nil, fmt.Errorf("the variables of the run take %d bytes as JSON, and at most %d fit through a gate", len(line), protocol.MaxGateLine-1)
	}
	return append(line, '\n'), nil
}
