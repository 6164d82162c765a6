/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// faulty is a program that starts slowly, ignores SIGTERM every other time, and leaves a process in a session of its own
// both before and after its gate.
const faulty = `stray() { ( setsid sh -c 'echo "stray $$ epoch='"$1"'"; exec sleep 1000' & ); }; ` +
	`[ $(($$ % 2)) = 0 ] || trap '' TERM; stray "${JOBSET_EPOCH:-none}"; sleep 0.02; ` + imports + `stray "$JOBSET_EPOCH"; while :; do sleep 1000; done`

// fault is what happens to a program or its standby before a restart.
type fault string

const (
	waitsAtGate   fault = "the standby waits at its gate"
	stillStarts   fault = "the standby has just started"
	killedBefore  fault = "the standby is killed before it comes to its gate"
	killedAt      fault = "the standby is killed at its gate"
	killedAfter   fault = "the standby is killed when it is through"
	orphaned      fault = "the parent of the standby is killed"
	programDies   fault = "the program dies while the standby waits"
	programOrphan fault = "the parent of the program is killed"
)

var faults = []fault{waitsAtGate, stillStarts, killedBefore, killedAt, killedAfter, orphaned, programDies, programOrphan}

// faultyGroup is one container that is restarted again and again.
type faultyGroup struct {
	*pod
	epoch, warm, cold int
	// killed is the standby that was killed last.
	killed int
}

// kill kills a process by the number that it printed.
func (g *faultyGroup) kill(pid int) {
	if at := g.host(pid); at != 0 {
		_ = syscall.Kill(at, syscall.SIGKILL)
	}
}

// parentOf returns the number of the parent of a process as this test sees both.
func (g *faultyGroup) parentOf(pid int) int {
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(g.host(pid)) + "/stat")
	about, _ := parseStat(pid, stat)
	return about.parent
}

// hasStandby waits until a standby was started in this epoch.
func (g *faultyGroup) hasStandby() {
	g.t.Helper()
	waitFor(g.t, "a standby is started", func() bool {
		log := g.stderr.String()
		at := strings.LastIndex(log, fmt.Sprintf("starting the worker of epoch %d", g.epoch))
		return at >= 0 && strings.Contains(log[at:], "starting a standby")
	})
}

// atGate waits until a standby waits at its gate.
func (g *faultyGroup) atGate() (pid int) {
	g.t.Helper()
	waitFor(g.t, "a standby waits at its gate", func() bool {
		said := g.stdout.String()
		for line := range strings.Lines(said) {
			if words := strings.Fields(line); len(words) == 3 && words[0] == "imports" && words[2] == "epoch=none" {
				pid, _ = strconv.Atoi(words[1])
			}
		}
		return g.reads(pid) && !strings.Contains(said, fmt.Sprintf("runs %d ", pid))
	})
	return pid
}

// suffers lets a fault happen and ends the epoch, with the next standby in the state that the fault says.
func (g *faultyGroup) suffers(f fault) {
	g.t.Helper()
	program := g.said(fmt.Sprintf("runs epoch=%d", g.epoch), 1)
	g.hasStandby()
	switch f {
	case killedBefore:
		alive, _ := g.below()
		for _, pid := range alive {
			if g.isStandby(pid, program) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	case waitsAtGate, killedAfter:
		g.atGate()
	case killedAt:
		g.killed = g.atGate()
		g.kill(g.killed)
	case orphaned:
		g.killed = g.atGate()
		_ = syscall.Kill(g.parentOf(g.killed), syscall.SIGKILL)
	case programDies:
		g.atGate()
		g.kill(program)
		g.ready(int32(g.epoch))
	case programOrphan:
		g.atGate()
		_ = syscall.Kill(g.parentOf(program), syscall.SIGKILL)
		g.ready(int32(g.epoch))
	}
	if f != programDies && f != programOrphan {
		g.stopWithin(int32(g.epoch), 0)
	}
	g.noneOf(g.epoch)
}

// isStandby reports whether a process is one of a standby, and not its parent: it has another gate than the program.
func (g *faultyGroup) isStandby(pid, program int) bool {
	command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	gate := gateOf(pid)
	return gate != "" && gate != gateOf(g.host(program)) && !strings.Contains(string(command), "\x00"+parentCommand+"\x00")
}

// gateOf returns the gate that a process has in its environment.
func gateOf(pid int) string {
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	_, after, _ := strings.Cut(string(environ), "\x00"+protocol.GateInodeEnv+"=")
	gate, _, _ := strings.Cut(after, "\x00")
	return gate
}

// noneOf checks that nothing is left of an epoch that has ended.
func (g *faultyGroup) noneOf(epoch int) {
	g.t.Helper()
	for line := range strings.Lines(g.stdout.String()) {
		words := strings.Fields(line)
		if len(words) != 3 || words[2] != fmt.Sprintf("epoch=%d", epoch) {
			continue
		}
		pid, _ := strconv.Atoi(words[1])
		if at := g.host(pid); at != 0 {
			g.t.Errorf("P162: %s of epoch %d is left as process %d", words[0], epoch, at)
		}
	}
}

// next starts the next epoch, and the one after it if the fault is that the program dies at once.
func (g *faultyGroup) next(f fault) {
	g.t.Helper()
	g.epoch++
	warm := g.starts(int32(g.epoch))
	switch f {
	case waitsAtGate, killedAfter, programDies:
		if !warm {
			g.t.Errorf("P161: cold after %q", f)
		}
	case programOrphan:
		if warm {
			g.t.Errorf("P162: warm after %q", f)
		}
	case stillStarts, killedBefore, killedAt, orphaned:
		// Another one may be there: here they are due after a millisecond.
	}
	g.count(warm)
	if f != killedAfter {
		return
	}
	g.kill(g.said(fmt.Sprintf("runs epoch=%d", g.epoch), 1))
	g.ready(int32(g.epoch))
	g.noneOf(g.epoch)
	g.epoch++
	g.count(g.starts(int32(g.epoch))) // the next standby may have come to its gate meanwhile
}

func (g *faultyGroup) count(warm bool) {
	g.t.Helper()
	if warm {
		g.warm++
	} else {
		g.cold++
	}
	if pid := g.said(fmt.Sprintf("runs epoch=%d", g.epoch), 1); pid == g.killed {
		g.t.Errorf("P161: process %d runs, which was killed", pid)
	}
	if n := strings.Count(g.stdout.String(), "runs ") - g.epoch; n != 0 {
		g.t.Errorf("P62: %d epochs have run %d times", g.epoch, g.epoch+n)
	}
}

// TestAHundredRestartsWithFaultsOfStandbys takes as long as 100 starts of shells and processes take.
func TestAHundredRestartsWithFaultsOfStandbys(t *testing.T) {
	t.Parallel()
	const containers, restarts = 10, 10
	for seed := range uint64(containers) {
		t.Run(fmt.Sprintf("P161 P162: seed %d", seed), func(t *testing.T) {
			t.Parallel()
			place := func(*exec.Cmd) {}
			if seed%2 == 1 {
				needNamespaces(t)
				place = inNamespace
			}
			random := rand.New(rand.NewPCG(seed, 0))
			g := &faultyGroup{pod: supervise(t, faulty, warmly(place))}
			g.begins()
			g.epoch = 1
			harm := false
			for range restarts {
				f := faults[random.IntN(len(faults))]
				if harm { // two that end early in a row would be the last
					f = waitsAtGate
				}
				harm = f != waitsAtGate && f != programDies
				g.suffers(f)
				g.next(f)
				if strings.Contains(g.stderr.String(), "none is started any more") {
					t.Fatal("P161: the supervisor gave up, though never two ended early in a row")
				}
			}
			g.stopWithin(int32(g.epoch), 0)
			g.noneOf(g.epoch)
			g.say(protocol.Message{Type: protocol.Leave, Because: "the test is over"})
			g.exits(protocol.ExitLeave)
			waitFor(t, "nobody is left", func() bool { alive, _ := g.below(); return len(alive) == 0 })
			t.Logf("%d warm, %d cold", g.warm, g.cold)
		})
	}
}
