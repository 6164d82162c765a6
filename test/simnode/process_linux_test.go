/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package simnode

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const helperEnv = "SIMNODE_HELPER"

// TestMain turns the test binary into the container when it is asked to.
func TestMain(m *testing.M) {
	mode, ok := os.LookupEnv(helperEnv)
	if !ok {
		os.Exit(m.Run())
	}
	helper(mode)
}

// helper tells that it is ready by creating a file, and then does what its mode says.
func helper(mode string) {
	ready := func() { _ = os.WriteFile("ready", []byte(strconv.Itoa(os.Getpid())), 0o600) }
	if code, err := strconv.Atoi(mode); err == nil {
		fmt.Println("hello from", os.Args[1:])
		os.Exit(code)
	}
	switch mode {
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "parent":
		child := exec.Command(os.Args[0])
		child.Env = []string{helperEnv + "=stubborn"}
		child.Dir = filepath.Join(".", "child")
		child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		if err := child.Start(); err != nil {
			os.Exit(3)
		}
	}
	ready()
	<-time.After(time.Hour)
}

type processWorld struct {
	*gomega.WithT
	rt  *ProcessRuntime
	dir string
}

func newProcessWorld(t *testing.T) *processWorld {
	w := &processWorld{WithT: gomega.NewWithT(t), dir: t.TempDir()}
	var err error
	w.rt, err = NewProcessRuntime(ProcessRuntimeOptions{Images: map[string][]string{"helper": {os.Args[0]}}, LogDir: t.TempDir()})
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(os.Mkdir(filepath.Join(w.dir, "child"), 0o755)).To(gomega.Succeed())
	return w
}

func (w *processWorld) request(mode string) ContainerRequest {
	return ContainerRequest{
		Pod:       &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "u"}},
		Container: &corev1.Container{Name: "c", Image: "helper"}, Args: []string{"one", "two"},
		Env: []corev1.EnvVar{{Name: helperEnv, Value: mode}}, PodDir: w.dir,
	}
}

func (w *processWorld) start(mode string) Process {
	p, err := w.rt.Start(context.Background(), w.request(mode))
	w.Expect(err).NotTo(gomega.HaveOccurred())
	return p
}

func (w *processWorld) ready(file string) int {
	pid := 0
	w.Eventually(func() error {
		data, err := os.ReadFile(filepath.Join(w.dir, file))
		if err != nil {
			return err
		}
		pid, err = strconv.Atoi(string(data))
		return err
	}, patience, time.Millisecond).Should(gomega.Succeed())
	return pid
}

func (w *processWorld) exits(p Process, code int) {
	w.Eventually(p.Done(), patience).Should(gomega.BeClosed())
	w.Expect(p.ExitCode()).To(gomega.Equal(code))
	_, ok := w.rt.PID("u", "c")
	w.Expect(ok).To(gomega.BeFalse(), "a dead container has no process id")
}

func TestAProcessReportsItsExitCodeAndItsLog(t *testing.T) {
	w := newProcessWorld(t)
	w.exits(w.start("0"), 0)
	w.exits(w.start("88"), 88)
	log, err := os.ReadFile(w.rt.LogPath(w.request("").Pod, "c"))
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.Expect(strings.Count(string(log), "--- simnode:")).To(gomega.Equal(2))
	w.Expect(strings.Count(string(log), "hello from [one two]")).To(gomega.Equal(2))
}

func TestAProcessThatIsTerminatedReports143(t *testing.T) {
	w := newProcessWorld(t)
	p := w.start("sleep")
	pid, ok := w.rt.PID("u", "c")
	w.Expect(ok).To(gomega.BeTrue())
	w.Expect(w.ready("ready")).To(gomega.Equal(pid))
	p.Terminate()
	w.exits(p, 143)
}

func TestAProcessThatIgnoresTermReports137WhenKilled(t *testing.T) {
	w := newProcessWorld(t)
	p := w.start("stubborn")
	w.ready("ready")
	p.Terminate()
	w.Expect(p.Done()).NotTo(gomega.BeClosed())
	p.Kill()
	w.exits(p, 137)
	p.Kill() // no stranger is hit
}

func TestAProcessKilledFromOutsideReports137(t *testing.T) {
	w := newProcessWorld(t)
	p := w.start("sleep")
	pid, _ := w.rt.PID("u", "c")
	w.Expect(syscall.Kill(pid, syscall.SIGKILL)).To(gomega.Succeed())
	w.exits(p, 137)
}

func TestTheWholeSessionDiesWithItsContainer(t *testing.T) {
	for name, end := range map[string]func(Process){"killed": Process.Kill, "terminated": Process.Terminate} {
		t.Run(name, func(t *testing.T) {
			w := newProcessWorld(t)
			p := w.start("parent")
			w.ready("ready")
			child := w.ready("child/ready")
			end(p)
			w.Eventually(p.Done(), patience).Should(gomega.BeClosed())
			w.Eventually(func() bool { return alive(child) }, patience, time.Millisecond).Should(gomega.BeFalse())
		})
	}
}

// alive tells zombies, which a machine without a reaper keeps, from processes that run.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func TestACommandReplacesTheEntrypoint(t *testing.T) {
	w := newProcessWorld(t)
	req := w.request("0")
	req.Command, req.Args = []string{"/bin/sh", "-c"}, []string{"exit 5"}
	p, err := w.rt.Start(context.Background(), req)
	w.Expect(err).NotTo(gomega.HaveOccurred())
	w.exits(p, 5)
	req.Container = &corev1.Container{Name: "c", Image: "other"}
	req.Command = nil
	_, err = w.rt.Start(context.Background(), req)
	w.Expect(err).To(gomega.MatchError(ErrUnknownImage))
}

func TestANodeOfProcessesLeavesNoneBehind(t *testing.T) {
	w := newWorld(t)
	p := newProcessWorld(t)
	pod := groupPod(w.gate)
	for _, c := range []*corev1.Container{&pod.Spec.InitContainers[0], &pod.Spec.Containers[0]} {
		c.Image, c.Env = "helper", []corev1.EnvVar{{Name: helperEnv, Value: "stubborn"}}
	}
	w.startReady(pod, func(o *Options) { o.Runtime = p.rt })
	agent, _ := p.rt.PID("uid-p", "agent")
	worker, _ := p.rt.PID("uid-p", "worker")
	w.Expect(syscall.Kill(worker, syscall.SIGKILL)).To(gomega.Succeed())
	want := measured("Running | agent ready | worker exit137 | restarting")
	w.expect(want[len(want)-1])
	w.Expect(w.since(allReady)).To(gomega.Equal(want))
	w.Expect(alive(agent)).To(gomega.BeFalse())
	again, _ := p.rt.PID("uid-p", "worker")
	w.Expect(again).NotTo(gomega.Equal(worker))
	w.stop()
	w.Expect(alive(again)).To(gomega.BeFalse())
}
