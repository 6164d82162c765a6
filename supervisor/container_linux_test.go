/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/jobset/supervisor/protocol"
	"sigs.k8s.io/jobset/supervisor/setting"
)

func TestHowAWorkerEndsIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files := map[string]string{"data": "no program", "script": "#!/nowhere/sh\n", "noexec": "#!/bin/sh\n"}
	for name, text := range files {
		mode := os.FileMode(0o755)
		if name == "noexec" {
			mode = 0o644
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	sh := func(script string) []string { return []string{"/bin/sh", "-c", script} }
	for name, tc := range map[string]struct {
		command []string
		want    protocol.Exit
		log     string
	}{
		"P66: an exit code":                             {sh("exit 3"), protocol.Exit{Code: 3}, "exit code 3"},
		"P66: the highest exit code":                    {sh("exit 255"), protocol.Exit{Code: 255}, "exit code 255"},
		"P66: an exit code as of a signal":              {sh("exit 137"), protocol.Exit{Code: 137}, "exit code 137"},
		"P66: SIGKILL":                                  {sh("kill -KILL $$"), protocol.Exit{Code: 137, Signal: 9}, "by signal 9"},
		"P66: SIGSEGV":                                  {sh("kill -SEGV $$"), protocol.Exit{Code: 139, Signal: 11}, "by signal 11"},
		"P66: SIGTERM of its own":                       {sh("kill -TERM $$"), protocol.Exit{Code: 143, Signal: 15}, "by signal 15"},
		"P66: a signal of real time":                    {sh("kill -40 $$"), protocol.Exit{Code: 168, Signal: 40}, "by signal 40"},
		"P62: no such program":                          {[]string{"/nowhere/x"}, protocol.Exit{Code: 127}, "correct the command"},
		"P62: no such program in PATH":                  {[]string{"no-such-program"}, protocol.Exit{Code: 127}, "correct the command"},
		"P62: a script without an interpreter":          {[]string{dir + "/script"}, protocol.Exit{Code: 127}, "interpreter"},
		"P62: a file that may not be executed":          {[]string{dir + "/noexec"}, protocol.Exit{Code: 126}, "let the node not mount that noexec"},
		"P62: a directory":                              {[]string{dir}, protocol.Exit{Code: 126}, "the command cannot be executed"},
		"P62: a file that is no program of this system": {[]string{dir + "/data"}, protocol.Exit{Code: 126}, "architecture of the node"},
		"P62: a program in PATH":                        {[]string{"false"}, protocol.Exit{Code: 1}, "exit code 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPod(t)
			p.listen()
			p.start(tc.command)
			p.hello()
			p.say(protocol.Message{Type: protocol.Start, Epoch: 1})
			m := <-p.messages
			if m.Type == protocol.Running {
				m = p.next(protocol.Ready)
			}
			if m.Type != protocol.Ready || m.Exit == nil || m.Exit.Time.IsZero() {
				t.Fatalf("the supervisor says %+v, want ready", m)
			}
			m.Exit.Time = tc.want.Time
			if *m.Exit != tc.want {
				t.Errorf("it ended as %+v, want %+v", *m.Exit, tc.want)
			}
			p.prints(tc.log)
			p.isEmpty()
		})
	}
}

func TestAKillForMemoryIsReported(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	events := p.path("memory.events")
	if err := os.WriteFile(events, []byte("oom_kill 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.listen()
	p.start([]string{"/bin/sh", "-c", `[ $JOBSET_EPOCH != 2 ] || echo oom_kill 4 > ` + events + `; kill -KILL $$`}, env(memoryEventsEnv+"="+events))
	p.hello()
	for epoch := int32(1); epoch <= 3; epoch++ {
		p.runs(epoch)
		if exit := p.ready(epoch); exit.OOMKilled != (epoch == 2) {
			t.Errorf("P66: epoch %d ended as %+v; the second was killed for memory", epoch, exit)
		}
	}
}

func TestSignalsOfTheKubelet(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		signal syscall.Signal
		want   int
	}{
		"P69: SIGTERM of a worker that dies of it":        {"echo up; exec sleep 1000", syscall.SIGTERM, 143},
		"P69: SIGTERM of a worker that exits with 0":      {"trap 'exit 0' TERM; echo up; while :; do :; done", syscall.SIGTERM, 143},
		"P69: SIGTERM of a worker with a code of its own": {"trap 'exit 7' TERM; echo up; while :; do :; done", syscall.SIGTERM, 7},
		"P69: SIGINT":  {"trap 'exit 8' INT; echo up; while :; do :; done", syscall.SIGINT, 8},
		"P69: SIGQUIT": {"trap 'exit 9' QUIT; echo up; while :; do :; done", syscall.SIGQUIT, 9},
		"P69: SIGTERM reaches a child of a shell that does not pass it on": {"sh -c 'echo up; exec sleep 1000'; exit 10", syscall.SIGTERM, 143},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, place option) {
				p := supervise(t, tc.script, place)
				p.hello()
				p.runs(1)
				p.prints("up\n")
				p.signal(tc.signal)
				p.exits(tc.want)
				p.quiet()
				waitFor(t, "nobody is left", func() bool { alive, _ := p.below(); return len(alive) == 0 })
			})
		})
	}
}

func TestASupervisorThatHoldsItsWorkerEndsWithoutSuccess(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, place option) {
		p := supervise(t, "exit 0", place)
		p.hello()
		p.signal(syscall.SIGTERM)
		p.exits(143)
		if _, err := os.Stat(p.own(protocol.DoneFile)); err == nil {
			t.Error("P69: a worker that never ran counts as finished")
		}
	})
}

func TestOtherSignalsArePassedOn(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, place option) {
		p := supervise(t, `trap 'echo one' USR1; trap 'echo hup' HUP; trap 'echo term; exit 7' TERM; echo up; while :; do :; done`, place)
		p.hello()
		p.runs(1)
		p.prints("up\n")
		p.signal(syscall.SIGHUP)
		p.prints("hup\n")
		p.signal(syscall.SIGUSR1)
		p.prints("one\n")
		// However many others there are, the one that ends the container is not lost.
		for range 1000 {
			p.signal(syscall.SIGUSR1)
		}
		p.signal(syscall.SIGTERM)
		p.exits(7)
	})
}

func TestAfterSIGTERMNothingIsStarted(t *testing.T) {
	t.Parallel()
	p := supervise(t, `trap 'echo term' TERM; trap 'exit 7' INT; echo up; while :; do :; done`)
	p.hello()
	p.runs(1)
	p.prints("up\n")
	p.signal(syscall.SIGTERM)
	p.prints("term\n")
	// It keeps the grace that the kubelet gives, whatever becomes of its group.
	p.say(protocol.Message{Type: protocol.Stop})
	p.say(protocol.Message{Type: protocol.Start, Epoch: 1})
	if m := p.next(protocol.Refused); !strings.Contains(m.Because, "the container is being terminated") {
		t.Errorf("P69: it refuses because %q", m.Because)
	}
	p.signal(syscall.SIGINT)
	p.exits(7)
}

func TestCodesThatAreNotOurs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		want   int
	}{
		"P68: a code":                 {"exit 42", 42},
		"P68: a code in a range":      {"exit 50", 50},
		"P68: a signal":               {"kill -KILL $$", 137},
		"P68: a command of no chance": {"exec /nowhere/x", 127},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, place option) {
				p := supervise(t, tc.script, place, env(protocol.PassExitCodesEnv+"=42,45-60,127-137"))
				p.hello()
				p.runs(1)
				p.exits(tc.want)
				p.quiet()
			})
		})
	}
	t.Run("P68: not after a stop", func(t *testing.T) {
		t.Parallel()
		p := supervise(t, "trap 'exit 42' TERM; echo up; while :; do :; done", env(protocol.PassExitCodesEnv+"=42"))
		p.hello()
		p.runs(1)
		p.prints("up\n")
		if exit := p.stop(1); exit.Code != 42 {
			t.Errorf("it ended as %+v, want code 42", exit)
		}
	})
}

func TestLeaveStopsTheWorker(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, place option) {
		p := supervise(t, "trap 'echo term' TERM; echo up; while :; do :; done", place)
		p.hello()
		p.runs(1)
		p.prints("up\n")
		p.say(protocol.Message{Type: protocol.Leave, Because: "the test says so"})
		p.exits(protocol.ExitLeave)
		p.prints("leaving, the Pod is to be replaced: the test says so")
		waitFor(t, "nobody is left", func() bool { alive, _ := p.below(); return len(alive) == 0 })
	})
}

func TestAWorkerDiesWithItsSupervisor(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, place option) {
		p := supervise(t, "echo up; exec sleep 1000", place)
		p.hello()
		p.runs(1)
		p.prints("up\n")
		p.signal(syscall.SIGKILL)
		<-p.ended
		waitFor(t, "P70: nobody is left", func() bool { alive, _ := p.below(); return len(alive) == 0 })
	})
}

// TestALogThatNobodyReadsHoldsNobodyUp: the worker may have filled the pipe, and the reader may be gone (P72).
func TestALogThatNobodyReadsHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	for name, isFull := range map[string]bool{"P72: a full pipe": true, "P72: a pipe without a reader": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reader, writer, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = reader.Close() }()
			p := newPod(t)
			p.listen()
			script := "exec sleep 1000"
			if isFull {
				script = "exec yes >&2"
			} else if err := reader.Close(); err != nil {
				t.Fatal(err)
			}
			p.start([]string{"/bin/sh", "-c", script}, func(cmd *exec.Cmd) { cmd.Stderr = writer })
			_ = writer.Close()
			p.hello()
			for epoch := int32(1); epoch <= 3; epoch++ {
				p.runs(epoch)
				p.stop(epoch)
			}
			p.say(protocol.Message{Type: protocol.Leave})
			p.exits(protocol.ExitLeave)
		})
	}
}

func TestWrongSettingsEndASupervisorWithOneLine(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args []string
		env  []string
		want []string
	}{
		"P61: no arguments":       {nil, nil, []string{"args are []", "use `supervisor -- COMMAND ARGS...`"}},
		"P61: no command":         {[]string{"--"}, nil, []string{`args are ["--"]`}},
		"P61: a flag":             {[]string{"--dir=/x", "--", "true"}, nil, []string{"args are"}},
		"P61: no variables":       {[]string{"--", "true"}, nil, []string{"JOBSET_CONTAINER is not set"}},
		"P61: two wrong settings": {[]string{"--", "true"}, []string{protocol.PassExitCodesEnv + "=x"}, []string{"JOBSET_CONTAINER is not set", `JOBSET_PASS_EXIT_CODES has "x"`}},
		"P57: nowhere to install": {[]string{"install", "/nowhere"}, nil, []string{"install /nowhere failed", "mount an emptyDir there"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command("/proc/self/exe", tc.args...)
			cmd.Env = append(tc.env, roleEnv+"=supervisor")
			output, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != setting.ExitCode {
				t.Errorf("exit code %d, want %d", code, setting.ExitCode)
			}
			if !strings.HasPrefix(string(output), "jobset-supervisor: ") || strings.Count(string(output), "\n") != 1 {
				t.Errorf("the output is not one line:\n%s", output)
			}
			for _, want := range tc.want {
				if !strings.Contains(string(output), want) {
					t.Errorf("the output does not contain %q:\n%s", want, output)
				}
			}
		})
	}
}

// install runs `supervisor install` as a user.
func runInstall(t *testing.T, dir string, uid int) (string, int) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "install", dir)
	cmd.Env = []string{roleEnv + "=supervisor"}
	if uid != os.Getuid() {
		exe := filepath.Join(shortDir(t), "supervisor")
		copyExecutable(t, exe, 0o755)
		cmd.Path = exe
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	output, _ := cmd.CombinedOutput()
	return string(output), cmd.ProcessState.ExitCode()
}

// shortDir is a directory that every user may enter.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "jobset-")
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func TestInstall(t *testing.T) {
	t.Parallel()
	dir := shortDir(t)
	users := []int{os.Getuid()}
	if os.Getuid() == 0 {
		users = []int{65532, 65532, 0} // an init container may run again, and as another user
	}
	for _, uid := range users {
		if output, code := runInstall(t, dir, uid); code != 0 {
			t.Fatalf("P57: installing as user %d ends with %d:\n%s", uid, code, output)
		}
	}
	for name, want := range map[string]os.FileMode{
		protocol.BinDir: 0o755 | os.ModeDir, protocol.Binary: 0o755, protocol.RunDir: 0o777 | os.ModeDir | os.ModeSticky,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("P57 P61: the mode of %s is %v, want %v", name, info.Mode(), want)
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, protocol.BinDir))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("P57: the directory has %v, want the supervisor alone", entries)
	}
	// What was installed runs.
	cmd := exec.Command(filepath.Join(dir, protocol.Binary))
	cmd.Env = []string{roleEnv + "=supervisor"}
	if _ = cmd.Run(); cmd.ProcessState.ExitCode() != setting.ExitCode {
		t.Errorf("P57: the installed supervisor ends with %v", cmd.ProcessState)
	}
}

func TestAVolumeThatCannotExecuteIsRefused(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root mounts")
	}
	dir := shortDir(t)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_NOEXEC, ""); err != nil {
		t.Skipf("this machine mounts nothing: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	output, code := runInstall(t, dir, 0)
	if want := fmt.Sprintf("jobset-supervisor: install %s is a volume that the node mounts noexec, so no container can execute the supervisor; ", dir); code != setting.ExitCode || !strings.HasPrefix(output, want) {
		t.Errorf("P57: it ends with %d:\n%swant %d:\n%s", code, output, setting.ExitCode, want)
	}
}

// TestAnInstallationThatExistsNeedsNoRoom: something on the node, or a worker, may have filled the volume when an agent restarts.
func TestAnInstallationThatExistsNeedsNoRoom(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root mounts")
	}
	dir := shortDir(t)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m"); err != nil {
		t.Skipf("this machine mounts nothing: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	if output, code := runInstall(t, dir, 0); code != 0 {
		t.Fatalf("P57: installing ends with %d:\n%s", code, output)
	}
	if err := os.WriteFile(filepath.Join(dir, "full"), make([]byte, 64<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the volume is not full: %v", err)
	}
	if output, code := runInstall(t, dir, 0); code != 0 {
		t.Errorf("P75a: in a full volume the agent stays down, its hook ends with %d:\n%s", code, output)
	}
	// Another one, or a part of one, is replaced where there is room.
	for _, err := range []error{os.Remove(filepath.Join(dir, "full")), os.Truncate(filepath.Join(dir, protocol.Binary), 100)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	output, code := runInstall(t, dir, 0)
	if info, err := os.Stat(filepath.Join(dir, protocol.Binary)); err != nil || code != 0 || info.Size() == 100 {
		t.Errorf("P75a: a part of a supervisor is kept: %v, %d:\n%s", err, code, output)
	}
}
