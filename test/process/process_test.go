/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package process_test

import (
	"os/exec"
	"strings"
	"testing"

	"sigs.k8s.io/jobset/test/process"
)

func start(t *testing.T, script string) *process.Process {
	t.Helper()
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh on this machine")
	}
	p, err := process.Start(process.Command{Dir: t.TempDir(), Name: "p", Program: shell, Args: []string{"-c", script}, Env: []string{"WORD=hello"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Crash)
	return p
}

func TestProcess(t *testing.T) {
	t.Parallel()
	t.Run("what it prints is in its log, and its environment is the one that was given", func(t *testing.T) {
		t.Parallel()
		p := start(t, `echo "$WORD$HOME" && echo end`)
		<-p.Done()
		if got := process.Tail(p.LogFile, 1000); got != "hello\nend\n" {
			t.Errorf("got %q", got)
		}
		if got := process.Tail(p.LogFile, 4); got != "end\n" {
			t.Errorf("of the end got %q", got)
		}
	})
	t.Run("it is stopped, and stopping twice is stopping once", func(t *testing.T) {
		t.Parallel()
		p := start(t, "trap 'echo bye; exit' TERM; echo up; while :; do read -r _ < /dev/null; done")
		for !strings.Contains(process.Tail(p.LogFile, 100), "up") {
			select {
			case <-p.Done():
				t.Fatal("it has ended")
			default:
			}
		}
		for range 2 {
			if err := p.Stop(); err != nil {
				t.Fatal(err)
			}
		}
		if got := process.Tail(p.LogFile, 4); got != "bye\n" {
			t.Errorf("got %q", got)
		}
		if p.CPU() < 0 || p.PID() == 0 {
			t.Errorf("used %s, number %d", p.CPU(), p.PID())
		}
	})
	t.Run("a program that is not there is an error that names it", func(t *testing.T) {
		t.Parallel()
		_, err := process.Start(process.Command{Dir: t.TempDir(), Name: "p", Program: "/not/there"})
		if err == nil || !strings.Contains(err.Error(), "starting p") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a log that is not there is told", func(t *testing.T) {
		t.Parallel()
		if got := process.Tail("/not/there", 10); !strings.Contains(got, "no such file") {
			t.Errorf("got %q", got)
		}
	})
}
