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
	"syscall"
	"time"
	"unsafe"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

const (
	// gateDescriptor and wordDescriptor are those of a program for its gate. Scripts use the ones of a single digit.
	gateDescriptor, wordDescriptor = 10, 11
	// modeRead and modeWrite are modes of pipes: a program may have become another user than the supervisor when it
	// opens one, and does not write into its own gate by mistake.
	modeRead, modeWrite = 0o444, 0o222
	// readWithin is how long a program that has come to its gate may take to read its line. The supervisor does nothing else meanwhile.
	readWithin = 2 * time.Second
)

// gate is the pipe that a program reads before it touches anything, and one into which it says that it has come there
// (P160a). It inherits both: what has a name can be opened by the other containers of the Pod.
type gate struct {
	// reader and teller are the program's ends, until it has them; inode is that of the reader.
	reader, teller int
	inode          uint64
	// line leads into the gate, until a line is through.
	line int
	// rest shows what nobody has read, word whether the program has come.
	rest, word *os.File
}

// newGate makes a gate.
func newGate() (*gate, error) {
	g := &gate{reader: -1, teller: -1, line: -1}
	if err := g.open(); err != nil {
		g.abandon()
		return nil, fmt.Errorf("making a gate: %w", err)
	}
	return g, nil
}

func (g *gate) open() error {
	var line, word [2]int
	if err := syscall.Pipe2(line[:], syscall.O_CLOEXEC); err != nil {
		return os.NewSyscallError("pipe2", err)
	}
	g.reader, g.line = line[0], line[1]
	if err := syscall.Pipe2(word[:], syscall.O_CLOEXEC); err != nil {
		return os.NewSyscallError("pipe2", err)
	}
	g.teller = word[1]
	if err := errors.Join(syscall.SetNonblock(word[0], true), syscall.SetNonblock(g.line, true)); err != nil {
		return err
	}
	g.word = os.NewFile(uintptr(word[0]), "word")
	// Not the program's own end, which must block.
	rest, err := syscall.Open("/proc/self/fd/"+strconv.Itoa(g.reader), syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("open", err)
	}
	g.rest = os.NewFile(uintptr(rest), "gate")
	var is syscall.Stat_t
	err = errors.Join(syscall.Fstat(g.reader, &is), syscall.Fchmod(g.reader, modeRead), syscall.Fchmod(g.teller, modeWrite))
	g.inode = is.Ino
	return err
}

// env says where the gate is. By the inode a program whose launcher has closed the descriptors knows that it has another file.
func (g *gate) env() []string {
	return []string{
		fmt.Sprintf("%s=/dev/fd/%d", protocol.GateEnv, gateDescriptor), fmt.Sprintf("%s=%d", protocol.GateInodeEnv, g.inode),
		fmt.Sprintf("%s=/dev/fd/%d", protocol.GateReadyEnv, wordDescriptor),
	}
}

// inherited are the files of a process from descriptor 3 on, of which that one and those of a gate are open.
func inherited(third, reader, teller uintptr) []uintptr {
	files := make([]uintptr, wordDescriptor-2)
	for i := range files {
		files[i] = closed
	}
	files[0], files[gateDescriptor-3], files[wordDescriptor-3] = third, reader, teller
	return files
}

// closed is a descriptor that a process does not get.
const closed = ^uintptr(0)

// handOver closes the ends that the program has now.
func (g *gate) handOver() {
	shut(&g.reader)
	shut(&g.teller)
}

func shut(descriptor *int) {
	if *descriptor >= 0 {
		_ = syscall.Close(*descriptor)
	}
	*descriptor = -1
}

// give writes the line, for a program that reads it at any later time.
func (g *gate) give(line []byte) error {
	defer shut(&g.line) // so that its reader comes to the end
	return g.write(line)
}

func (g *gate) write(line []byte) error {
	n, err := syscall.Write(g.line, line)
	if err == nil && n < len(line) {
		err = syscall.EAGAIN // a process of the program has written into it
	}
	return os.NewSyscallError("write", err)
}

var (
	errNotThere = errors.New("it has not come to its gate")
	errNotRead  = errors.New("it has reported that it is at its gate, and has not read its line")
)

// pass lets a program through that has come, and returns why it could not. Then the program has not got the
// whole line, nor will it (P62).
func (g *gate) pass(line []byte, gone func() bool) error {
	if bytesIn(g.word) <= 0 {
		return errNotThere
	}
	if err := g.write(line); err != nil {
		return err
	}
	end := time.Now().Add(readWithin)
	for wait := 20 * time.Microsecond; bytesIn(g.rest) > 0; wait = min(2*wait, 5*time.Millisecond) {
		if (gone() || time.Now().After(end)) && g.takeBack() {
			return errNotRead
		}
		<-time.After(wait)
	}
	shut(&g.line) // only now: of a line that was taken back there is no end that could be taken for one
	return nil
}

// takeBack reports whether some of the line could be read here.
func (g *gate) takeBack() (taken bool) {
	buffer := make([]byte, 2*protocol.MaxGateLine)
	with(g.rest, func(descriptor uintptr) {
		n, err := syscall.Read(int(descriptor), buffer)
		taken = err == nil && n > 0
	})
	return taken
}

// passed reports whether the program has come and read its line.
func (g *gate) passed() bool { return bytesIn(g.word) > 0 && g.isRead() }

// isRead reports whether nothing is left of a line that was written.
func (g *gate) isRead() bool { return g.line < 0 && bytesIn(g.rest) == 0 }

// attend makes the supervisor look when the program has passed. It returns then, or when the gate is abandoned.
func (g *gate) attend(changed chan os.Signal) {
	word, err := g.word.SyscallConn()
	if err != nil || word.Read(func(descriptor uintptr) bool { return pending(descriptor) > 0 }) != nil {
		return
	}
	for wait := time.Millisecond; ; wait = min(2*wait, time.Second) {
		switch bytesIn(g.rest) {
		case 0:
			nudge(changed)
			return
		case abandoned:
			return
		}
		<-time.After(wait)
	}
}

// abandon lets nobody through any more. A reader comes to the end of an empty pipe.
func (g *gate) abandon() {
	g.handOver()
	shut(&g.line)
	_ = g.rest.Close()
	_ = g.word.Close()
}

// abandoned stands for what is in a gate that was.
const abandoned = -1

// bytesIn returns how many bytes wait in a pipe.
func bytesIn(pipe *os.File) (n int) {
	n = abandoned
	with(pipe, func(descriptor uintptr) { n = pending(descriptor) })
	return n
}

// with calls a function with the descriptor of a file that is not closed meanwhile, if it is not already.
func with(file *os.File, do func(descriptor uintptr)) {
	if conn, err := file.SyscallConn(); err == nil {
		_ = conn.Control(do)
	}
}

func pending(descriptor uintptr) int {
	var n int32
	if _, _, err := syscall.Syscall(syscall.SYS_IOCTL, descriptor, syscall.TIOCINQ, uintptr(unsafe.Pointer(&n))); err != 0 {
		return abandoned
	}
	return int(n)
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
