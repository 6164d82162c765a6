/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"

	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/supervisor/setting"
)

const (
	gcPercent = 20
	// memoryLimit of the Go runtime, of which a third is never resident. The runtime starts with a part for each
	// CPU of the node: with 64 it is over the limit, and collects its garbage all the time while a worker is restarted.
	memoryLimit = 7 << 20
	threads     = 1
)

// Main is the supervisor as a process. It returns the exit code.
//
//	supervisor -- COMMAND ARGS...   runs the command as the agent says
//	supervisor install DIR          copies itself into the shared volume
//	supervisor parent -- COMMAND... is the parent of one program, where warm start is on; supervisors run it
func Main(args []string) int {
	// Early: the first process of a namespace receives only signals that it has a handler for.
	signals := notify()
	// The variables of the container, such as GOGC and GOMEMLIMIT, are meant for the worker. By default the heap grows to 4 MiB before
	// anything is collected, and each CPU of the node gets its own buffers (P61).
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)
	runtime.GOMAXPROCS(threads)
	code, err := dispatch(args, signals)
	if err != nil {
		setting.Tell(os.Stderr, "jobset-supervisor", err)
		return setting.ExitCode
	}
	return code
}

func dispatch(args []string, signals signals) (int, error) {
	switch {
	case len(args) == 2 && args[0] == "install":
		return 0, install(args[1])
	case len(args) > 2 && args[0] == parentCommand && args[1] == "--":
		runParent(args[2:], signals, newLog(int(os.Stderr.Fd())))
		return 0, nil
	case len(args) < 2 || args[0] != "--":
		return 0, &setting.Error{
			Setting: "args", Problem: fmt.Sprintf("are %q", args),
			Fix: "use `supervisor -- COMMAND ARGS...` in the container of a worker, or `supervisor install DIR` in the postStart hook of the agent",
		}
	}
	set, err := FromEnv(os.LookupEnv)
	if err != nil {
		return 0, err
	}
	log := newLog(int(os.Stderr.Fd()))
	if isDone(DoneFile(set)) {
		log.Info("the worker has finished, according to its file", "file", DoneFile(set))
		return 0, nil
	}
	return runCommand(set, args[1:], signals, log), nil
}

func runCommand(set Settings, command []string, signals signals, log *slog.Logger) int {
	host := newContainer(set, command, signals.child, log)
	s := &Supervisor{
		Settings: set, Host: host, Log: log, Terminate: signals.end, Signals: signals.other,
		Dial: func() (Conn, error) { return dial(filepath.Join(set.Dir, protocol.Socket)) },
	}
	if set.WarmStart {
		warm := &warm{container: host}
		s.Host, s.Warm = warm, warm
		defer warm.end()
	}
	code, leave := s.Run()
	if leave != "" {
		setting.TellPod("jobset-supervisor: " + leave)
	}
	if !isFirst() {
		host.killAll() // as the kernel does when the first process of a namespace ends
	}
	return code
}

// signals to this process, apart so that a flood of one kind drops none of another.
type signals struct {
	child, end, other chan os.Signal
}

func notify() signals {
	// One SIGCHLD in the channel is as good as many, since every child is looked at then.
	s := signals{child: make(chan os.Signal, 1), end: make(chan os.Signal, 3), other: make(chan os.Signal, 64)}
	signal.Notify(s.child, syscall.SIGCHLD)
	signal.Notify(s.end, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT)
	signal.Notify(s.other, passedOn()...)
	return s
}

// passedOn returns the signals that go to the worker and mean nothing to the supervisor.
func passedOn() []os.Signal {
	var all []os.Signal
	for number := syscall.Signal(1); number <= lastSignal; number++ {
		switch number {
		case syscall.SIGCHLD, syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT:
			// These mean something.
		case syscall.SIGKILL, syscall.SIGSTOP, 32, 33, 34:
			// No process can receive the first two; the C library keeps the others for itself.
		case syscall.SIGURG, syscall.SIGPIPE, syscall.SIGPROF:
			// The supervisor sends them to itself: the Go runtime to preempt, the kernel when the log is not read.
		case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGSYS:
			// Faults of the supervisor.
		default:
			all = append(all, number)
		}
	}
	return all
}
