/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

var supervisorOnce = sync.OnceValues(func() (string, error) {
	path := filepath.Join(binaryDir, "supervisor")
	output, err := exec.Command("go", "build", "-o", path, "../cmd/supervisor").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building the supervisor: %w\n%s", err, output)
	}
	return path, nil
})

// workerScript says which epoch it runs, and exits with the code that it reads.
const workerScript = `echo "$JOBSET_EPOCH $JOBSET_RESTARTS"; read code; exit $code`

// startSupervisor starts a supervisor of workerScript, as a session leader. It returns what the workers say
// and where they read.
func startSupervisor(t *testing.T, dir string) (*exec.Cmd, *bufio.Scanner, io.Writer) {
	t.Helper()
	path, err := supervisorOnce()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "--", "/bin/sh", "-c", workerScript)
	cmd.Env = []string{protocol.DirEnv + "=" + dir, protocol.ContainerEnv + "=x"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd, bufio.NewScanner(out), in
}

// TestAgentAndSupervisorAsProcesses lets the real programs meet, with a fake API server.
func TestAgentAndSupervisorAsProcesses(t *testing.T) {
	t.Parallel()
	binary(t)
	fake, patched := newFakeAPI(), make(chan struct{}, 100)
	fake.set(at(0, 0))
	fake.patched = func() { patched <- struct{}{} }
	kubeconfig, _ := serveFake(t, fake)
	dir := sharedDir(t)
	env := environ("KUBECONFIG", kubeconfig, "WORKER_CONTAINERS", "x", "SUPERVISOR_DIR", dir)
	start := func() (*exec.Cmd, *bytes.Buffer) {
		cmd, stderr := command(t, env)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, stderr
	}
	agent, _ := start()
	supervisor, said, in := startSupervisor(t, dir)
	reports := func(epoch string) protocol.WorkerExit {
		t.Helper()
		select {
		case <-patched:
		case <-time.After(time.Minute):
			t.Fatalf("no report of epoch %s", epoch)
		}
		wantReport(t, fake, "train-0-0-abcde", epoch)
		return fake.lastExit("train-0-0-abcde")
	}
	says := func(want string) {
		t.Helper()
		if !said.Scan() || said.Text() != want {
			t.Fatalf("the worker says %q, %v; want %q", said.Text(), said.Err(), want)
		}
	}
	lifts := func(synced, restarts int32) {
		fake.set(with(at(synced-1, synced), func(js *JobSet) { js.Restarts = restarts }))
	}

	reports("1")
	lifts(1, 0)
	says("1 0")
	_, _ = io.WriteString(in, "3\n")
	if exit := reports("2"); exit.Code != 3 || exit.Epoch != 1 || exit.Stopped || time.Since(exit.Time) > time.Minute {
		t.Errorf("P66: the exit is %+v", exit)
	}
	lifts(2, 1)
	says("2 1")

	// The agent dies; the next one finds the worker running, and stops it when the group breaks.
	_ = agent.Process.Kill()
	_ = agent.Wait()
	agent, stderr := start()
	fake.set(at(2, 2))
	if exit := reports("3"); exit.Signal != int(syscall.SIGTERM) || !exit.Stopped || exit.Epoch != 2 {
		t.Errorf("P66: the exit is %+v", exit)
	}
	lifts(3, 2)
	says("3 2")

	_, _ = io.WriteString(in, "0\n")
	if exit := reports("3"); !exit.Done || exit.Epoch != 3 {
		t.Errorf("P66: the exit is %+v", exit)
	}
	if err := supervisor.Wait(); err != nil {
		t.Errorf("P67: the supervisor ended with %v", err)
	}
	if err := agent.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	wantExit(t, agent, stderr, 143)
}

func TestTheProcessRejectsADirectoryWithoutRoomForASocket(t *testing.T) {
	t.Parallel()
	binary(t)
	kubeconfig, _ := serveFake(t, newFakeAPI())
	cmd, stderr := command(t, environ("KUBECONFIG", kubeconfig, "WORKER_CONTAINERS", "x", "SUPERVISOR_DIR", "/nowhere"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wantExit(t, cmd, stderr, 64)
	if !bytes.Contains(stderr.Bytes(), []byte(`SUPERVISOR_DIR is "/nowhere", where no socket can be served`)) {
		t.Errorf("P37 P61: stderr does not say why:\n%s", stderr)
	}
}
