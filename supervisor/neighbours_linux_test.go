/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// pipes returns the named pipes of the shared volume.
func (p *pod) pipes() (found []string) {
	p.t.Helper()
	err := filepath.WalkDir(p.dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type()&fs.ModeNamedPipe != 0 {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

func TestNothingOfANeighbourComesThroughAGate(t *testing.T) {
	t.Parallel()
	p := supervise(t, works, warmly())
	p.begins()
	p.said("runs epoch=1", 1)
	p.standby(1)
	for _, path := range p.pipes() {
		pipe, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, err = pipe.WriteString(`{"JOBSET_EPOCH":"666"}` + "\n")
		if err != nil {
			t.Fatal(err)
		}
		_ = pipe.Close()
		p.said("runs epoch=666", 1)
		t.Errorf("P160a: through %s a neighbour has chosen the environment of the standby", path)
	}
	p.warms(1)
	p.said("runs epoch=2", 1)
}

func TestANeighbourIsInNobodysWay(t *testing.T) {
	t.Parallel()
	p := newPod(t)
	victim := p.path("victim")
	shared := func(name string) string { return protocol.SharedFile(p.dir, "worker", name) }
	for _, err := range []error{
		os.WriteFile(victim, []byte("a checkpoint"), 0o600),
		os.MkdirAll(shared(protocol.NotifyPrefix+"1")+"/taken", 0o700),
		os.Symlink(victim, shared(protocol.ProgressFile)),
		os.WriteFile(shared(protocol.DoneFile), nil, 0o600),
		os.WriteFile(shared(protocol.StandbyFile), nil, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p.listen()
	p.start([]string{"/bin/sh", "-c", `echo 7 >"$JOBSET_PROGRESS_FILE"; ` + works}, warmly())
	p.hello() // P67: it does not end because a neighbour says that its worker is done
	p.say(protocol.Message{Type: protocol.Start, Epoch: 1, Progress: &protocol.Progress{StartSeconds: 600, StallSeconds: 2}})
	p.next(protocol.Running)
	p.said("runs epoch=1", 1)
	p.standby(1) // P161: nor is it without a standby
	if exit := p.ready(1); !exit.Hung.Hung() || exit.Hung.Step != 7 {
		t.Errorf("P61a: it ended as %+v, want as one that hung at step 7", exit)
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "a checkpoint" {
		t.Errorf("P61a: the worker wrote %q through a link of its neighbour, %v", text, err)
	}
}
