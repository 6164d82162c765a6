/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"syscall"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

const (
	// stuckTimeout is how long a supervisor that is stuck waits for the agent to say leave, which itself waits for a minute (P70b).
	stuckTimeout = 2 * time.Minute
	// exitTerminated is the exit code of a container that ends by SIGTERM.
	exitTerminated = 128 + int(syscall.SIGTERM)
)

// Phase is how far the current worker has come.
type Phase string

const (
	// Held: this supervisor has run no worker.
	Held Phase = "held"
	// Running: the worker's main process runs, asked to end or not. Once it was asked, it may have
	// ended before processes that it started: these have the rest of the grace (P63a).
	Running Phase = "running"
	// Killing: the main process has ended unasked, or the time to end is over. Whatever is left gets SIGKILL.
	Killing Phase = "killing"
	// Stuck: something has outlived SIGKILL, and may still end (P70b).
	Stuck Phase = "stuck"
	// Ended: the worker has ended and left no process.
	Ended Phase = "ended"
)

// Run is one worker.
type Run struct {
	Epoch int32
	// Bypass: outside of all epochs (P34).
	Bypass   bool
	Restarts int32
	World    protocol.World
	// Progress is when it hangs (P131); nil if nobody watches it. Unwatched: nobody does any longer (P131a).
	Progress  *protocol.Progress
	Unwatched bool
}

// State is all that a supervisor decides on. One that has just started is Held.
type State struct {
	Phase Phase
	Run   Run
	// Exited: the main process of the run has ended, as Exit says.
	Exited bool
	Exit   protocol.Exit
	// Stopping: the worker was told to end because of a stop or a leave. SIGKILL follows, unless Terminated.
	Stopping bool
	// Asked is the signal by which it was told to end last.
	Asked syscall.Signal
	// Terminated: a signal that ends the container has come. Nothing is started any more, and the kubelet
	// sends SIGKILL when its grace is over.
	Terminated bool
	// Hung is how the worker hangs, for which it is killed (P133).
	Hung protocol.Hang
	// Standby waits for the next run; Warm: the worker of this run was one (P160).
	Standby Standby
	Warm    bool
	// Seen is the state of its processes that tells most, if it had given no sign for half its limit or more when it was ended (P134).
	Seen string
	// Left names what has outlived SIGKILL, if that is known.
	Left string
	// Leave is why the Pod must be replaced; empty if it need not.
	Leave string
}

// Watched reports whether a worker that gives no sign is to be ended (P131): not if it was told to end, nor in a bypass.
func (s State) Watched() bool {
	return s.Run.Progress != nil && !s.Run.Bypass && !s.Run.Unwatched && s.Phase == Running && !s.Exited && !s.Stopping && !s.Terminated && !s.Hung.Hung()
}

// Observed reports whether signs of the worker are read. Those of one that was told to end are, too: it may save its state (P137).
func (s State) Observed() bool { return s.Run.Progress != nil && !s.Run.Bypass && s.Runs() }

// Runs reports whether the main process of a worker may run.
func (s State) Runs() bool {
	return (s.Phase == Running || s.Phase == Killing || s.Phase == Stuck) && !s.Exited && s.Standby.Life != Passing
}

// Event is something that happened. Exactly one field is set, except for Hung and Dumping, Timeout and Left.
type Event struct {
	// Connected: the agent has accepted a connection.
	Connected bool
	// Message is what the agent says.
	Message *protocol.Message
	// Started: the process that a Spawn asked for runs.
	Started bool
	// Exited is how the main process of the worker ended, or how it failed to start.
	Exited *protocol.Exit
	// Hung: the worker has given no sign for too long.
	Hung *protocol.Hang
	// Empty: nothing descends from the supervisor.
	Empty bool
	// Dumping, with Hung: processes of the worker were asked for their stacks, and have some time (P134).
	Dumping time.Duration
	// Timeout: the time that was set in this phase is over.
	Timeout Phase
	// Left, with the Timeout of Killing, names processes that exist, if that is known.
	Left string
	// Signal was sent to the supervisor.
	Signal syscall.Signal
	// Gate is what became of one; StandbyDue: it is time to start a standby; StandbyEnded is how it ended.
	Gate         Gate
	StandbyDue   bool
	StandbyEnded *protocol.Exit
}

// Action is what a supervisor does because of an event. Exactly one field is set, except for Say and Mark, Finish and Code.
type Action struct {
	// Send a message to the agent, if one is connected.
	Send *protocol.Message
	// Spawn the main process of a worker; the result is an event.
	Spawn *Run
	// Open the gate of the standby for a run; the result is an event. Drop kills the standby, Prepare starts one, and
	// StandbyIn is when the event StandbyDue comes, unless another time is set before.
	Open          *Run
	Drop, Prepare bool
	StandbyIn     time.Duration
	// Signal goes to the worker, as Host.Signal says.
	Signal syscall.Signal
	// Kill everything that descends from the supervisor but for the standby, again and again, until the event Empty.
	Kill bool
	// Timeout is when that event comes, unless another one is set or the phase changes before.
	Timeout time.Duration
	// Done: write the file that says so, with this message.
	Done *protocol.Message
	// Say a line in the log of the container, with a Mark for programs if there is one.
	Say  string
	Mark *protocol.Mark
	// Finish: the supervisor ends with Code.
	Finish bool
	Code   int
}
