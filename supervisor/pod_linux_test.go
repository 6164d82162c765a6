/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// roleEnv lets the test binary be something else than the tests.
const (
	roleEnv         = "SUPERVISOR_TEST_ROLE"
	memoryEventsEnv = "SUPERVISOR_TEST_MEMORY_EVENTS"
	killTimeoutEnv  = "SUPERVISOR_TEST_KILL_TIMEOUT"
	standbyDelayEnv = "SUPERVISOR_TEST_STANDBY_DELAY"
	namespaceEnv    = "SUPERVISOR_TEST_NAMESPACE"
)

func TestMain(m *testing.M) {
	role := os.Getenv(roleEnv)
	if role == "" {
		os.Exit(m.Run())
	}
	if path := os.Getenv(memoryEventsEnv); path != "" {
		memoryEvents = []string{path}
	}
	if text := os.Getenv(killTimeoutEnv); text != "" {
		killTimeout, _ = time.ParseDuration(text)
	}
	if text := os.Getenv(standbyDelayEnv); text != "" {
		standbyDelay, _ = time.ParseDuration(text)
	}
	if os.Getenv(namespaceEnv) != "" {
		mountProc()
	}
	if os.Getenv(readOnlyEnv) != "" {
		readOnly(os.Getenv(protocol.DirEnv))
	}
	parentEnv = []string{roleEnv + "=supervisor"}
	for _, name := range []string{roleEnv, namespaceEnv, readOnlyEnv} {
		_ = os.Unsetenv(name)
	}
	os.Exit(roles[role](os.Args[1:]))
}

// roles of the test binary.
var roles = map[string]func(args []string) int{"supervisor": Main, "listener": listener, "unkillable": unkillable, "flooder": flooder,
	"trainer": trainer, "forwarder": forwarder}

// mountProc shows the processes of this namespace and of no other one, as in a container.
func mountProc() {
	err := errors.Join(syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""), syscall.Mount("proc", "/proc", "proc", 0, ""))
	if err != nil {
		panic(err)
	}
}

// patience of the tests: how long they wait for what must happen.
const testPatience = 30 * time.Second

// pod is a supervisor as a process, with the test as its agent.
type pod struct {
	t        testing.TB
	dir      string
	cmd      *exec.Cmd
	stdout   output
	stderr   output
	listener net.Listener
	conn     net.Conn
	messages chan protocol.Message
	ended    chan struct{}
}

// option changes the command of a supervisor before it is started.
type option func(*exec.Cmd)

func env(variables ...string) option {
	return func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, variables...) }
}

// inNamespace makes the supervisor the first process of a namespace, as in a container.
func inNamespace(cmd *exec.Cmd) {
	cmd.Env = append(cmd.Env, namespaceEnv+"=1")
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID | syscall.CLONE_NEWNS
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
}

// onBoth runs a test with a supervisor that is the first process of a namespace, and with one that is not.
func onBoth(t *testing.T, test func(t *testing.T, place option)) {
	t.Run("beside other processes", func(t *testing.T) {
		t.Parallel()
		test(t, func(*exec.Cmd) {})
	})
	t.Run("as the first process", func(t *testing.T) {
		t.Parallel()
		needNamespaces(t)
		test(t, inNamespace)
	})
}

var namespaces = sync.OnceValue(func() error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	inNamespace(cmd)
	return cmd.Run()
})

func needNamespaces(t *testing.T) {
	t.Helper()
	if err := namespaces(); err != nil {
		t.Skipf("this machine gives no namespaces: %v", err)
	}
}

// newPod makes the shared volume of a Pod. Its path is short, because that of a socket must be.
func newPod(t testing.TB) *pod {
	t.Helper()
	dir, err := os.MkdirTemp("", "jobset-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &pod{t: t, dir: dir}
	if err := prepareRun(dir); err != nil {
		t.Fatal(err)
	}
	return p
}

// prepareRun does what an installation and a kubelet do.
func prepareRun(dir string) error {
	return errors.Join(makeDir(filepath.Join(dir, protocol.RunDir), modeShared), os.MkdirAll(protocol.OwnFile(dir, "worker", ""), 0o777))
}

// supervise starts a supervisor of a shell script, with an agent that listens.
func supervise(t testing.TB, script string, options ...option) *pod {
	t.Helper()
	p := newPod(t)
	p.listen()
	p.start([]string{"/bin/sh", "-c", script}, options...)
	return p
}

func (p *pod) path(name string) string { return filepath.Join(p.dir, name) }

// own is the path of a file of the container.
func (p *pod) own(name string) string { return protocol.OwnFile(p.dir, "worker", name) }

// start starts the supervisor of a command.
func (p *pod) start(command []string, options ...option) {
	p.t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{"--"}, command...)...)
	cmd.Env = append(os.Environ(), roleEnv+"=supervisor", protocol.DirEnv+"="+p.dir, protocol.ContainerEnv+"=worker")
	cmd.Stdout, cmd.Stderr = &p.stdout, &p.stderr
	cmd.WaitDelay = testPatience // what it has printed is read to the end, however slow this process is
	// No Pdeathsig: a supervisor would die with the thread that started it, and a test ends a thread.
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	for _, change := range options {
		change(cmd)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.cmd, p.ended = cmd, make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(p.ended)
	}()
	ended := p.ended
	p.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		for over := false; !over; { // whatever it left holds the streams, and may have forked while it was looked for
			alive, _ := p.below()
			for _, pid := range alive {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			select {
			case <-ended:
				over = true
			case <-time.After(time.Millisecond):
			}
		}
		if p.t.Failed() {
			p.t.Logf("the supervisor said:\n%s\nand the worker:\n%s", p.stderr.String(), p.stdout.String())
		}
	})
}

// listen starts the agent.
func (p *pod) listen() {
	p.t.Helper()
	_ = os.Remove(p.path(protocol.Socket))
	listener, err := net.Listen("unix", p.path(protocol.Socket))
	if err != nil {
		p.t.Fatal(err)
	}
	p.listener = listener
	p.t.Cleanup(func() { _ = listener.Close() })
}

// accept takes the next connection, without the hello on it.
func (p *pod) accept() {
	p.t.Helper()
	if err := p.listener.(*net.UnixListener).SetDeadline(time.Now().Add(testPatience)); err != nil {
		p.t.Fatal(err)
	}
	conn, err := p.listener.Accept()
	if err != nil {
		p.t.Fatalf("no supervisor connects: %v", err)
	}
	p.t.Cleanup(func() { _ = conn.Close() })
	messages := make(chan protocol.Message, 1000)
	p.conn, p.messages = conn, messages
	go func() {
		defer close(messages)
		for reader := protocol.NewReader(conn); ; {
			m, err := reader.Next()
			if err != nil {
				return
			}
			messages <- m
		}
	}()
}

// hello takes the next connection and the hello on it.
func (p *pod) hello() protocol.Message {
	p.t.Helper()
	p.accept()
	return p.next(protocol.Hello)
}

// say sends a message to the supervisor.
func (p *pod) say(m protocol.Message) {
	p.t.Helper()
	text, err := protocol.Encode(m)
	if err != nil {
		p.t.Fatal(err)
	}
	p.write(string(text))
}

func (p *pod) write(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.conn, text); err != nil {
		p.t.Fatal(err)
	}
}

// next waits for the next message, which must be of this type.
func (p *pod) next(want protocol.Type) protocol.Message {
	p.t.Helper()
	select {
	case m, open := <-p.messages:
		if !open {
			p.t.Fatalf("the connection ended, want %s", want)
		}
		if m.Type != want {
			p.t.Fatalf("the supervisor says %+v, want %s", m, want)
		}
		return m
	case <-time.After(testPatience):
		p.t.Fatalf("the supervisor says nothing, want %s", want)
	}
	return protocol.Message{}
}

// quiet waits for the end of the connection, before which nothing may come.
func (p *pod) quiet() {
	p.t.Helper()
	select {
	case m, open := <-p.messages:
		if open {
			p.t.Fatalf("the supervisor says %+v, want nothing", m)
		}
	case <-time.After(testPatience):
		p.t.Fatal("the connection does not end")
	}
}

// runs starts a worker at an epoch and waits until it runs.
func (p *pod) runs(epoch int32) {
	p.t.Helper()
	p.say(protocol.Message{Type: protocol.Start, Epoch: epoch, Restarts: epoch - 1})
	if m := p.next(protocol.Running); m.Epoch != epoch {
		p.t.Fatalf("epoch %d runs, want %d", m.Epoch, epoch)
	}
}

// ready waits for the end of an epoch and returns how it ended.
func (p *pod) ready(epoch int32) protocol.Exit {
	p.t.Helper()
	m := p.next(protocol.Ready)
	if m.Epoch != epoch || m.Exit == nil {
		p.t.Fatalf("the supervisor says %+v, want the end of epoch %d", m, epoch)
	}
	return *m.Exit
}

// stop ends the worker, with time enough for anything.
func (p *pod) stop(epoch int32) protocol.Exit {
	p.t.Helper()
	return p.stopWithin(epoch, 3600)
}

// exits waits for the end of the supervisor, which must have this code.
func (p *pod) exits(want int) {
	p.t.Helper()
	select {
	case <-p.ended:
		if got := p.cmd.ProcessState.ExitCode(); got != want {
			p.t.Fatalf("exit code %d, want %d", got, want)
		}
	case <-time.After(testPatience):
		p.t.Fatalf("the supervisor does not end, want exit code %d", want)
	}
}

func (p *pod) signal(number syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(number); err != nil {
		p.t.Fatal(err)
	}
}

// prints waits until the worker, or the supervisor, has written so.
func (p *pod) prints(text string) {
	p.t.Helper()
	waitFor(p.t, fmt.Sprintf("%q is printed", text), func() bool {
		return strings.Contains(p.stdout.String(), text) || strings.Contains(p.stderr.String(), text)
	})
}

// below returns the processes below the supervisor, whatever they did to get away, and how many of its children are
// zombies. Each worker inherits the environment.
func (p *pod) below() (alive []int, zombies int) {
	mark := []byte(protocol.DirEnv + "=" + p.dir + "\x00")
	entries, _ := filepath.Glob("/proc/[0-9]*")
	for _, entry := range entries {
		pid, _ := strconv.Atoi(filepath.Base(entry))
		stat, _ := os.ReadFile(entry + "/stat")
		about, _ := parseStat(pid, stat)
		environ, _ := os.ReadFile(entry + "/environ")
		switch {
		case pid == p.cmd.Process.Pid:
		case bytes.Contains(stat, []byte(") Z ")):
			if about.parent == p.cmd.Process.Pid {
				zombies++
			}
		case bytes.Contains(append(environ, 0), mark):
			alive = append(alive, pid)
		}
	}
	return alive, zombies
}

// isEmpty checks that the supervisor has no process below it.
func (p *pod) isEmpty() {
	p.t.Helper()
	if alive, zombies := p.below(); len(alive) != 0 || zombies != 0 {
		p.t.Errorf("P63: processes %v and %d zombies are left", alive, zombies)
	}
}

// waitFor waits for a condition that nothing announces.
func waitFor(t testing.TB, what string, condition func() bool) {
	t.Helper()
	deadline := time.After(testPatience)
	for tick := time.NewTicker(time.Millisecond); !condition(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// output is what a process writes, to be read meanwhile.
type output struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.text.Write(text)
}

func (o *output) String() string {
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.text.String()
}
