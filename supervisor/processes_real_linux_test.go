/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// TestNobodyOutlivesAStop stops workers that make it hard. Those that fork have a budget of their own, so that they cannot
// harm the machine if they are not stopped.
func TestNobodyOutlivesAStop(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"P63: a child in the worker's group":      `sleep 1000 & echo up; wait`,
		"P63: a child in a session of its own":    `setsid sleep 1000 & echo up; wait`,
		"P63: an orphan in a session of its own":  `(setsid sh -c 'sleep 1000 & exit 0' &); echo up; sleep 1000`,
		"P63: a worker that ignores SIGTERM":      `trap '' TERM; sleep 1000 & echo up; while :; do sleep 1000; done`,
		"P63: a worker that has stopped itself":   `echo up; kill -STOP $$; exit 3`,
		"P63: a stopped child of its own session": `setsid sh -c 'kill -STOP $$' & echo up; wait`,
		"P63: a long chain of forks":              `b() { [ $1 -gt 20000 ] || b $(($1+1)) & }; b 0; echo up; sleep 1000`,
		"P63: such a chain that changes sessions": `export N=0 C='N=$((N+1)); [ $N -gt 5000 ] || setsid sh -c "$C" &'; sh -c "$C"; echo up; sleep 1000`,
		"P63: a tree of forks that still grows": `export N=0 D='[ $N -gt 4 ] || { N=$((N+1)); sh -c "$D" & sh -c "$D" & }; sleep 1000'
			sh -c "$D" & echo up; sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, place option) {
				p := supervise(t, script, place)
				p.hello()
				p.runs(1)
				p.prints("up\n")
				p.say(protocol.Message{Type: protocol.Stop})
				if exit := p.ready(1); !exit.Stopped {
					t.Errorf("P66: it ended as %+v, want stopped", exit)
				}
				p.isEmpty()
			})
		})
	}
}

func TestAThousandOrphansAreKilled(t *testing.T) {
	t.Parallel()
	p := supervise(t, `i=0; while [ $i -lt 1000 ]; do (sleep 1000 &); i=$((i+1)); done; echo up; sleep 1000`)
	p.hello()
	p.runs(1)
	p.prints("up\n")
	p.stop(1)
	p.isEmpty()
}

func TestNobodyOutlivesTheMainProcess(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, place option) {
		p := supervise(t, `sleep 1000 & setsid sleep 1000 & exit 3`, place)
		p.hello()
		for epoch := int32(1); epoch < 4; epoch++ {
			p.runs(epoch)
			if exit := p.ready(epoch); exit.Code != 3 || exit.Stopped {
				t.Errorf("P66: it ended as %+v, want code 3", exit)
			}
			p.isEmpty()
		}
	})
}

func TestNobodyOutlivesTheSupervisor(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, place option) {
		p := supervise(t, `setsid sleep 1000 & exit 0`, place)
		p.hello()
		p.runs(1)
		p.next(protocol.Done)
		p.exits(0)
		waitFor(t, "nobody is left", func() bool { alive, _ := p.below(); return len(alive) == 0 })
	})
}

// TestAnOrphanIsReapedMeanwhile: nobody else would (P69).
func TestAnOrphanIsReapedMeanwhile(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, place option) {
		p := supervise(t, `i=0; while [ $i -lt 100 ]; do (true &); i=$((i+1)); done; echo up; sleep 1000`, place)
		p.hello()
		p.runs(1)
		p.prints("up\n")
		waitFor(t, "P69: orphans are reaped", func() bool { alive, zombies := p.below(); return len(alive) == 2 && zombies == 0 })
	})
}

// enter starts a process in the namespace of a supervisor, as kubectl exec does, with the environment of its container.
func (p *pod) enter(script string) *exec.Cmd {
	p.t.Helper()
	if os.Getuid() != 0 {
		p.t.Skip("only root enters the namespace of another process")
	}
	entered := make(chan *exec.Cmd)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		cmd := exec.Command("/bin/sh", "-c", script)
		cmd.Env = append(os.Environ(), "OUTSIDER="+p.dir, protocol.ContainerEnv+"=worker")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/pid", p.cmd.Process.Pid))
		if err == nil {
			if err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWPID); err == nil {
				err = cmd.Start()
			}
			_ = ns.Close()
		}
		if err != nil {
			p.t.Error(err)
			cmd = nil
		}
		entered <- cmd
	}()
	outsider := <-entered
	if outsider == nil {
		p.t.FailNow()
	}
	return outsider
}

// TestASessionLeavesNothingToWaitFor: what a session of kubectl exec left in the background has no state to save (P63b).
func TestASessionLeavesNothingToWaitFor(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	p := supervise(t, `trap 'exit 0' TERM; echo up; sleep 1000 & wait`, inNamespace)
	p.hello()
	p.runs(1)
	p.prints("up\n")
	if err := p.enter(`sleep 1000 & exit 0`).Wait(); err != nil {
		t.Fatal(err)
	}
	if exit := p.stop(1); !exit.Stopped {
		t.Errorf("P63b: it ended as %+v, want stopped", exit)
	}
}

// TestOutsidersAreLeftAlone: kubectl exec and probes start processes in a container from outside (P63).
func TestOutsidersAreLeftAlone(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	p := supervise(t, `setsid sleep 1000 & echo up; wait`, inNamespace)
	p.hello()
	p.runs(1)
	p.prints("up\n")
	outsider := p.enter(`sleep 1000 & wait`)
	// A namespace ends only when all its processes are reaped.
	reaped := make(chan struct{})
	go func() {
		defer close(reaped)
		_ = outsider.Wait() // it is killed
	}()
	count := func() (n int) {
		environs, _ := filepath.Glob("/proc/[0-9]*/environ")
		for _, file := range environs {
			if text, _ := os.ReadFile(file); strings.Contains(string(text), "OUTSIDER="+p.dir) {
				n++
			}
		}
		return n
	}
	waitFor(t, "the outsider has a child", func() bool { return count() == 2 })
	for epoch := int32(1); epoch < 5; epoch++ {
		p.stopWithin(epoch, 0)
		p.isEmpty()
		p.runs(epoch + 1)
	}
	if n := count(); n != 2 {
		t.Errorf("P63: of 2 processes from outside %d are left", n)
	}
	_ = outsider.Process.Kill()
	<-reaped
	p.stopWithin(5, 0)
	if n := count(); n != 0 {
		t.Errorf("P63: %d orphans of an outsider outlive a stop, want 0", n)
	}
}

// listener is a worker that listens, as does a child in a session of its own.
func listener(args []string) int {
	l, err := net.Listen("tcp", args[0])
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	child := exec.Command("/bin/sleep", "1000")
	child.ExtraFiles = []*os.File{file}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	fmt.Fprintln(os.Stdout, "listening", os.Getenv(protocol.EpochEnv))
	_ = child.Wait()
	return 1
}

func TestAPortIsFreeForTheNextWorker(t *testing.T) {
	t.Parallel()
	// Of an address of its own, since others on this machine may take a port that is free between two workers.
	probe, err := net.Listen("tcp", fmt.Sprintf("127.78.%d.1:0", os.Getpid()%250+1))
	if err != nil {
		t.Fatal(err)
	}
	address := probe.Addr().String()
	_ = probe.Close()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := newPod(t)
	p.listen()
	p.start([]string{"/usr/bin/env", roleEnv + "=listener", exe, address})
	p.hello()
	for epoch := int32(1); epoch < 6; epoch++ {
		p.runs(epoch)
		p.prints(fmt.Sprintf("listening %d\n", epoch))
		p.say(protocol.Message{Type: protocol.Stop, GraceSeconds: int32(epoch % 2)})
		p.ready(epoch)
	}
}

// It takes some seconds: a leak of one descriptor in a hundred restarts is to be seen.
func TestAThousandRestartsLeaveNothing(t *testing.T) {
	t.Parallel()
	p := supervise(t, "exit 1")
	p.hello()
	restart := func(epoch int32) {
		p.runs(epoch)
		p.ready(epoch)
	}
	descriptors := func() int {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	restart(1)
	before := descriptors()
	for epoch := int32(2); epoch <= 1001; epoch++ {
		restart(epoch)
	}
	if after := descriptors(); after != before {
		t.Errorf("P63: %d descriptors after 1,000 restarts, %d before", after, before)
	}
	p.isEmpty()
}

// unkillable is a worker that has become root although its supervisor is not.
func unkillable([]string) int {
	if err := syscall.Setresuid(0, 0, 0); err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	fmt.Fprintln(os.Stdout, "root")
	// Without C the runtime would end a program in which nothing can wake anything.
	<-time.After(math.MaxInt64)
	return 0
}

// outlives stops a worker that its supervisor cannot kill. This test can.
func outlives(t *testing.T) (p *pod, kill func()) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can make a process that its parent cannot kill")
	}
	p = newPod(t)
	worker := p.path("worker")
	copyExecutable(t, worker, 0o755|os.ModeSetuid)
	for _, dir := range []string{p.dir, filepath.Dir(worker)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.listen()
	if err := os.Chmod(p.path(protocol.Socket), 0o666); err != nil {
		t.Fatal(err)
	}
	copyExecutable(t, p.path("supervisor"), 0o755)
	p.start([]string{"/bin/sh", "-c", roleEnv + "=unkillable " + worker + "& wait"}, env(killTimeoutEnv+"=100ms"), func(cmd *exec.Cmd) {
		cmd.Path = p.path("supervisor")
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		cmd.WaitDelay = time.Second // the worker outlives it, and has its streams
	})
	p.hello()
	p.runs(1)
	p.prints("root\n")
	kill = func() {
		entries, _ := filepath.Glob("/proc/[0-9]*/exe")
		for _, entry := range entries {
			if exe, _ := os.Readlink(entry); strings.HasPrefix(exe, worker) {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(entry)))
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	t.Cleanup(kill)
	p.say(protocol.Message{Type: protocol.Stop})
	if m := p.next(protocol.Stuck); m.Epoch != 1 || !regexp.MustCompile(`has outlived SIGKILL for 100ms: pid \d+ in state [SR]$`).MatchString(m.Because) {
		t.Errorf("P63 P70b: it says %+v, want which process has outlived SIGKILL", m)
	}
	return p, kill
}

// TestWhatDiesLateIsNoReasonToLeave: its memory may take long to free (P70b).
func TestWhatDiesLateIsNoReasonToLeave(t *testing.T) {
	t.Parallel()
	p, kill := outlives(t)
	kill()
	if exit := p.ready(1); !exit.Stopped {
		t.Errorf("P70b: it ended as %+v, want stopped", exit)
	}
	p.runs(2)
}

func TestWhatCannotBeKilledMakesThePodLeave(t *testing.T) {
	t.Parallel()
	p, _ := outlives(t)
	_ = p.conn.Close()
	if m := p.hello(); m.State != protocol.Runs {
		t.Errorf("P65: it says hello as %+v, want running", m)
	}
	p.next(protocol.Stuck)
	p.say(protocol.Message{Type: protocol.Leave, Because: "a process is stuck"})
	p.exits(protocol.ExitLeave)
}

// copyExecutable copies the test binary.
func copyExecutable(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	exe, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	// A process that is forked meanwhile would have the file open for writing until its exec, and nobody could execute it.
	syscall.ForkLock.RLock()
	err = os.WriteFile(path, exe, 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
