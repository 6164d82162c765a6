/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
	proc "sigs.k8s.io/jobset/test/process"
)

// build builds the supervisor as its image does.
func build(t testing.TB) (path string, size int64) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "supervisor")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", path, "../cmd/supervisor")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the supervisor: %v\n%s", err, output)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, info.Size()
}

func TestTheBinaryIsSmall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds the supervisor")
	}
	if _, size := build(t); size > 4_000_000 {
		t.Errorf("P61: the binary has %d bytes, want at most 4 MB", size)
	}
}

// BenchmarkStart measures the budget of P61: from the exec of the supervisor to that of the worker, with an agent that
// says start as soon as it hears hello.
func BenchmarkStart(b *testing.B) {
	path, size := build(b)
	var walls, memories []float64
	for b.Loop() {
		p := newPod(b)
		p.listen()
		started := time.Now()
		p.start([]string{"/bin/sleep", "1000"}, func(cmd *exec.Cmd) { cmd.Path = path })
		p.hello()
		p.runs(1) // said when the worker has been executed
		walls = append(walls, time.Since(started).Seconds()*1000)
		p.stop(1)
		p.runs(2)
		memories = append(memories, highWater(p.cmd.Process.Pid))
		p.say(protocol.Message{Type: protocol.Leave})
		p.exits(protocol.ExitLeave)
	}
	report(b, "ms-to-worker", walls)
	report(b, "MiB-rss", memories)
	b.ReportMetric(float64(size)/1e6, "MB-binary")
}

// BenchmarkRestart measures a restart of the worker: from stop to the exec of the next one.
func BenchmarkRestart(b *testing.B) {
	path, _ := build(b)
	p := newPod(b)
	p.listen()
	p.start([]string{"/bin/sleep", "1000"}, func(cmd *exec.Cmd) { cmd.Path = path })
	p.hello()
	epoch := int32(1)
	p.runs(epoch)
	var walls []float64
	for b.Loop() {
		started := time.Now()
		p.stop(epoch)
		epoch++
		p.runs(epoch)
		walls = append(walls, time.Since(started).Seconds()*1000)
	}
	report(b, "ms-restart", walls)
	report(b, "MiB-rss", []float64{highWater(p.cmd.Process.Pid)})
}

func report(b *testing.B, name string, values []float64) {
	slices.Sort(values)
	b.ReportMetric(values[len(values)/2], name+"-median")
	b.ReportMetric(values[len(values)-1], name+"-max")
}

// highWater returns the peak resident memory of a process in MiB.
func highWater(pid int) (mib float64) {
	peak, _ := proc.PeakResident(pid)
	return peak / (1 << 20)
}
