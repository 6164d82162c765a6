/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// cold stops an epoch, starts the next one, and requires a cold start.
func (p *pod) cold(epoch int32) {
	p.t.Helper()
	p.stop(epoch)
	if p.starts(epoch + 1) {
		p.t.Errorf("P161: epoch %d started warm", epoch+1)
	}
}

// warms does the same and requires that the standby runs.
func (p *pod) warms(epoch int32) {
	p.t.Helper()
	p.stop(epoch)
	if !p.starts(epoch + 1) {
		p.t.Errorf("P161: epoch %d started cold", epoch+1)
	}
}

func (p *pod) hasNoStandby() {
	p.t.Helper()
	if strings.Contains(p.stderr.String(), "starting a standby") {
		p.t.Error("P161: a standby was started")
	}
}

func TestAProgramThatNeverOpensItsGateHasNoStandby(t *testing.T) {
	t.Parallel()
	p := supervise(t, "echo up $JOBSET_EPOCH; exec sleep 1000", warmly())
	p.begins()
	for epoch := int32(1); epoch <= 3; epoch++ {
		p.prints("up " + string('0'+rune(epoch)))
		p.cold(epoch)
	}
	p.hasNoStandby()
}

func TestAProgramThatSaysNothingAtItsGateHasNoStandby(t *testing.T) {
	t.Parallel()
	p := supervise(t, `read -r line <"$JOBSET_GATE"; echo "$line"; exec sleep 1000`, warmly())
	p.begins()
	p.prints(`"JOBSET_EPOCH":"1"`)
	p.cold(1)
	p.prints(`"JOBSET_EPOCH":"2"`)
	p.prints("so it had no standby")
	p.hasNoStandby()
}

func TestAGateOpensOnce(t *testing.T) {
	t.Parallel()
	p := supervise(t, imports+`read -r line < "$JOBSET_GATE" || echo refused; exec sleep 1000`, warmly())
	p.begins()
	p.prints("refused")
	p.standby(1)
	p.warms(1)
	p.said("runs epoch=2", 1)
	waitFor(t, "P160: the second read of the standby fails, too", func() bool { return strings.Count(p.stdout.String(), "refused") == 2 })
	p.stop(2)
}

func TestTwoProcessesAtOneGateGetOneLine(t *testing.T) {
	t.Parallel()
	p := supervise(t, `[ -n "$JOBSET_EPOCH" ] || echo "imports $$ epoch=none"; echo >"$JOBSET_GATE_READY"; cat "$JOBSET_GATE" & cat "$JOBSET_GATE"; echo read; exec sleep 1000`, warmly())
	p.begins()
	waitFor(t, "P160: one of them has the line", func() bool { return strings.Count(p.stdout.String(), `"JOBSET_EPOCH":"1"`) == 1 })
	p.said("imports epoch=none", 1)
	p.stop(1)
	p.starts(2) // warm if one of the two was at the gate already
	waitFor(t, "P160: one of the standby's has the line", func() bool { return strings.Count(p.stdout.String(), `"JOBSET_EPOCH":"2"`) >= 1 })
	p.stop(2)
}

func TestWhatAStandbyForksBelongsToIt(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, place option) {
		// It gets away as well as it can: in a session of its own, with no parent left.
		p := supervise(t, `(setsid sh -c 'echo "forked $$ epoch=${JOBSET_EPOCH:-none}"; exec sleep 1000' & ); `+works, warmly(place))
		p.begins()
		p.said("forked epoch=1", 1)
		p.standby(1)
		pid, forked := p.said("forked epoch=none", 1), 0
		waitFor(t, "what it forked has another parent", func() bool {
			forked = p.host(pid) // not found while its parent has just ended
			return forked != 0
		})
		p.stopWithin(1, 0)
		if err := syscall.Kill(forked, 0); err != nil {
			t.Errorf("P162: what the standby forked was killed with the old program: %v", err)
		}
		if !p.starts(2) {
			t.Error("P161: it started cold")
		}
		p.said("runs epoch=2", 1)
		p.stopWithin(2, 0) // what has left its group gets no SIGTERM
		waitFor(t, "P162: what it forked dies with it", func() bool { return errors.Is(syscall.Kill(forked, 0), syscall.ESRCH) })
	})
}

func TestAStandbyThatIgnoresTERM(t *testing.T) {
	t.Parallel()
	p := supervise(t, "trap '' TERM; "+imports+"while :; do sleep 1000; done", warmly())
	p.begins()
	p.said("runs epoch=1", 1)
	p.standby(1)
	if exit := p.stopWithin(1, 0); exit.Signal != int(syscall.SIGKILL) {
		t.Errorf("P63: the program ended as %+v, want by SIGKILL", exit)
	}
	if !p.starts(2) {
		t.Error("P161: it started cold")
	}
	p.said("runs epoch=2", 1)
	if exit := p.stopWithin(2, 0); exit.Signal != int(syscall.SIGKILL) {
		t.Errorf("P63: the former standby ended as %+v, want by SIGKILL", exit)
	}
}

func TestAStandbyThatWritesIntoItsOwnGate(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		// It runs by its own words, which is its own problem: nobody takes it for the worker of the next epoch.
		"P160a: a line of its own": `echo mine >"$JOBSET_GATE"; read -r line <"$JOBSET_GATE"; say "$line"; exec sleep 1000`,
		// There is no room for the line.
		"P160a: as much as fits": `exec yes >"$JOBSET_GATE"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := supervise(t, `say() { echo "$1 $$ epoch=${JOBSET_EPOCH:-none}"; }; `+
				`if [ -n "$JOBSET_EPOCH" ]; then `+comes+`exec sleep 1000; fi; chmod 666 "$JOBSET_GATE"; echo >"$JOBSET_GATE_READY"; `+script, warmly())
			p.begins()
			waitFor(t, "the standby has written", func() bool {
				alive, _ := p.below()
				for _, pid := range alive {
					wchan, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/wchan")
					if strings.HasSuffix(string(wchan), "pipe_write") {
						return true
					}
				}
				return strings.Contains(p.stdout.String(), "mine")
			})
			p.cold(1)
			p.stop(2)
		})
	}
}

func TestAVolumeThatTakesNothing(t *testing.T) {
	t.Parallel()
	t.Run("P161: a read-only volume: a complete environment, no standby", func(t *testing.T) {
		t.Parallel()
		needNamespaces(t)
		p := supervise(t, imports+`exec sleep 1000`, warmly(inNamespace), env(readOnlyEnv+"=1"))
		p.begins()
		p.said("runs epoch=1", 1)
		p.prints("it was number 2 in a row")
		p.cold(1)
		p.said("runs epoch=2", 1)
	})
	t.Run("P161: no room for the file that says that a standby exists: no standby", func(t *testing.T) {
		t.Parallel()
		p := supervise(t, works, warmly())
		p.hello() // it has looked whether the file exists, and makes it when a program runs
		// Nobody can put a file in the place of a directory.
		if err := os.MkdirAll(p.own(protocol.StandbyFile+"/x"), 0o755); err != nil {
			t.Fatal(err)
		}
		if p.starts(1) {
			t.Error("P161: it started warm")
		}
		p.prints("it was number 2 in a row")
		p.said("runs epoch=1", 1)
		p.stop(1)
		if p.starts(2) {
			t.Error("P161: it started warm")
		}
	})
}

func TestAStandbyThatTookAllMemoryIsTheLast(t *testing.T) {
	t.Parallel()
	p := supervise(t, works, warmly())
	p.begins()
	p.standby(1)
	// As the kernel does with the whole container.
	for alive, _ := p.below(); len(alive) > 0; alive, _ = p.below() {
		p.signal9(alive)
	}
	p.exits(-1)
	p.start([]string{"/bin/sh", "-c", works}, warmly())
	p.hello()
	if p.starts(2) {
		t.Error("P161: it started warm")
	}
	p.said("runs epoch=2", 1)
	p.prints("no standby is started in this container")
	p.cold(2)
	p.said("runs epoch=3", 1)
	if n := strings.Count(p.stderr.String(), "starting a standby"); n != 1 {
		t.Errorf("P161: %d standbys were started, want the first only", n)
	}
}

func (p *pod) signal9(pids []int) {
	_ = p.cmd.Process.Signal(syscall.SIGKILL)
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// TestOrphansOfAStandbyAreKilledBetweenRuns: nothing else kills then, and at the next stop they would take a standby with them.
func TestOrphansOfAStandbyAreKilledBetweenRuns(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, place option) {
		g := &faultyGroup{pod: supervise(t, `setsid sleep 1000 & `+works, warmly(place)), epoch: 1}
		g.begins()
		waits := g.standby(1)
		g.stopWithin(1, 0)
		_ = syscall.Kill(g.parentOf(waits), syscall.SIGKILL)
		waitFor(t, "P162: nobody is left", func() bool { alive, zombies := g.below(); return len(alive) == 0 && zombies == 0 })
		if g.starts(2) {
			t.Error("P161: it started warm")
		}
		g.standby(2)
		g.stopWithin(2, 0)
		if !g.starts(3) {
			t.Error("P161: the next standby went, too")
		}
	})
}

func TestStandbysThatEndEarlyAreToldAndGivenUp(t *testing.T) {
	t.Parallel()
	p := supervise(t, `[ -n "$JOBSET_EPOCH" ] || exit 3; `+works, warmly())
	p.begins()
	p.prints("it was number 2 in a row, so none is started any more")
	p.say(protocol.Message{Type: protocol.Stop, GraceSeconds: 60})
	m := p.next(protocol.Ready)
	if m.Warm == nil || *m.Warm != (protocol.WarmStart{Early: 2, Code: 3, Off: true}) {
		t.Errorf("P165: ready says %+v", m.Warm)
	}
	// What it killed itself is no part of the worker, and may take its time to go.
	waitFor(t, "nobody is left", func() bool { alive, zombies := p.below(); return len(alive) == 0 && zombies == 0 })
}

func TestAProgramThatEndsBeforeAStopIsDoneThoughItsParentIsLate(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, place option) {
		g := &faultyGroup{pod: supervise(t, imports+`read -r line < "$JOBSET_SUPERVISOR_DIR/end"; exit 0`, warmly(place)), epoch: 1}
		end := g.path("end")
		if err := syscall.Mkfifo(end, 0o600); err != nil {
			t.Fatal(err)
		}
		g.begins()
		program := g.said("runs epoch=1", 1)
		parent, is := g.parentOf(program), g.host(program)
		if err := syscall.Kill(parent, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(end, []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "the program has ended", func() bool { return hasEnded(is) })
		g.say(protocol.Message{Type: protocol.Stop, GraceSeconds: 3600})
		<-time.After(100 * time.Millisecond) // the supervisor hears it, and the parent has no processor
		if err := syscall.Kill(parent, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if m := g.pod.next(protocol.Done); m.Epoch != 1 {
			t.Errorf("P67: it is done with %+v, want epoch 1", m)
		}
		g.exits(0)
	})
}

func TestAProgramThatKillsItsParentIsReplacedAsAWhole(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, place option) {
		p := supervise(t, `setsid sleep 1000 & `+imports+`[ "$JOBSET_EPOCH" != 1 ] || { while ! [ -e `+"$JOBSET_SUPERVISOR_DIR/go"+` ]; do sleep 0.01; done; kill -KILL $PPID; }; exec sleep 1000`, warmly(place))
		p.begins()
		p.standby(1)
		if err := os.WriteFile(p.path("go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if exit := p.ready(1); exit.Signal != int(syscall.SIGKILL) {
			t.Errorf("P162: it ended as %+v, want by SIGKILL", exit)
		}
		p.isEmpty() // the orphans belong to nobody that can be told, so the standby went with them
		if p.starts(2) {
			t.Error("P161: it started warm")
		}
		p.said("runs epoch=2", 1)
		p.stopWithin(2, 0) // what has left its group gets no SIGTERM
	})
}

// readOnlyEnv makes the shared volume of a supervisor in a namespace read-only.
const readOnlyEnv = "SUPERVISOR_TEST_READ_ONLY"

func readOnly(dir string) {
	run := protocol.OwnFile(dir, "worker", "")
	err := errors.Join(syscall.Mount(run, run, "", syscall.MS_BIND, ""), syscall.Mount("", run, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""))
	if err != nil {
		panic(err)
	}
}

func TestEvidenceIsThatOfTheProgramAlone(t *testing.T) {
	t.Parallel()
	needNamespaces(t)
	p := supervise(t, works, warmly(inNamespace))
	p.hello()
	p.say(protocol.Message{Type: protocol.Start, Epoch: 1, Progress: &protocol.Progress{StartSeconds: 2}})
	p.next(protocol.Running)
	program, waits := p.said("runs epoch=1", 1), p.standby(1)
	exit := p.ready(1)
	if !exit.Hung.Hung() {
		t.Fatalf("P133: it ended as %+v, want as one that hung", exit)
	}
	log := p.stderr.String()
	if found := strings.Contains(log, "gives no sign"); found && !strings.Contains(log, "pid "+strconv.Itoa(program)+" in") || strings.Contains(log, "pid "+strconv.Itoa(waits)+" in") {
		t.Errorf("P134 P162: the log is to name process %d and not the standby %d:\n%s", program, waits, log)
	}
	if !p.starts(2) {
		t.Error("P161: the kill of a program that hung took the standby")
	}
	p.stop(2)
}
