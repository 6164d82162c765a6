/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

func TestAWorkerRestartsWithoutItsContainer(t *testing.T) {
	t.Parallel()
	p := supervise(t, `trap 'exit 0' TERM; echo "epoch $JOBSET_EPOCH after $JOBSET_RESTARTS"; while :; do :; done`)
	if m := p.hello(); m.State != protocol.Held || m.Container != "worker" || m.Epoch != 0 {
		t.Errorf("P65: it says hello as %+v, want held", m)
	}
	p.runs(1)
	p.prints("epoch 1 after 0\n")
	if exit := p.stop(1); exit.Code != 0 || !exit.Stopped {
		t.Errorf("P63 P67: it ended as %+v, want stopped with 0", exit)
	}
	p.runs(2)
	p.prints("epoch 2 after 1\n")
	p.stop(2)
	p.say(protocol.Message{Type: protocol.Leave, Because: "the test says so"})
	p.exits(protocol.ExitLeave)
	for _, want := range []string{
		"starting the worker of epoch 1", "the worker of epoch 1 ended with exit code 0, after a stop request", "leaving, the Pod is to be replaced: the test says so",
	} {
		if strings.Count(p.stderr.String(), want) != 1 {
			t.Errorf("P72: the log has not one line %q", want)
		}
	}
}

func TestAWorkerThatFailsIsReported(t *testing.T) {
	t.Parallel()
	p := supervise(t, "exit 7")
	p.hello()
	p.runs(1)
	if exit := p.ready(1); exit.Code != 7 || exit.Signal != 0 || exit.Stopped || exit.Time.IsZero() {
		t.Errorf("P66: it ended as %+v, want code 7", exit)
	}
	p.say(protocol.Message{Type: protocol.Start, Epoch: 1})
	if exit := p.ready(1); exit.Code != 7 {
		t.Errorf("P62: a start of an epoch that has ended is answered with %+v, want its result", exit)
	}
	p.runs(2)
	p.ready(2)
}

func TestAWorkerThatFinishesIsDone(t *testing.T) {
	t.Parallel()
	p := supervise(t, "exit 0")
	p.hello()
	p.runs(3)
	if m := p.next(protocol.Done); m.Epoch != 3 || m.Exit == nil || m.Exit.Code != 0 {
		t.Errorf("P67: it is done with %+v, want epoch 3, code 0", m)
	}
	p.exits(0)
	file, err := os.Open(p.own(protocol.DoneFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if m, err := protocol.NewReader(file).Next(); err != nil || m.Type != protocol.Done || m.Epoch != 3 {
		t.Errorf("P67: its file says %+v, %v, want done", m, err)
	}
	p.start([]string{"/bin/sh", "-c", "exit 1"})
	p.exits(0)
}
