/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"cmp"
	"fmt"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Step decides what a supervisor does about an event, and what its state is after that. It is pure.
func Step(s State, e Event, set Settings) (State, []Action) {
	switch {
	case e.Connected:
		return s, hello(s, set)
	case e.Message != nil:
		return heard(s, *e.Message, set)
	case e.Started:
		return s, []Action{running(s, set)}
	case e.Exited != nil:
		return exited(s, *e.Exited, set)
	case e.Hung != nil:
		return hung(s, *e.Hung, e.Dumping, set)
	case e.Empty:
		return emptied(s, set)
	case e.Timeout != "":
		return timedOut(s, e.Timeout, e.Left, set)
	case e.Signal != 0:
		return gotSignal(s, e.Signal, set)
	case e.Gate != "":
		return atGate(s, e.Gate, set)
	case e.StandbyDue:
		return startStandby(s)
	case e.StandbyEnded != nil:
		return standbyEnded(s, *e.StandbyEnded, set)
	}
	return s, nil
}

func heard(s State, m protocol.Message, set Settings) (State, []Action) {
	if s.Terminated && s.Phase == Running && m.Type != protocol.Start {
		// The kubelet counts the grace of the Pod, in which the worker may be saving a checkpoint. When it
		// is over nothing is left, so there is nothing to hurry for.
		return s, nil
	}
	grace := time.Duration(max(0, m.GraceSeconds)) * time.Second
	switch m.Type {
	case protocol.Start:
		return start(s, m, set)
	case protocol.Stop:
		if m.Planned != nil { // P142
			return stop(s, m.Planned.Number(), m.Planned.Grace(), set)
		}
		return stop(s, syscall.SIGTERM, grace, set)
	case protocol.Leave:
		s.Leave = cmp.Or(m.Because, "the agent requested it")
		if s.Phase != Running {
			return leaveNow(s)
		}
		return stop(s, syscall.SIGTERM, grace, set)
	}
	return s, nil
}

// start runs a worker, but never a second one beside it, and never an epoch again (P62).
func start(s State, m protocol.Message, set Settings) (State, []Action) {
	asked := Run{Epoch: m.Epoch, Bypass: m.Bypass, Restarts: m.Restarts, Progress: m.Progress}
	if m.World != nil {
		asked.World = *m.World
	}
	same := s.Run.Epoch == asked.Epoch && s.Run.Bypass == asked.Bypass
	switch {
	case m.Unwatched:
		return unwatch(s, same)
	case s.Terminated:
		return s, refuse(m, "the container is being terminated")
	case s.Leave != "":
		return s, refuse(m, "the Pod is to be replaced: "+s.Leave)
	case m.Epoch < 1 && !m.Bypass:
		return s, refuse(m, fmt.Sprintf("start has epoch %d, it must be at least 1", m.Epoch))
	case s.Phase == Held, s.Phase == Ended && (!same || m.Bypass):
		return launch(s.Standby, asked)
	case !same:
		return s, refuse(m, fmt.Sprintf("the worker of %s has not ended", s.Run))
	case s.Phase == Ended:
		return s, []Action{ready(s, set)}
	case s.Phase == Stuck:
		return s, []Action{outlived(s, set)}
	case s.Phase == Running && !s.Stopping:
		return s, []Action{running(s, set)}
	}
	return s, nil // its Ready follows
}

// unwatch ends no worker any more for want of a sign (P131a). It is not about another run than the one that goes on.
func unwatch(s State, same bool) (State, []Action) {
	if !same || !s.Watched() {
		return s, nil
	}
	s.Run.Unwatched = true
	return s, []Action{say("the worker of %s is not watched any longer: in-place restart is off", s.Run)}
}

// stop asks the worker to end, and answers if there is nothing to wait for (P63).
func stop(s State, signal syscall.Signal, grace time.Duration, set Settings) (State, []Action) {
	switch s.Phase {
	case Held, Ended:
		return s, []Action{ready(s, set)}
	case Stuck:
		return s, []Action{outlived(s, set)}
	case Killing:
		return s, nil
	}
	if s.Stopping || s.Hung.Hung() { // one that hangs is about to be killed
		return s, nil
	}
	s.Stopping, s.Asked = true, signal
	return s, []Action{{Signal: signal}, {Timeout: max(grace, time.Nanosecond)}}
}

// hung ends a worker that gives no sign any more (P133): at once, since what hangs saves nothing.
// But what writes its stacks may do that first.
func hung(s State, h protocol.Hang, dumping time.Duration, set Settings) (State, []Action) {
	if !s.Watched() {
		return s, nil
	}
	s.Hung = h
	if dumping > 0 {
		return s, []Action{say("the worker of %s hangs, and is killed in %s: %s", s.Run, dumping, h), {Timeout: dumping}}
	}
	s.Phase = Killing
	return s, []Action{say("the worker of %s hangs, and is killed: %s", s.Run, h), {Kill: true}, {Timeout: set.KillTimeout}}
}

// exited decides what the end of the worker's main process means: of the worker, of the container, or only of an epoch.
func exited(s State, exit protocol.Exit, set Settings) (State, []Action) {
	if s.Exited {
		return s, nil
	}
	exit.Stopped, exit.Hung, exit.Seen = s.Stopping || s.Terminated, s.Hung, s.Seen
	asked := exit.Stopped || exit.Hung.Hung()
	s.Exited, s.Exit = true, exit
	actions := []Action{mark(protocol.RunEnd, s, "the worker of %s ended %s", s.Run, describe(exit))}
	// As the first process of its namespace a supervisor that ends takes every other process with it, so
	// only a supervisor that stays has to kill what is left.
	switch {
	case s.Phase == Stuck:
		return s, actions
	case s.Phase == Running && exit.Stopped:
		// It may be a shell that does not wait for the program that is saving its state, and did not tell it: the
		// grace is that of the whole tree (P63a), and so is the signal (P63b).
		return s, append(actions, Action{Signal: s.Asked})
	case s.Leave != "":
		s, more := leaveNow(s)
		return s, append(actions, more...)
	case !asked && exit.Code == 0:
		done := protocol.Message{Type: protocol.Done, Container: set.Container, Epoch: s.Run.Epoch, Bypass: s.Run.Bypass, Exit: exitOf(s), Warm: warmStart(s, set)}
		// The file first: a container that ended with 0 and has none does not count as done (P67).
		return s, append(actions, Action{Done: &done}, send(done), finish(0))
	case !asked && set.Pass[exit.Code]:
		return s, append(actions, finish(exit.Code))
	case s.Phase == Killing: // since its time to end was over
		return s, actions
	}
	s.Phase = Killing
	return s, append(actions, Action{Kill: true}, Action{Timeout: set.KillTimeout})
}

// emptied decides what it means that no process of the worker is left.
func emptied(s State, set Settings) (State, []Action) {
	switch {
	case !s.Exited || s.Phase == Held || s.Phase == Ended:
		return s, nil
	case s.Leave != "":
		return leaveNow(s)
	case s.Terminated:
		return s, []Action{finish(cmp.Or(s.Exit.Code, exitTerminated))}
	}
	s.Phase = Ended
	return s, []Action{ready(s, set)}
}

// timedOut ends a phase whose time is over. The worker may have ended by itself in the same moment.
func timedOut(s State, of Phase, left string, set Settings) (State, []Action) {
	if of != s.Phase {
		return s, nil
	}
	switch s.Phase {
	case Running:
		if s.Terminated {
			return s, nil // the kubelet counts since it sent its signal (P69a)
		}
		s.Phase = Killing
		return s, []Action{{Kill: true}, {Timeout: set.KillTimeout}}
	case Killing:
		if s.Leave != "" {
			return leaveNow(s)
		}
		s.Phase, s.Left = Stuck, left
		return s, []Action{say("%s", outlived(s, set).Send.Because), outlived(s, set), {Timeout: stuckTimeout}}
	case Stuck:
		s.Leave = fmt.Sprintf("%s, and no agent responded", outlived(s, set).Send.Because)
		return leaveNow(s)
	}
	return s, nil
}

// gotSignal handles a signal to the supervisor: by TERM, INT and QUIT the kubelet ends the container (P69), or by the one that the
// template names (P69b).
func gotSignal(s State, number syscall.Signal, set Settings) (State, []Action) {
	switch number {
	case syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, set.StopSignal:
		s.Terminated = true
		if s.Phase != Running {
			return s, []Action{say("ending: signal %d, and no worker runs", int(number)), finish(exitTerminated)}
		}
		if s.Stopping {
			return s, nil // the worker was told, and may take a second signal for an order to hurry (P69a)
		}
		s.Asked = number
	}
	if s.Phase != Running {
		return s, nil
	}
	return s, []Action{{Signal: number}}
}

func leaveNow(s State) (State, []Action) {
	return s, []Action{say("leaving, the Pod is to be replaced: %s", s.Leave), finish(protocol.ExitLeave)}
}
