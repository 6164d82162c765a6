/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// warmly makes a supervisor that starts a standby as soon as the program has opened its gate.
func warmly(places ...option) option {
	return func(cmd *exec.Cmd) {
		env(protocol.WarmStartEnv+"="+protocol.WarmStartOn, standbyDelayEnv+"=1ms")(cmd)
		for _, place := range places {
			place(cmd)
		}
	}
}

// comes is what a program does at its gate, and the line that it reads there.
const comes = `stat -Lc %i "$JOBSET_GATE" | grep -qx "$JOBSET_GATE_INODE" || exit 9; echo >"$JOBSET_GATE_READY"; read -r line <"$JOBSET_GATE" || exit 8; `

// imports is the beginning of a program, up to and with its gate. $epoch is "" before.
const imports = `say() { echo "$1 $$ epoch=${JOBSET_EPOCH:-none}"; }; say imports; ` + comes +
	`JOBSET_EPOCH=$(echo "$line" | sed 's/.*"JOBSET_EPOCH":"\([0-9]*\)".*/\1/'); say runs; `

// works is what it does then.
const works = imports + `exec sleep 1000`

// said returns the process that printed so for the nth time, waiting for it.
func (p *pod) said(what string, n int) (pid int) {
	p.t.Helper()
	waitFor(p.t, fmt.Sprintf("%q is printed for the %d. time", what, n), func() bool {
		found := 0
		for line := range strings.Lines(p.stdout.String()) {
			if words := strings.Fields(line); len(words) == 3 && words[0]+" "+words[2] == what {
				if found++; found == n {
					pid, _ = strconv.Atoi(words[1])
					return true
				}
			}
		}
		return false
	})
	return pid
}

// standby waits until the nth standby waits at its gate.
func (p *pod) standby(n int) (pid int) {
	p.t.Helper()
	pid = p.said("imports epoch=none", n)
	waitFor(p.t, "it reads its gate, which blocks it", func() bool { return p.reads(pid) })
	return pid
}

// reads reports whether a process waits until something comes out of a pipe.
func (p *pod) reads(pid int) bool {
	wchan, _ := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", p.host(pid)))
	return strings.HasSuffix(string(wchan), "pipe_read")
}

// host is the number of a process as this test sees it; in a namespace it has another one.
func (p *pod) host(pid int) int {
	alive, _ := p.below()
	for _, is := range alive {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", is))
		for line := range strings.Lines(string(status)) {
			if words := strings.Fields(line); len(words) > 1 && words[0] == "NSpid:" && words[len(words)-1] == strconv.Itoa(pid) {
				return is
			}
		}
	}
	return 0
}

// starts starts a worker and returns how it was started.
func (p *pod) starts(epoch int32) (warm bool) {
	p.t.Helper()
	p.say(protocol.Message{Type: protocol.Start, Epoch: epoch, Restarts: epoch - 1, World: &protocol.World{Size: 4, Rank: 2}})
	m := p.next(protocol.Running)
	if m.Warm == nil || m.Epoch != epoch {
		p.t.Fatalf("the supervisor says %+v, want epoch %d and how it was started", m, epoch)
	}
	return m.Warm.Warm
}

// begins starts epoch 1, which is cold.
func (p *pod) begins() {
	p.t.Helper()
	p.hello()
	if p.starts(1) {
		p.t.Fatal("P161: the first program was a standby")
	}
}

func TestAStandbyIsTheProgramOfTheNextEpoch(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, place option) {
		p := supervise(t, works, warmly(place))
		p.begins()
		p.said("runs epoch=1", 1)
		for epoch := int32(2); epoch <= 4; epoch++ {
			waits := p.standby(int(epoch) - 1)
			if exit := p.stop(epoch - 1); exit.Signal != int(syscall.SIGTERM) {
				t.Fatalf("P63: the program ended as %+v, want by SIGTERM", exit)
			}
			if !p.starts(epoch) {
				t.Fatalf("P161: epoch %d started cold", epoch)
			}
			if runs := p.said(fmt.Sprintf("runs epoch=%d", epoch), 1); runs != waits {
				t.Errorf("P160: process %d runs, the standby was %d", runs, waits)
			}
		}
		p.standby(4)
		p.signal(syscall.SIGTERM)
		p.exits(143)
		waitFor(t, "nobody is left", func() bool { alive, _ := p.below(); return len(alive) == 0 })
		left, _ := filepath.Glob(p.own(protocol.StandbyFile + "*"))
		if len(left) != 0 {
			t.Errorf("P161: %v is left", left)
		}
	})
}

func TestWhatComesThroughAGate(t *testing.T) {
	t.Parallel()
	p := supervise(t, `[ -n "$JOBSET_EPOCH" ] || echo "imports $$ epoch=none"; env | grep -E '^(JOBSET_RANK|MASTER_ADDR|PET_RDZV_ID|NOTIFY_SOCKET)=' | sort;
		`+comes+`echo "$line"; exec sleep 1000`, warmly(), env("JOBSET_RANK=7", "NOTIFY_SOCKET=/run/other",
		protocol.VariablesEnv+"=JOBSET_EPOCH={epoch} JOBSET_RANK={rank} MASTER_ADDR={master} PET_RDZV_ID=u-{epoch}"))
	p.begins()
	p.prints("JOBSET_RANK=2\nNOTIFY_SOCKET=/run/other\nPET_RDZV_ID=u-1\n" + `{"JOBSET_EPOCH":"1","JOBSET_RANK":"2","PET_RDZV_ID":"u-1"}` + "\n")
	waits := p.standby(1)
	p.stop(1)
	if !p.starts(2) {
		t.Fatal("P161: it started cold")
	}
	// None of the variables is set before the gate, not even those that the container has.
	p.prints(fmt.Sprintf("imports %d epoch=none\n", waits) + `{"JOBSET_EPOCH":"2","JOBSET_RANK":"2","PET_RDZV_ID":"u-2"}` + "\n")
}
