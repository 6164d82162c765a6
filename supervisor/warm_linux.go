/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"errors"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// warm is the Host where warm start is on: each program has a parent of its own (P162), and a gate.
type warm struct {
	*container
	program, standby *tree
	// dropped are standbys that are being killed.
	dropped []*tree
	// strays: a parent was killed, so its orphans are ours and belong to nobody. They are killed with all that there is.
	strays bool
	// noticed: it is known that the program has passed its gate.
	noticed bool
}

// marker is the file that exists while a standby does.
func (w *warm) marker() string { return w.set.own(protocol.StandbyFile) }

// Failed implements WarmHost. Whatever is there counts: nobody is worse off without a standby.
func (w *warm) Failed() bool {
	_, err := os.Lstat(w.marker())
	if err == nil {
		w.log.Warn("no standby is started in this container: one existed when the container was killed, so its memory may not be enough for two programs", "file", w.marker())
	}
	return err == nil
}

// Start implements Host. A program that reads no gate has its complete environment all the same, and gets no standby.
func (w *warm) Start(r Run) *protocol.Exit {
	w.fresh()
	more := w.listen(r)
	line, err := gateLine(w.decided(r, more))
	if err != nil {
		line = []byte("{}\n") // the environment has them all
	}
	planted, err := w.plant(func(gate []string) []string {
		return workerEnv(os.Environ(), w.set.Variables, r, append(more, gate...)...)
	})
	if err != nil {
		return w.notStarted(err)
	}
	w.program, w.parent = planted, planted.parent
	if err := planted.gate.give(line); err != nil {
		w.log.Error("nothing comes through the gate of the worker", "error", err)
	}
	go planted.gate.attend(w.changed)
	return nil
}

// plant starts a program with a gate, and the environment that it has with that.
func (w *warm) plant(env func(gate []string) []string) (*tree, error) {
	gate, err := newGate()
	if err != nil {
		return nil, err
	}
	planted, err := plant(w.command, env(gate.env()), gate, w.changed)
	if err != nil {
		gate.abandon()
	}
	return planted, err
}

// fresh forgets the program that has ended.
func (w *warm) fresh() {
	if w.program != nil {
		w.program.fell()
	}
	w.program, w.noticed = nil, false
	w.killer, w.oomKills = killer{}, oomKills()
}

// decided are the variables that a run decides, and no other.
func (w *warm) decided(r Run, others []string) []string {
	return workerEnv(nil, w.set.Variables, r, others...)
}

var (
	errMarker = errors.New("its marker file cannot be written, without which an out-of-memory kill would repeat itself")
	errAbsent = errors.New("it has ended")
)

// Prepare implements WarmHost. The environment lacks what the run decides: whoever uses that too early fails at once.
func (w *warm) Prepare() *protocol.Exit {
	no := func(err error) *protocol.Exit {
		w.log.Warn("no standby can be started", "error", err)
		return &protocol.Exit{Code: notExecutable, Time: time.Now().UTC()}
	}
	if err := replace(w.marker(), modeReadable, func(io.Writer) error { return nil }); err != nil {
		return no(errors.Join(errMarker, err))
	}
	nobody := make([]Variable, 0, len(w.set.Variables)+len(signVariables))
	for _, v := range w.set.Variables {
		nobody = append(nobody, Variable{v.Name, unknown})
	}
	for _, name := range signVariables {
		nobody = append(nobody, Variable{name, unknown})
	}
	planted, err := w.plant(func(gate []string) []string { return workerEnv(os.Environ(), nobody, Run{}, gate...) })
	if err != nil {
		_ = os.Remove(w.marker())
		return no(err)
	}
	w.standby = planted
	return nil
}

// unknown is a value that no run decides, so a variable with it is not set.
const unknown = protocol.MasterPlaceholder

// signVariables are set by the supervisor itself, for the signs of a worker.
var signVariables = []string{protocol.NotifySocketEnv, protocol.ProgressFileEnv, protocol.WatchdogEnv}

// Open implements WarmHost.
func (w *warm) Open(r Run) error {
	if w.standby == nil || w.standby.gone || w.standby.exit != nil {
		return errAbsent
	}
	w.fresh()
	line, err := gateLine(w.decided(r, w.listen(r)))
	if err != nil {
		return err
	}
	if err := w.standby.gate.pass(line, w.standby.ended); err != nil {
		return err
	}
	w.program, w.standby = w.standby, nil
	w.parent, w.noticed = w.program.parent, true
	_ = os.Remove(w.marker())
	return nil
}

// Drop implements WarmHost.
func (w *warm) Drop() {
	if w.standby == nil {
		return
	}
	if w.standby.gone {
		w.standby.gate.abandon()
	} else {
		// Its gate stays until it is gone: a program that comes to no gate may think that it is through.
		w.dropped = append(w.dropped, w.standby)
	}
	_ = w.standby.socket.Close()
	w.standby = nil
	_ = os.Remove(w.marker())
}

// LookAtGates implements WarmHost.
func (w *warm) LookAtGates() (passed bool, ended *protocol.Exit) {
	if w.program != nil && !w.noticed && w.program.gate.passed() {
		w.noticed, passed = true, true
	}
	if w.standby != nil {
		if ended = w.standby.look(); ended != nil {
			w.Drop() // with what it left
		}
	}
	return passed, ended
}

// Signal implements Host.
func (w *warm) Signal(number syscall.Signal) {
	if w.program != nil {
		w.program.signal(number)
	}
}

// Kill implements Host. It spares the standby, but for the last resort.
func (w *warm) Kill() {
	switch {
	case w.strays:
		w.Drop() // it did not end by itself, and counts as none that ended early
		w.killer.kill(os.Getpid(), time.Now())
	case w.program != nil:
		w.program.kill(&w.killer)
	}
}

// Look implements Host.
func (w *warm) Look() (exited *protocol.Exit, empty bool) {
	none := w.reap(0, w.ended)
	if w.program == nil {
		return nil, !w.strays || none
	}
	if exited = w.program.look(); exited != nil {
		exited.OOMKilled = oomKills() > w.oomKills
		if gate := w.program.gate; gate.isRead() && !gate.passed() {
			w.log.Warn("the worker has read its gate without a word that it is there, so it had no standby", "fix", "let it write a line to "+protocol.GateReadyEnv+" before it reads")
		}
		w.program.gate.abandon()
	}
	if !w.program.gone {
		return exited, false
	}
	w.strays = w.strays && !none || !w.program.clean() && !none
	if w.strays { // they may be found after the end of a run, when nothing else kills any more
		w.Kill()
	}
	return exited, !w.strays
}

// ended notes the end of a child, which is an orphan if it is no parent.
func (w *warm) ended(pid int, status syscall.WaitStatus) {
	for _, t := range append([]*tree{w.program, w.standby}, w.dropped...) {
		if t != nil && t.parent == pid && !t.gone {
			t.gone, t.status = true, status
			t.gate.abandon()
			if !t.clean() && !w.strays {
				w.strays, w.killer = true, killer{} // the last resort is counted from here
			}
		}
	}
	w.dropped = slices.DeleteFunc(w.dropped, func(t *tree) bool { return t.gone })
}

// end leaves nothing in the volume that a later supervisor of the container would take for an end by force.
func (w *warm) end() {
	w.Drop()
	for _, t := range w.dropped {
		t.gate.abandon()
	}
	if w.program != nil {
		w.program.fell()
	}
}
