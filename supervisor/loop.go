/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package supervisor

import (
	"log/slog"
	"os"
	"syscall"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

const (
	// beat is how often the signs of a worker are looked at.
	beat = time.Second
	// retellAfter is how often, at most, a worker that runs has its steps told (P137).
	retellAfter = time.Minute
	firstSweep  = time.Millisecond
	lastSweep   = 100 * time.Millisecond
	// writeTimeout bounds how long an agent that does not read can hold the supervisor up. On a starved node it must not
	// end before the write begins.
	writeTimeout = time.Second
)

// Host runs the processes of a worker. Of its methods one is called at a time.
type Host interface {
	// Start starts the main process. If that fails it returns how the worker ended thereby.
	Start(r Run) *protocol.Exit
	// Signal sends a signal to the main process of the worker alone if it handles that, else to its process group. Once the main process
	// has ended, a signal that it alone got goes to the rest of its group (P63b).
	Signal(number syscall.Signal)
	// Kill sends SIGKILL to whatever is left of the worker. It is called again and again until nothing is.
	Kill()
	// Look returns how the main process ended if it has since the last look, and whether nothing of the worker is left.
	Look() (exited *protocol.Exit, empty bool)
	// Signs returns the signs of life of a worker that is watched since the last call (P130).
	Signs() Signs
	// Processes returns the first processes of the worker that exist, by their ids. Zombies are left out.
	Processes(timeout time.Duration) Processes
	// Dump sends a signal to each process of the worker that catches it, and returns how many do.
	Dump(number syscall.Signal) int
	// Changed receives when it is time to look.
	Changed() <-chan os.Signal
}

// Supervisor is the shell around Step: it turns what happens into events and performs actions.
type Supervisor struct {
	Settings Settings
	Host     Host
	// Warm is the Host again where warm start is on, else nil.
	Warm WarmHost
	// Dial connects to the agent.
	Dial func() (Conn, error)
	Log  *slog.Logger
	// Terminate receives the signals that end a container, Signals all others, so that a flood of these drops none of those.
	Terminate, Signals <-chan os.Signal

	state    State
	finished bool
	code     int

	// conn leads to the agent; nil while there is none. coming is one that is accepted, on which nothing was said yet.
	conn     Conn
	coming   Conn
	arrivals chan arrival
	// lastProblem of a connection, which is logged once and not at each attempt.
	lastProblem string

	timeout *time.Timer
	// timeoutOf is the phase whose time it is.
	timeoutOf Phase
	sweep     *time.Timer
	nextSweep time.Duration

	// watch judges the run that is watched, in each beat and at its deadline; lastBeat is when it did.
	watch    watch
	beat     *time.Timer
	lastBeat time.Time

	// standby is when the next one is due.
	standby *time.Timer

	// report is that of the run that has ended, or of the last one told while it runs; nil if it is not watched.
	report *protocol.ProgressReport
	// told is when, by the clock of watch, the step was told last.
	told time.Duration
	// noted: half the limit of the worker is over without a sign, and its processes were looked at.
	noted bool
}

// DoneFile is the file that says that the worker of a container has finished (P67).
func DoneFile(set Settings) string { return set.own(protocol.DoneFile) }

// Run is the one loop. It returns the exit code, and why the Pod must be replaced if it must. The worker is looked at
// before anything else is heard, so that one that has ended is never taken for one that was told to (P67).
func (s *Supervisor) Run() (code int, leave string) {
	s.timeout, s.sweep, s.beat, s.standby = stopped(), stopped(), stopped(), stopped()
	s.state.Phase = Held
	if s.Warm != nil {
		s.state.Standby.Off = s.Warm.Failed()
	}
	s.arrivals = make(chan arrival)
	over := make(chan struct{})
	defer close(over)
	go connect(s.Dial, s.arrivals, over)
	for !s.finished {
		var happened Event
		select {
		case <-s.Host.Changed():
		case number := <-s.Terminate:
			happened.Signal = number.(syscall.Signal)
		case number := <-s.Signals:
			happened.Signal = number.(syscall.Signal)
		case a := <-s.arrivals:
			happened = s.receive(a)
		case <-s.timeout.C:
			happened.Timeout = s.timeoutOf
		case <-s.sweep.C:
			s.kill()
		case <-s.beat.C:
			happened.Hung = s.judge()
		case <-s.standby.C:
			happened.StandbyDue = true
		}
		exited, empty := s.Host.Look()
		if exited != nil {
			s.handle(Event{Exited: exited})
		}
		s.handle(Event{Empty: empty})
		s.lookAtGates()
		if happened.Connected { // only now, so that nothing is said before the hello
			s.conn = s.coming
		}
		s.handle(happened)
	}
	s.disconnect()
	return s.code, s.state.Leave
}

func (s *Supervisor) handle(e Event) {
	if s.finished {
		return
	}
	s.examine(&e)
	next, actions := Step(s.state, e, s.Settings)
	if next.Phase != s.state.Phase {
		s.timeout.Stop()
	}
	if next.Phase == Ended {
		s.sweep.Stop()
	}
	s.state = next
	for _, a := range actions {
		s.perform(a)
	}
}

func (s *Supervisor) perform(a Action) {
	switch {
	case a.Send != nil:
		s.send(*a.Send)
	case a.Spawn != nil:
		s.begin() // before it starts, so that one that cannot be executed is not told with the step of an earlier run
		if exit := s.Host.Start(*a.Spawn); exit != nil {
			s.handle(Event{Exited: exit})
		} else {
			s.handle(Event{Started: true})
		}
	case a.Open != nil, a.Drop, a.Prepare, a.StandbyIn != 0:
		s.performWarm(a)
	case a.Signal != 0:
		s.Host.Signal(a.Signal)
	case a.Kill:
		// Not now: a main process that leaves nothing behind costs no search for what is left.
		s.nextSweep = firstSweep
		s.sweep.Reset(0)
	case a.Timeout != 0:
		s.timeout.Reset(a.Timeout)
		s.timeoutOf = s.state.Phase
	case a.Done != nil:
		if err := writeDone(DoneFile(s.Settings), *a.Done); err != nil {
			s.Log.Error("cannot record that the worker has finished", "error", err)
		}
	case a.Mark != nil:
		m := *a.Mark
		if m.Run == protocol.RunEnd {
			s.settle()
			m.Step = s.watch.step
		}
		s.Log.Info(a.Say, m.Words()...)
	case a.Say != "":
		s.Log.Info(a.Say)
	case a.Finish:
		s.finished, s.code = true, a.Code
	}
}

// kill kills what there is now. What was started meanwhile is found the next time.
func (s *Supervisor) kill() {
	s.Host.Kill()
	s.sweep.Reset(s.nextSweep)
	s.nextSweep = min(2*s.nextSweep, lastSweep)
}

// begin watches the worker that is about to start, if it is to be watched.
func (s *Supervisor) begin() {
	s.beat.Stop()
	if s.watch, s.report, s.told, s.noted = (watch{}), nil, 0, false; s.state.Watched() {
		s.watch.limits, s.lastBeat = *s.state.Run.Progress, time.Now()
		s.beat.Reset(s.watch.next())
	}
}

// settle takes what the worker that has ended told up to its end.
func (s *Supervisor) settle() {
	if s.state.Run.Progress == nil || s.state.Run.Bypass {
		return
	}
	s.beat.Stop()
	s.look()
	s.report = s.watch.report(s.state.Run.Epoch, true)
}

// stopped returns a timer that does not run.
func stopped() *time.Timer {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	return timer
}

// receive returns the event that something from the agent is.
func (s *Supervisor) receive(a arrival) Event {
	switch {
	case a.problem != nil:
		if a.conn == s.conn {
			s.conn = nil
		}
		if text := a.problem.Error(); text != s.lastProblem {
			s.lastProblem = text
			s.Log.Warn("no connection to the agent", "error", text)
		}
	case a.message == nil:
		s.coming = a.conn
		return Event{Connected: true}
	case a.conn == s.conn:
		s.lastProblem = ""
		return Event{Message: a.message}
	}
	return Event{}
}

// send writes a message. Whatever an agent has missed, the next hello tells it.
func (s *Supervisor) send(m protocol.Message) {
	if s.conn == nil {
		return
	}
	if m.Exit != nil { // it tells of the end of the run
		m.Report = s.report
	}
	line, err := protocol.Encode(m)
	if err == nil {
		_ = s.conn.SetWriteDeadline(time.Now().Add(writeTimeout))
		_, err = s.conn.Write(line)
	}
	if err != nil {
		s.Log.Warn("no connection to the agent", "error", err)
		s.disconnect()
	}
}

func (s *Supervisor) disconnect() {
	if s.conn != nil {
		_ = s.conn.Close()
		s.conn = nil
	}
}
