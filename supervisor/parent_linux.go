/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

const (
	// parentCommand is the first argument of this program where it is the parent of one program only (P162).
	parentCommand = "parent"
	// parentPatience is how long it may take to say that its program has ended. The supervisor does nothing else meanwhile.
	parentPatience = time.Second
	// parentSocket is where it is told what it does and asked to end.
	parentSocket = 3
)

// born is what a parent writes first, and what its program's end is when it comes: one JSON object each.
type born struct {
	Pid  int            `json:"pid,omitempty"`
	Exit *protocol.Exit `json:"exit,omitempty"`
}

// runParent runs a program below a process of its own, which becomes the parent of the program's orphans. So the
// processes of a standby and those of the program beside it are told apart, whatever they did to get away. It ends when
// nothing is left below it; when the supervisor closes the socket, or is gone, it kills what there is first.
func runParent(command []string, signals signals, log *slog.Logger) {
	syscall.CloseOnExec(parentSocket)
	socket := os.NewFile(parentSocket, "supervisor")
	host := newContainer(Settings{}, command, signals.child, log)
	tell := json.NewEncoder(socket)
	pid, err := execute(command, os.Environ(), inherited(closed, gateDescriptor, wordDescriptor)...)
	_, _ = syscall.Close(gateDescriptor), syscall.Close(wordDescriptor)
	if err != nil {
		_ = tell.Encode(born{Exit: host.notStarted(err)})
		return
	}
	host.lead(pid)
	_ = tell.Encode(born{Pid: pid})
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, socket)
		close(over)
	}()
	sweep, next := stopped(), firstSweep
	for {
		select {
		case <-host.changed:
		case number := <-signals.end:
			host.Signal(number.(syscall.Signal))
		case number := <-signals.other:
			host.Signal(number.(syscall.Signal))
		case <-over:
			over = nil
			sweep.Reset(0)
		case <-sweep.C:
			host.Kill()
			sweep.Reset(next)
			next = min(2*next, lastSweep)
		}
		exited, empty := host.Look()
		if exited != nil {
			_ = tell.Encode(born{Exit: exited})
		}
		if empty {
			return
		}
	}
}

// parentEnv is what parents get besides; empty but for tests, in which this program is another one.
var parentEnv []string

// tree is a program with its parent, as the supervisor sees them.
type tree struct {
	// parent is its process; pid that of the program, 0 until it is known.
	parent int
	socket *os.File
	gate   *gate
	// gone: the parent has ended, with status.
	gone   bool
	status syscall.WaitStatus

	// news is written by one goroutine, until it is closed.
	news chan born
	pid  int
	exit *protocol.Exit
	told bool
	// awaited: the parent had its time to say how the program ended.
	awaited bool
}

// plant starts a program below a parent of its own.
func plant(command, env []string, at *gate, changed chan os.Signal) (*tree, error) {
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	_ = syscall.SetNonblock(ends[0], true)
	t := &tree{gate: at, socket: os.NewFile(uintptr(ends[0]), "parent"), news: make(chan born, 2)}
	self := append([]string{"/proc/self/exe", parentCommand, "--"}, command...)
	t.parent, err = execute(self, append(env, parentEnv...), inherited(uintptr(ends[1]), uintptr(at.reader), uintptr(at.teller))...)
	_ = syscall.Close(ends[1])
	at.handOver()
	if err != nil {
		_ = t.socket.Close()
		return nil, err
	}
	go func() {
		defer close(t.news)
		for from := json.NewDecoder(t.socket); ; {
			var b born
			if from.Decode(&b) != nil {
				return
			}
			t.news <- b
			nudge(changed)
		}
	}()
	return t, nil
}

// nudge makes somebody look.
func nudge(changed chan os.Signal) {
	select {
	case changed <- syscall.SIGCHLD:
	default: // one is as good as many
	}
}

// look returns how the program ended, once. Of one whose parent was killed that is known by the parent's end.
func (t *tree) look() *protocol.Exit {
	for open := true; open; {
		var b born
		if t.gone { // whatever it wrote before is there
			b, open = <-t.news
		} else {
			select {
			case b, open = <-t.news:
			default:
				b, open = t.await()
			}
		}
		if b.Pid != 0 {
			t.pid = b.Pid
		}
		if b.Exit != nil {
			t.exit = b.Exit
		}
	}
	if t.gone && t.exit == nil {
		t.exit = exitFrom(t.status)
	}
	if t.told || t.exit == nil {
		return nil
	}
	t.told = true
	return t.exit
}

// await gives a parent whose program has ended some time to say so: it may have had no processor since, and a stop that is
// heard first would make a program that is done run again (P67). It does so once, since a program whose first thread has ended
// before the others looks the same.
func (t *tree) await() (b born, open bool) {
	if t.pid == 0 || t.exit != nil || t.awaited || !hasEnded(t.pid) {
		return b, false
	}
	t.awaited = true
	select {
	case b, open = <-t.news:
	case <-time.After(parentPatience):
	}
	return b, open
}

// ended reports whether the program of a tree has, as far as it is known.
func (t *tree) ended() bool { return t.pid != 0 && hasEnded(t.pid) }

// hasEnded reports whether a process has: it is a zombie, or not there any more.
func hasEnded(pid int) bool {
	state := stateOf(pid)
	return state == "" || state == "Z"
}

// clean reports whether a parent that is gone ended because nothing was left below it.
func (t *tree) clean() bool { return t.gone && t.status.Exited() && t.status.ExitStatus() == 0 }

// fell asks the parent to kill all that is below it.
func (t *tree) fell() {
	t.gate.abandon()
	_ = t.socket.Close()
}

// signal reaches the program through its parent, who knows which processes are those of the program.
func (t *tree) signal(number syscall.Signal) {
	if !t.gone {
		_ = syscall.Kill(t.parent, number)
	}
}

// kill sends SIGKILL to what is below the parent now.
func (t *tree) kill(k *killer) {
	if !t.gone {
		k.kill(t.parent, time.Now())
	}
}
