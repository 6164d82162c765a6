/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// container is the Host that runs a command in the container of the supervisor.
type container struct {
	command []string
	// changed receives SIGCHLD. One in the channel is as good as many.
	changed chan os.Signal
	log     *slog.Logger

	// child is the main process of the worker; 0 if there is none.
	child int
	// group is the process group that it has, or had; alone are the signals that it got and its group did not (P63b).
	group int
	alone uint64
	// empty: at the last look there was no child.
	empty bool
	// oomKills is how many processes the kernel had killed for memory when the worker started.
	oomKills int64
	killer   killer
	// set names the files of the mailbox, which is nil if the worker is not watched.
	set     Settings
	mailbox *mailbox
	// parent is that of the worker's processes, if it is not this process (P162).
	parent int
}

// newContainer returns a Host. Not as the first process of a namespace it never leaves its thread,
// because the worker dies with the thread that started it.
func newContainer(set Settings, command []string, changed chan os.Signal, log *slog.Logger) *container {
	adoptOrphans()
	if !isFirst() {
		runtime.LockOSThread()
	}
	return &container{set: set, command: command, changed: changed, log: log}
}

// isFirst reports whether this is the first process of a namespace, with which all others end.
func isFirst() bool { return os.Getpid() == 1 }

func (c *container) Changed() <-chan os.Signal { return c.changed }

// root is the process that all those of the worker descend from.
func (c *container) root() int {
	if c.parent != 0 {
		return c.parent
	}
	return os.Getpid()
}

func (c *container) Start(r Run) *protocol.Exit {
	c.killer, c.oomKills = killer{}, oomKills()
	pid, err := execute(c.command, workerEnv(os.Environ(), c.set.Variables, r, c.listen(r)...))
	if err != nil {
		return c.notStarted(err)
	}
	c.lead(pid)
	return nil
}

// lead makes a child the main process.
func (c *container) lead(pid int) { c.child, c.group, c.alone, c.empty = pid, pid, 0, false }

// notStarted is the end of a command that cannot be executed.
func (c *container) notStarted(err error) *protocol.Exit {
	c.log.Error("the command cannot be executed", "command", c.command[0], "error", err, "fix", execFix(err))
	return &protocol.Exit{Code: execCode(err), Time: time.Now().UTC()}
}

// listen opens the mailbox of a run that is watched, and returns the variables that say where it is. Without a mailbox
// the worker runs unwatched, since a worker that cannot give signs does not hang.
func (c *container) listen(r Run) []string {
	if c.mailbox != nil {
		_ = c.mailbox.close()
		c.mailbox = nil
	}
	if r.Progress == nil || r.Bypass {
		return nil
	}
	opened, err := openMailbox(c.set, r)
	if err != nil {
		c.log.Error("the worker is not watched for hangs: the socket for its signs cannot be opened", "error", err)
		return nil
	}
	c.mailbox = opened
	variables := []string{protocol.NotifySocketEnv + "=" + opened.path, protocol.ProgressFileEnv + "=" + opened.file}
	if stall := r.Progress.StallSeconds; stall > 0 {
		variables = append(variables, fmt.Sprintf("%s=%d", protocol.WatchdogEnv, (time.Duration(stall)*time.Second).Microseconds()))
	}
	return variables
}

// Signs of a worker that cannot give any are those of one that is alive.
func (c *container) Signs() Signs {
	if c.mailbox == nil {
		return Signs{Alive: true}
	}
	return c.mailbox.take()
}

func (c *container) Kill() {
	if c.child != 0 {
		_ = syscall.Kill(-c.child, syscall.SIGKILL)
	}
	c.killer.kill(os.Getpid(), time.Now())
}

// killAll kills until no process is left, for five seconds at most. One look at the processes may miss one whose parent ends
// while it looks, and on a starved node it takes long.
func (c *container) killAll() {
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); {
		c.Kill()
		if _, empty := c.Look(); empty {
			return
		}
		select {
		case <-c.changed:
		case <-time.After(time.Millisecond):
		}
	}
}

const (
	anyChild = -1
	// reapAtOnce keeps a worker that forks fast from holding its supervisor up.
	reapAtOnce = 1000
)

func (c *container) Look() (exited *protocol.Exit, empty bool) {
	empty = c.reap(c.child, func(pid int, status syscall.WaitStatus) {
		if pid == c.child {
			c.child = 0
			exited = exitFrom(status)
			exited.OOMKilled = oomKills() > c.oomKills
		}
	})
	c.empty = empty
	return exited, empty
}

// reap collects children that have ended, the first one before the others unless it is 0, and reports whether there are none left.
// It is the only place that waits for processes: os/exec would take its own children away from wait4(-1), and the other way round.
func (c *container) reap(first int, ended func(pid int, status syscall.WaitStatus)) (none bool) {
	for i := range reapAtOnce {
		which := anyChild
		if i == 0 && first != 0 {
			which = first
		}
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(which, &status, syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // there are no children
			return true
		case pid == 0 && which == anyChild:
			return false
		case pid != 0:
			ended(pid, status)
		}
	}
	nudge(c.changed) // there may be more
	return false
}

func exitFrom(status syscall.WaitStatus) *protocol.Exit {
	exit := protocol.Exit{Code: status.ExitStatus(), Time: time.Now().UTC()}
	if status.Signaled() {
		exit.Signal = int(status.Signal())
		exit.Code = signalled + exit.Signal
	}
	return &exit
}

// Exit codes of commands, as of a shell.
const (
	notExecutable = 126
	notFound      = 127
	signalled     = 128 // and the number of the signal
)

// execute starts a command in a process group of its own, with our standard streams, and other files from descriptor 3 on.
func execute(command, env []string, files ...uintptr) (int, error) {
	path, err := exec.LookPath(command[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return 0, err
	}
	// A child gets the signal mask of the thread that forks it. A runtime that has started the supervisor
	// with some signals blocked must not keep them from the worker.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer setSignalMask(setSignalMask(0))
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if !isFirst() {
		attributes.Pdeathsig = syscall.SIGKILL
	}
	return syscall.ForkExec(path, command, &syscall.ProcAttr{
		Env:   env,
		Files: append([]uintptr{0, 1, 2}, files...),
		Sys:   attributes,
	})
}

// setSignalMask sets the signals that this thread blocks, and returns those that it has blocked before.
func setSignalMask(mask uint64) (before uint64) {
	const setMask = 2
	_, _, _ = syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, setMask, uintptr(unsafe.Pointer(&mask)),
		uintptr(unsafe.Pointer(&before)), unsafe.Sizeof(mask), 0, 0)
	return before
}

// execCode is the exit code of a command that cannot be executed.
func execCode(err error) int {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, exec.ErrNotFound) {
		return notFound
	}
	return notExecutable
}

// execFix says what a person has to do about a command that cannot be executed.
func execFix(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return "correct the command of the container, or let its image contain the program, and the interpreter if it is a script"
	case errors.Is(err, fs.ErrPermission):
		return "make the program executable for the user of the container; if it is in a volume, let the node not mount that noexec"
	case errors.Is(err, syscall.ENOEXEC):
		return "use a program for the architecture of the node; a script must begin with #! and its interpreter"
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM):
		return "raise the limit of processes or of memory of the container"
	}
	return fmt.Sprintf("let the container run the program without the supervisor and see whether that gives %q too", err)
}
