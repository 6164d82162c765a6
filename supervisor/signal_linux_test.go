/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// trainer is a program that saves its state when it is told to, which takes it until the file exists that is its argument. It says
// each signal. With loaders, a process that it needs for that dies of any signal, as a worker of PyTorch's DataLoader does.
func trainer(args []string) int {
	heard := make(chan os.Signal, 10)
	signal.Notify(heard, syscall.SIGTERM, syscall.SIGUSR1)
	lost := make(chan error, 1)
	if len(args) > 1 {
		loader := exec.Command("/bin/sleep", "1000")
		if err := loader.Start(); err != nil {
			fmt.Fprintln(os.Stdout, err)
			return 1
		}
		go func() { lost <- loader.Wait() }()
		defer func() { _ = loader.Process.Kill() }()
	}
	fmt.Fprintln(os.Stdout, "trains")
	for saves := false; ; {
		select {
		case number := <-heard:
			fmt.Fprintln(os.Stdout, "heard", number)
			saves = true
		case err := <-lost:
			fmt.Fprintln(os.Stdout, "lost its loader:", err)
			return 1
		case <-time.After(10 * time.Millisecond): // so a signal that was sent before the file existed is heard
			if _, err := os.Stat(args[0]); err == nil && saves {
				fmt.Fprintln(os.Stdout, "saved")
				return 0
			}
		}
	}
}

// forwarder runs a command in its own process group, passes signals on to it, and ends with it, as sudo and most launchers do.
func forwarder(args []string) int {
	heard := make(chan os.Signal, 10)
	signal.Notify(heard, syscall.SIGTERM, syscall.SIGUSR1)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	go func() {
		for number := range heard {
			_ = cmd.Process.Signal(number)
			fmt.Fprintln(os.Stdout, "passed on")
		}
	}()
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

// TestASignalGoesWhereAKubeletSendsIt stops programs that a second signal, or one to their children, would keep from saving.
func TestASignalGoesWhereAKubeletSendsIt(t *testing.T) {
	t.Parallel()
	const (
		wrapper = `trap 'sleep 0.2; kill -%[2]s $child; echo passed on' %[2]s; %[1]s & child=$!; echo waits; wait $child; wait $child; echo wrapped`
		leaver  = `trap 'exit 0' %[2]s; %[1]s & wait`
		exiting = `trap 'echo bye' EXIT; %[1]s; echo after`
	)
	// The wrapper takes its time, since signals that come at once count as one.
	for name, tc := range map[string]struct{ shell, script string }{
		"P63b: a shell that passes the signal on":                  {"sh", wrapper},
		"P63b: a shell that ends at once and passes nothing on":    {"sh", leaver},
		"P63b: a shell that cleans up when it exits":               {"bash", exiting},
		"P63b: a shell that handles no signal":                     {"sh", `%[1]s; exit 3`},
		"P63b: a launcher that catches signals and passes them on": {"sh", roleEnv + `=forwarder exec "$SELF" env %[1]s`},
		"P63b: a program whose data loaders die of the signal":     {"sh", `exec %[1]s loaders`},
		"P63b: such a program behind a shell that passes it on":    {"sh", strings.ReplaceAll(wrapper, "%[1]s", "%[1]s loaders")},
	} {
		for way, number := range map[string]syscall.Signal{"a stop": syscall.SIGTERM, "a planned stop": syscall.SIGUSR1, "the kubelet": syscall.SIGTERM, "a stop of a warm program": syscall.SIGTERM} {
			t.Run(name+", by "+way, func(t *testing.T) {
				if _, err := exec.LookPath(tc.shell); err != nil {
					t.Skip(err)
				}
				onBoth(t, func(t *testing.T, place option) {
					p := newPod(t)
					p.listen()
					self, err := os.Executable()
					if err != nil {
						t.Fatal(err)
					}
					train := roleEnv + "=trainer $SELF " + p.path("go")
					if strings.Contains(tc.script, "exec %[1]s") {
						train = "env " + train
					}
					options := []option{place, env("SELF=" + self)}
					if way == "a stop of a warm program" {
						options = append(options, env(protocol.WarmStartEnv+"="+protocol.WarmStartOn))
					}
					names := map[syscall.Signal]string{syscall.SIGTERM: "TERM", syscall.SIGUSR1: "USR1"}
					p.start([]string{tc.shell, "-c", fmt.Sprintf(tc.script+"%.0[2]s", train, names[number])}, options...)
					p.hello()
					p.runs(1)
					p.prints("trains\n")
					if strings.Contains(tc.script, "echo waits") {
						p.prints("waits\n")
					}
					if tc.shell == "bash" { // one that is told before it waits may run its trap and wait nevertheless
						waitFor(t, "the shell waits", func() bool { return p.waits("bash") })
					}
					switch way {
					case "the kubelet":
						p.signal(number)
					case "a planned stop":
						p.say(protocol.Message{Type: protocol.Stop, Planned: &protocol.PlannedStop{GraceSeconds: 300, Signal: "USR1"}})
					default:
						p.say(protocol.Message{Type: protocol.Stop, GraceSeconds: 3600})
					}
					p.prints("heard ")
					if strings.Contains(name, "on") && !strings.Contains(name, "nothing") {
						p.prints("passed on\n")
					}
					if err := os.WriteFile(p.path("go"), nil, 0o600); err != nil {
						t.Fatal(err)
					}
					if way == "the kubelet" {
						<-p.ended
					} else if exit := p.ready(1); !exit.Stopped {
						t.Errorf("it ended as %+v, want that it was stopped", exit)
					}
					p.prints("saved\n")
					said := p.stdout.String()
					if strings.Count(said, "heard") != 1 || strings.Contains(said, "lost") {
						t.Errorf("the program said\n%swant that it heard one signal and saved", said)
					}
				})
			})
		}
	}
}

// waits reports whether a process of the worker waits for a child.
func (p *pod) waits(name string) bool {
	alive, _ := p.below()
	return slices.ContainsFunc(alive, func(pid int) bool {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		wchan, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", pid))
		return string(command) == name+"\n" && string(wchan) == "do_wait"
	})
}

func TestWhichSignalsAProcessHandles(t *testing.T) {
	for name, tc := range map[string]struct {
		status string
		want   signalStatus
	}{
		"P63b: nothing is known":      {"", signalStatus{}},
		"P63b: it catches and blocks": {"Name:\tx\nState:\tS (sleeping)\nSigPnd:\tffffffffffffffff\nSigBlk:\t0000000000000200\nSigIgn:\tffffffffffffffff\nSigCgt:\t0000000000004000\n", signalStatus{1 << 9, 1 << 14}},
		"P63b: what cannot be read":   {"State:\nSigBlk:\tx\nSigCgt:\t-1\n", signalStatus{}},
		"P63b: a signal of real time": {"State:\tR\nSigBlk:\t8000000000000000\nSigCgt:\t0\n", signalStatus{maskOf(64), 0}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := parseStatus([]byte(tc.status)); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

// TestAProcessThatWaitsForASignal blocks it, as tini and dumb-init do, and catches none.
func TestAProcessThatWaitsForASignal(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := setSignalMask(maskOf(syscall.SIGUSR1))
	cmd := exec.Command("/bin/sleep", "1000")
	err := cmd.Start()
	setSignalMask(before)
	if err != nil {
		t.Fatal(err)
	}
	if blocked, other := handles(cmd.Process.Pid, syscall.SIGUSR1), handles(cmd.Process.Pid, syscall.SIGUSR2); !blocked || other {
		t.Errorf("P63b: it handles USR1, which it blocks: %t, and USR2: %t", blocked, other)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// TestAWorkerThatEndsWellAtItsStopSignalIsNotDone: the kubelet sends what the template names, and the container may be needed again (P69b).
func TestAWorkerThatEndsWellAtItsStopSignalIsNotDone(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, place option) {
		p := supervise(t, `trap 'exit 0' USR1; echo up; while :; do :; done`, place, env(protocol.StopSignalEnv+"=10"))
		p.hello()
		p.runs(1)
		p.prints("up\n")
		p.signal(syscall.SIGUSR1)
		p.exits(143)
		if _, err := os.Stat(p.own(protocol.DoneFile)); err == nil {
			t.Error("P69b: it counts as finished")
		}
	})
}
