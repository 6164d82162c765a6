/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// stopWithin ends the worker, in so many seconds.
func (p *pod) stopWithin(epoch, seconds int32) protocol.Exit {
	p.t.Helper()
	p.say(protocol.Message{Type: protocol.Stop, GraceSeconds: seconds})
	return p.ready(epoch)
}

// TestTheGraceBelongsToTheWholeTree: a shell does not wait for the program that it runs (P63a). Here as in other tests
// of signals the program starts nothing: a child that a shell has just forked may lose a signal before it executes,
// and the supervisor would rightly wait for it.
func TestTheGraceBelongsToTheWholeTree(t *testing.T) {
	t.Parallel()
	for name, byKubelet := range map[string]bool{"P63a: a stop": false, "P63a: SIGTERM of the kubelet": true} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, place option) {
				p := newPod(t)
				p.listen()
				save := fmt.Sprintf("until [ -e %s ]; do :; done; echo saved; exit 0", p.path("go"))
				trainer := fmt.Sprintf(`trap '%s' TERM; echo up; while :; do :; done`, save)
				p.start([]string{"/bin/sh", "-c", fmt.Sprintf(`/bin/sh -c "%s"; echo done`, trainer)}, place)
				p.hello()
				p.runs(1)
				p.prints("up\n")
				if byKubelet {
					p.signal(syscall.SIGTERM)
				} else {
					p.say(protocol.Message{Type: protocol.Stop, GraceSeconds: 3600})
				}
				p.prints("ended by signal 15") // the shell
				if err := os.WriteFile(p.path("go"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if byKubelet {
					p.exits(143)
					p.quiet()
				} else if exit := p.ready(1); !exit.Stopped {
					t.Errorf("it ended as %+v, want that it was stopped", exit)
				}
				p.prints("saved\n")
			})
		})
	}
}

// TestALinkIsNoFileThatSaysDone: the other workers of the Pod can make one (P67).
func TestALinkIsNoFileThatSaysDone(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	if err := os.Symlink("/etc/hostname", p.own(protocol.DoneFile)); err != nil {
		t.Fatal(err)
	}
	p.listen()
	p.start([]string{"/bin/sh", "-c", "exit 0"})
	p.hello()
	p.runs(1)
	p.exits(0)
	if info, err := os.Lstat(p.own(protocol.DoneFile)); err != nil || !info.Mode().IsRegular() {
		t.Errorf("P67: the file is %v, %v", info, err)
	}
}

// TestAWorkerFinishesAndNoFileCanSaySo: its agent is told all the same (P67).
func TestAWorkerFinishesAndNoFileCanSaySo(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	if err := os.MkdirAll(p.own(protocol.DoneFile+"/x"), 0o755); err != nil { // which no file can replace
		t.Fatal(err)
	}
	p.listen()
	p.start([]string{"/bin/sh", "-c", "exit 0"})
	p.hello()
	p.runs(1)
	if m := p.next(protocol.Done); m.Epoch != 1 {
		t.Errorf("P67: the agent is told %+v, want done at 1", m)
	}
	p.exits(0)
	p.prints("cannot record that the worker has finished")
}
