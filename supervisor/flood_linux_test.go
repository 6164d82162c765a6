/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// floods is how long the flooder sends, as much as it can: without a limit that is thousands of datagrams in a millisecond.
const floods = 3 * time.Second

// flooder is a worker that sends all kinds of signs, and what looks like signs, and exits with 7.
func flooder([]string) int {
	socket, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0) // one that blocks when the supervisor does not keep up
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	signs := []string{
		"WATCHDOG=1", "WATCHDOG=maybe", "X_JOBSET_STEP=-1", "X_JOBSET_STEP=1e9", "X_JOBSET_STEP=" + strconv.Itoa(math.MaxInt64), "X_JOBSET_STEP=3",
		"X_JOBSET_STEP=99999999999999999999", "EXTEND_TIMEOUT_USEC=18446744073709551615", "EXTEND_TIMEOUT_USEC=-5", "", "\x00\n=\n\xff",
		strings.Repeat("X_JOBSET_STEP=5\n", 4096),
	}
	sent := 0
	for until := time.Now().Add(floods); time.Now().Before(until); sent++ {
		if err := syscall.Sendto(socket, []byte(signs[sent%len(signs)]), 0, &syscall.SockaddrUnix{Name: os.Getenv("NOTIFY_SOCKET")}); err != nil {
			fmt.Fprintln(os.Stdout, err)
			return 1
		}
	}
	fmt.Fprintln(os.Stdout, "sent", sent)
	return 7
}

// It takes three seconds: a short flood would show no share of a processor.
func TestAWorkerThatFloodsItsSupervisor(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := newPod(t)
	p.listen()
	p.start([]string{"/bin/sh", "-c", roleEnv + "=flooder exec " + self})
	p.hello()
	before := highWater(p.cmd.Process.Pid)
	p.watched(1)
	if exit := p.ready(1); exit.Code != 7 || exit.Hung.Hung() {
		t.Errorf("P130: it ended as %+v, want by itself with 7", exit)
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	fields := splitStat(stat)
	user, _ := strconv.Atoi(string(fields[11]))
	system, _ := strconv.Atoi(string(fields[12]))
	cpu := time.Duration(user+system) * 10 * time.Millisecond // the unit of /proc
	if grown := highWater(p.cmd.Process.Pid) - before; cpu > floods/2 || grown > 8 {
		t.Errorf("P130: the supervisor used %s of a processor in %s and %.1f MiB, want less than half and 8 MiB", cpu, floods, grown)
	}
	t.Logf("%s; the supervisor used %s of a processor in %s", strings.TrimSpace(p.stdout.String()), cpu, floods)
	p.watched(2)
	p.say(protocol.Message{Type: protocol.Stop})
}
