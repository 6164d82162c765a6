/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// noon is the time at which decisions are tested.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// w returns a worker that is connected, changed as asked for.
func w(container string, state WorkerState, epoch int32, changes ...func(*Worker)) Worker {
	worker := Worker{Container: container, State: state, Epoch: epoch, Seen: noon.Add(-time.Hour)}
	for _, change := range changes {
		change(&worker)
	}
	return worker
}

func lostFor(d time.Duration) func(*Worker) {
	return func(w *Worker) { w.Lost = noon.Add(-d) }
}
func stuckFor(d time.Duration) func(*Worker) {
	return func(w *Worker) { w.Outlived = noon.Add(-d) }
}
func seenFor(d time.Duration) func(*Worker) { return func(w *Worker) { w.Seen = noon.Add(-d) } }
func exited(code int) func(*Worker) {
	return func(w *Worker) { w.Exit = &protocol.Exit{Code: code, Time: noon} }
}

// unseenWorker returns one whose supervisor has not said hello.
func unseenWorker(container string) Worker { return Worker{Container: container} }

// unwatched: its supervisor was told.
func unwatched(w *Worker) { w.Unwatched = true }

func switchedOff(js *JobSet)  { js.Disabled = true }
func deletingNow(js *JobSet)  { js.Deleting = true }
func endedNow(js *JobSet)     { js.Ended = true }
func suspendedNow(js *JobSet) { js.Suspended = true }

// decision is one row of a table of decisions in process mode.
type decision struct {
	self    Self
	jobSet  JobSet
	workers []Worker
	want    Kind
	// epoch is that of the action; because is a part of its reason.
	epoch   int32
	because string
}

func decides(t *testing.T, rows map[string]decision) {
	t.Helper()
	for name, tc := range rows {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Decide(View{Self: tc.self, JobSet: tc.jobSet, Workers: tc.workers, Now: noon})
			if got.Kind != tc.want || got.Epoch != tc.epoch || !strings.Contains(got.Because, tc.because) || got.Because == "" {
				t.Errorf("got %+v, want %s of epoch %d because %q", got, tc.want, tc.epoch, tc.because)
			}
		})
	}
}

var (
	freshSelf  = Self{UID: "ours"}
	endingSelf = Self{UID: "ours", Ending: true}
	sentSelf   = Self{UID: "ours", Epoch: 2}
	heldSelf   = Self{UID: "ours", Epoch: 2, Reported: true}
	liftedSelf = Self{UID: "ours", Epoch: 2, Reported: true, Lifted: ByEpoch}
	letSelf    = Self{UID: "ours", Lifted: ByBypass}
)

func TestARoundInProcessMode(t *testing.T) {
	off := with(at(1, 2), switchedOff)
	decides(t, map[string]decision{
		"P64: reports once all supervisors are ready":                        {freshSelf, at(1, 1), []Worker{w("a", Idle, 0), w("b", Idle, 0)}, Report, 2, ""},
		"P64: not before all have connected":                                 {freshSelf, at(1, 1), []Worker{w("a", Idle, 0), unseenWorker("b")}, Wait, 0, "container b is not connected"},
		"P64: nor while one is away":                                         {freshSelf, at(1, 1), []Worker{w("a", Idle, 0), w("b", Idle, 0, lostFor(time.Second))}, Wait, 0, "container b is not connected"},
		"P64: a worker that has ended is ready":                              {endingSelf, at(1, 2), []Worker{w("a", Ended, 2, exited(1)), w("b", Ended, 2)}, Report, 3, ""},
		"P64: not while one is being stopped":                                {endingSelf, at(1, 2), []Worker{w("a", Ended, 2), w("b", Stopping, 2)}, Wait, 0, "container b is being stopped"},
		"P64: nor while one that may run is away":                            {endingSelf, at(1, 2), []Worker{w("a", Ended, 2), w("b", Running, 2, lostFor(time.Second))}, Wait, 0, "container b"},
		"P64: which is stopped when it comes back":                           {endingSelf, at(1, 2), []Worker{w("a", Ended, 2), w("b", Running, 2)}, StopWorkers, 0, "container b runs"},
		"P62: a start that is not answered counts as running":                {endingSelf, at(1, 2), []Worker{w("a", Ended, 2), w("b", Starting, 2)}, StopWorkers, 0, "container b runs"},
		"P31: an epoch that is deprecated before its time is held":           {freshSelf, at(5, 4), []Worker{w("a", Idle, 0)}, Wait, 0, "above"},
		"P33: starts at S":                                                   {heldSelf, at(1, 2), []Worker{w("a", Idle, 0), w("b", Idle, 0)}, Lift, 2, "the whole group has reached"},
		"P33: not before the report is accepted":                             {sentSelf, at(1, 2), []Worker{w("a", Idle, 0)}, Wait, 0, "not accepted"},
		"P33: not before S":                                                  {heldSelf, at(1, 1), []Worker{w("a", Idle, 0)}, Wait, 0, "waiting for the group"},
		"P32: before P33":                                                    {heldSelf, at(2, 2), []Worker{w("a", Idle, 0)}, StopWorkers, 0, "deprecated"},
		"P32: an epoch below S":                                              {heldSelf, at(0, 3), []Worker{w("a", Idle, 0)}, StopWorkers, 0, "left behind"},
		"P32: an epoch above S+1":                                            {heldSelf, at(0, 0), []Worker{w("a", Idle, 0)}, StopWorkers, 0, "lost or restored"},
		"P32: a report under way does not hide it":                           {sentSelf, at(2, 2), []Worker{w("a", Idle, 0)}, StopWorkers, 0, "deprecated"},
		"P32: a worker that runs is stopped when its epoch is deprecated":    {liftedSelf, at(2, 2), []Worker{w("a", Running, 2)}, StopWorkers, 0, "deprecated"},
		"P32: also one whose start is not answered":                          {liftedSelf, at(2, 2), []Worker{w("a", Starting, 2)}, StopWorkers, 0, "deprecated"},
		"P32: a status that went back":                                       {liftedSelf, at(0, 1), []Worker{w("a", Running, 2)}, StopWorkers, 0, "lost or restored"},
		"P33: a worker that runs runs on":                                    {liftedSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Starting, 2)}, Wait, 0, "running"},
		"P64: a worker that fails ends the round":                            {liftedSelf, at(1, 2), []Worker{w("a", Ended, 2, exited(3)), w("b", Running, 2)}, StopWorkers, 0, "container a has ended: exit code 3"},
		"P70: so does one whose container was restarted":                     {liftedSelf, at(1, 2), []Worker{w("a", Ended, 2)}, StopWorkers, 0, "its container was restarted"},
		"P65: a supervisor that was away at the lift is waited for":          {liftedSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Idle, 0, lostFor(time.Second))}, Wait, 0, ""},
		"P65: and then its worker is started":                                {liftedSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Idle, 0)}, Lift, 2, "container b is back"},
		"P65: but not if the epoch is deprecated meanwhile":                  {liftedSelf, at(2, 2), []Worker{w("a", Running, 2), w("b", Idle, 0)}, StopWorkers, 0, "deprecated"},
		"P62: a worker that runs what nobody asked for is stopped":           {heldSelf, at(1, 1), []Worker{w("a", Running, 1)}, StopWorkers, 0, "container a runs"},
		"P62: also while the others run":                                     {liftedSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Running, 1)}, StopWorkers, 0, "container b runs at epoch 1, not at 2"},
		"P36: a supervisor that is away harms no worker that runs":           {liftedSelf, at(1, 2), []Worker{w("a", Running, 2, lostFor(59*time.Second))}, Wait, 0, ""},
		"hold: a JobSet that is gone starts nobody":                          {heldSelf, JobSet{}, []Worker{w("a", Idle, 0)}, Wait, 0, "does not exist"},
		"hold: and stops nobody":                                             {liftedSelf, JobSet{}, []Worker{w("a", Ended, 2), w("b", Running, 2)}, Wait, 0, "does not exist"},
		"hold: a JobSet of another UID, too":                                 {liftedSelf, with(at(2, 2), func(js *JobSet) { js.UID = "other" }), []Worker{w("a", Running, 2)}, Wait, 0, "has UID other"},
		"hold: a JobSet that is being deleted, too":                          {liftedSelf, with(at(2, 2), deletingNow), []Worker{w("a", Running, 2)}, Wait, 0, "being deleted"},
		"P32a: a JobSet that is suspended stops nobody":                      {liftedSelf, with(at(2, 2), suspendedNow), []Worker{w("a", Running, 2)}, Wait, 0, "suspended"},
		"P32a: nor one beside a worker that has ended":                       {liftedSelf, with(at(1, 2), suspendedNow), []Worker{w("a", Running, 2), w("b", Ended, 2)}, Wait, 0, "suspended"},
		"P32a: nor does an agent that starts":                                {Self{UID: "ours"}, with(at(2, 2), suspendedNow), []Worker{w("a", Running, 2)}, Wait, 0, "suspended"},
		"P32a: a suspension that is taken back does":                         {liftedSelf, at(2, 2), []Worker{w("a", Running, 2)}, StopWorkers, 0, "deprecated"},
		"P34a: a JobSet that has ended does not start a worker that crashed": {freshSelf, with(off, endedNow), []Worker{w("a", Ended, 2)}, Wait, 0, "has ended"},
		"P34a: nor stops one that runs":                                      {freshSelf, with(off, endedNow), []Worker{w("a", Running, 2)}, Wait, 0, "has ended"},
		"P67: a container that is done is left alone while the others run":   {liftedSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Done, 2)}, Wait, 0, ""},
		"P66: once all are done, that is told":                               {liftedSelf, at(1, 2), []Worker{w("a", Done, 2), w("b", Done, 2)}, Report, 2, "all containers are done"},
		"P66: and told once":                                                 {Self{UID: "ours", Epoch: 2, Reported: true, Lifted: ByEpoch, EndReported: true}, at(1, 2), []Worker{w("a", Done, 2)}, Wait, 0, ""},
		"P67: all done while the group restarts: the Pod is about to end":    {endingSelf, at(2, 2), []Worker{w("a", Done, 2), w("b", Done, 2)}, Wait, 0, "all containers are done"},
		"P66: done during a bypass is of no epoch":                           {letSelf, off, []Worker{w("a", Done, 0)}, Wait, 0, ""},
		"P66: an epoch that is deprecated is not told as done":               {liftedSelf, at(2, 2), []Worker{w("a", Done, 2)}, StopWorkers, 0, "deprecated"},
		"P36: an epoch is not chosen while the JobSet has not been read":     {freshSelf, JobSet{}, []Worker{w("a", Idle, 0)}, Wait, 0, "does not exist"},
		"P65: nobody is stopped while the JobSet has not been read":          {freshSelf, JobSet{}, []Worker{w("a", Running, 2), w("b", Ended, 2)}, Wait, 0, "does not exist"},
		"P65: nor by the clock":                                              {freshSelf, JobSet{}, []Worker{w("a", Running, 2), unseenWorker("b")}, Wait, 0, "does not exist"},
		"P31: after the largest int32 nothing overflows in process mode":     {freshSelf, at(0, 2147483647), []Worker{w("a", Idle, 0)}, Wait, 0, "no successor"},
		"P62: a fresh round after one that was never lifted reports at once": {endingSelf, at(2, 2), []Worker{w("a", Idle, 0)}, Report, 3, ""},
	})
}

func TestWhoeverRestartsGuessesNothing(t *testing.T) {
	off := func(js JobSet) JobSet { return with(js, switchedOff) }
	decides(t, map[string]decision{
		"P65: all run at one epoch: it is that agent again":             {freshSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Running, 2)}, Lift, 2, "has been running at epoch 2"},
		"P65: one that was connected and is away has said what it runs": {freshSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Running, 2, lostFor(time.Second))}, Lift, 2, ""},
		"P65: a container that is done does not count":                  {freshSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Done, 0)}, Lift, 2, ""},
		"P65: none runs: a fresh round":                                 {freshSelf, at(1, 2), []Worker{w("a", Ended, 2), w("b", Idle, 0)}, Report, 3, ""},
		"P65: one runs and one has ended: stop all":                     {freshSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Ended, 2)}, StopWorkers, 0, "container a runs, and container b does not"},
		"P65: one runs and one is held: stop all":                       {freshSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Idle, 0)}, StopWorkers, 0, "container a runs, and container b does not"},
		"P65: two epochs: stop all":                                     {freshSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Running, 1)}, StopWorkers, 0, "container b at epoch 1"},
		"P65: an epoch and a bypass: stop all":                          {freshSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Running, 0)}, StopWorkers, 0, "container b at epoch 0"},
		"P65: a deprecated epoch: stop all":                             {freshSelf, at(2, 2), []Worker{w("a", Running, 2), w("b", Running, 2)}, StopWorkers, 0, "deprecated"},
		"P65: an epoch below S: stop all":                               {freshSelf, at(1, 3), []Worker{w("a", Running, 2)}, StopWorkers, 0, "left behind"},
		"P65: an epoch above S: stop all":                               {freshSelf, at(0, 1), []Worker{w("a", Running, 2)}, StopWorkers, 0, "lost or restored"},
		"P65: one runs and one has not said hello: wait":                {freshSelf, at(1, 2), []Worker{w("a", Running, 2, seenFor(4900*time.Millisecond)), unseenWorker("b")}, Wait, 0, "container b has not connected"},
		"P65: for 5 s, then stop all":                                   {freshSelf, at(1, 2), []Worker{w("a", Running, 2, seenFor(5*time.Second)), unseenWorker("b")}, StopWorkers, 0, "container b has not connected within 5s"},
		"P65: the one that comes late is stopped":                       {endingSelf, at(1, 2), []Worker{w("a", Ended, 2), w("b", Running, 2)}, StopWorkers, 0, "container b runs"},
		"P65: and waited for before the report":                         {endingSelf, at(1, 2), []Worker{w("a", Ended, 2, seenFor(0)), unseenWorker("b")}, Wait, 0, "container b is not connected"},
		"P65: none is known to run, and one has not said hello: wait":   {freshSelf, at(1, 2), []Worker{w("a", Ended, 2, seenFor(time.Minute-1)), unseenWorker("b")}, Wait, 0, "container b is not connected"},
		"P70: for 60 s: it was there when the other one was started":    {freshSelf, at(1, 2), []Worker{w("a", Ended, 2, seenFor(time.Minute)), unseenWorker("b")}, Leave, 0, "container b has not connected for 1m0s"},
		"P70: also if the other one was stopped because of it":          {endingSelf, at(1, 2), []Worker{w("a", Ended, 2), unseenWorker("b")}, Leave, 0, "container b has not connected for 1m0s"},
		"P65: none runs but one is done: leave":                         {freshSelf, at(1, 2), []Worker{w("a", Ended, 2), w("b", Done, 0)}, Leave, 0, "container b is done, and container a has to run again"},
		"P65: also if the other one was restarted":                      {freshSelf, at(1, 2), []Worker{w("a", Idle, 0), w("b", Done, 0)}, Leave, 0, "container b is done"},
		"P65: but not before it is known whether the other one runs":    {freshSelf, at(1, 2), []Worker{unseenWorker("a"), w("b", Done, 0)}, Wait, 0, "container a has not connected"},
		"P65: all are done: the Pod is about to end":                    {freshSelf, at(1, 2), []Worker{w("a", Done, 0), w("b", Done, 0)}, Wait, 0, "all containers are done"},
		"P65, P34: during a bypass that agent again, too":               {freshSelf, off(at(7, 7)), []Worker{w("a", Running, 2), w("b", Running, 2)}, Lift, 2, ""},
		"P65, P34: all run outside of all epochs":                       {freshSelf, off(at(1, 2)), []Worker{w("a", Running, 0), w("b", Running, 0)}, Bypass, 0, "condition"},
		"P65, P34: they do, and the bypass is over: stop all":           {freshSelf, at(1, 2), []Worker{w("a", Running, 0)}, StopWorkers, 0, "it is on again"},
		"P65, P34: mixed during a bypass: stop all":                     {freshSelf, off(at(1, 2)), []Worker{w("a", Running, 2), w("b", Ended, 2)}, StopWorkers, 0, "container b does not"},
		"P65, P34: one is missing during a bypass: wait for 5 s":        {freshSelf, off(at(1, 2)), []Worker{w("a", Running, 2, seenFor(0)), unseenWorker("b")}, Wait, 0, "container b has not connected"},
		"P65, P34: none runs during a bypass: start":                    {freshSelf, off(at(1, 2)), []Worker{w("a", Ended, 2), w("b", Idle, 0)}, Bypass, 0, "condition"},
		"P65, P34: none runs and one is done during a bypass: leave":    {freshSelf, off(at(1, 2)), []Worker{w("a", Ended, 2), w("b", Done, 0)}, Leave, 0, "container b is done"},
	})
}

func TestTheBypassInProcessMode(t *testing.T) {
	off := with(at(7, 7), switchedOff)
	quick := Self{UID: "ours", Ending: true, Pause: noon.Add(time.Second)}
	slow := Self{UID: "ours", Ending: true, Pause: noon}
	decides(t, map[string]decision{
		"P34: nobody has connected":                                   {freshSelf, off, []Worker{unseenWorker("a")}, Wait, 0, "no container has connected"},
		"P34: starts without a report who is there":                   {freshSelf, off, []Worker{w("a", Idle, 0), unseenWorker("b")}, Bypass, 0, "condition"},
		"P34: and who comes later":                                    {letSelf, off, []Worker{w("a", Running, 0), w("b", Idle, 0)}, Bypass, 0, "condition"},
		"P34: starts workers that wait for their group":               {heldSelf, off, []Worker{w("a", Idle, 0)}, Bypass, 0, "condition"},
		"P34: also while the report is under way":                     {sentSelf, off, []Worker{w("a", Idle, 0)}, Bypass, 0, "condition"},
		"P34: obeys no epoch":                                         {liftedSelf, off, []Worker{w("a", Running, 2, unwatched)}, Wait, 0, "running"},
		"P131a: nobody watches a worker any longer":                   {liftedSelf, off, []Worker{w("a", Running, 2, unwatched), w("b", Running, 2)}, Unwatch, 0, "condition"},
		"P131a: nor one that has not answered":                        {liftedSelf, off, []Worker{w("a", Starting, 2)}, Unwatch, 0, "condition"},
		"P131a: one whose supervisor is away is told later":           {liftedSelf, off, []Worker{w("a", Running, 2, lostFor(1))}, Wait, 0, "running"},
		"P131a: nobody watched one that a bypass started":             {letSelf, off, []Worker{w("a", Running, 0)}, Wait, 0, "running"},
		"P131a: one that is being stopped is not told":                {endingSelf, off, []Worker{w("a", Stopping, 2)}, Wait, 0, "being stopped"},
		"P34: one whose container was away at the lift is started":    {liftedSelf, off, []Worker{w("a", Running, 2), w("b", Idle, 0)}, Bypass, 0, "condition"},
		"P34: a worker that runs by its epoch survives a bypass":      {liftedSelf, at(1, 2), []Worker{w("a", Running, 2)}, Wait, 0, "running"},
		"P34: one that runs by the bypass runs on while it lasts":     {letSelf, off, []Worker{w("a", Running, 0)}, Wait, 0, "running"},
		"P34: and is stopped when it ends":                            {letSelf, at(1, 2), []Worker{w("a", Running, 0)}, StopWorkers, 0, "it is on again"},
		"P34: also if it has not answered":                            {letSelf, at(1, 2), []Worker{w("a", Starting, 0)}, StopWorkers, 0, "it is on again"},
		"P34: also if nobody runs yet":                                {letSelf, at(1, 2), []Worker{w("a", Idle, 0, lostFor(1))}, StopWorkers, 0, "it is on again"},
		"P34: a worker that fails restarts its Pod alone":             {letSelf, off, []Worker{w("a", Ended, 0, exited(1)), w("b", Running, 0)}, StopWorkers, 0, "exit code 1"},
		"P34: also one that ran by its epoch":                         {liftedSelf, off, []Worker{w("a", Ended, 2, exited(1)), w("b", Running, 2)}, StopWorkers, 0, "exit code 1"},
		"P34: which starts again once all have ended":                 {endingSelf, off, []Worker{w("a", Ended, 0), w("b", Ended, 0)}, Bypass, 0, "condition"},
		"P34: not while one is being stopped":                         {endingSelf, off, []Worker{w("a", Ended, 0), w("b", Stopping, 0)}, Wait, 0, "being stopped"},
		"P71: one that fails again and again has to wait":             {quick, off, []Worker{w("a", Ended, 0)}, Wait, 0, "soon after its start"},
		"P71: not indefinitely":                                       {slow, off, []Worker{w("a", Ended, 0)}, Bypass, 0, "condition"},
		"P71: nor for its group":                                      {quick, at(1, 2), []Worker{w("a", Ended, 0)}, Report, 3, ""},
		"P70: a container that is done during a bypass must not wait": {endingSelf, off, []Worker{w("a", Ended, 0), w("b", Done, 0)}, Leave, 0, "container b is done"},
		"P34: a stop that began before the bypass comes to its end":   {endingSelf, off, []Worker{w("a", Stopping, 2)}, Wait, 0, "being stopped"},
	})
}

func TestALadderToANewPod(t *testing.T) {
	leaving := Self{UID: "ours", Leaving: "so it is"}
	off := with(at(1, 2), switchedOff)
	stuck := func(w *Worker) { w.Problem, w.Outlived = "a process has outlived SIGKILL", noon.Add(-time.Minute) }
	freeing := func(w *Worker) {
		w.Problem, w.Outlived = "a process has outlived SIGKILL: pid 7 in state D", noon.Add(1-time.Minute)
	}
	decides(t, map[string]decision{
		"P70: a process that cannot be killed":                            {endingSelf, at(2, 2), []Worker{w("a", Stuck, 2, stuck), w("b", Stopping, 2)}, Leave, 0, "container a cannot be stopped: a process has outlived SIGKILL"},
		"P70: also while nobody asked it to stop":                         {liftedSelf, at(1, 2), []Worker{w("a", Stuck, 2, stuck), w("b", Running, 2)}, Leave, 0, "cannot be stopped"},
		"P70: also in a new agent":                                        {freshSelf, at(1, 2), []Worker{w("a", Stuck, 2, stuck), unseenWorker("b")}, Leave, 0, "cannot be stopped"},
		"P70b: not before a minute is over, and it says of what":          {endingSelf, at(2, 2), []Worker{w("a", Stopping, 2), w("b", Stuck, 2, freeing)}, Wait, 0, "container b cannot be stopped: a process has outlived SIGKILL: pid 7 in state D"},
		"P70b: the others are stopped at once":                            {liftedSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Stuck, 2, freeing)}, StopWorkers, 0, "container b cannot be stopped"},
		"P70b: also by a new agent":                                       {freshSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Stuck, 2, freeing)}, StopWorkers, 0, "container a runs"},
		"P70b: a new agent does not take it for a worker that runs":       {freshSelf, at(1, 2), []Worker{w("a", Stuck, 2, freeing)}, StopWorkers, 0, "container a runs"},
		"P70b: nothing is reported meanwhile":                             {endingSelf, at(1, 2), []Worker{w("a", Ended, 2), w("b", Stuck, 2, freeing)}, Wait, 0, "cannot be stopped"},
		"P70b: nor is anything started during a bypass":                   {endingSelf, off, []Worker{w("a", Ended, 0), w("b", Stuck, 0, freeing)}, Wait, 0, "cannot be stopped"},
		"P70: a container that is done while another must run again":      {endingSelf, at(2, 2), []Worker{w("a", Ended, 2), w("b", Done, 2)}, Leave, 0, "container b is done, and container a has to run again"},
		"P70: not before the other one has stopped, as it may finish":     {endingSelf, at(2, 2), []Worker{w("a", Stopping, 2), w("b", Done, 2)}, Wait, 0, "being stopped"},
		"P70: a container that is done does not stop the group's restart": {liftedSelf, at(2, 2), []Worker{w("a", Running, 2), w("b", Done, 2)}, StopWorkers, 0, "deprecated"},
		"P70: a container that is away for 60 s":                          {liftedSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Running, 2, lostFor(time.Minute))}, Leave, 0, "container b has not come back"},
		"P70: not for less":                                               {liftedSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Running, 2, lostFor(time.Minute-1))}, Wait, 0, ""},
		"P70: also while it is held":                                      {heldSelf, at(1, 1), []Worker{w("a", Idle, 0, lostFor(time.Minute))}, Leave, 0, "container a has not come back"},
		"P70: also while the round ends":                                  {endingSelf, at(2, 2), []Worker{w("a", Stopping, 2, lostFor(time.Minute))}, Leave, 0, "container a has not come back"},
		"P70: no clock runs for one that was never seen":                  {heldSelf, at(1, 1), []Worker{w("a", Idle, 0), unseenWorker("b")}, Wait, 0, ""},
		"P70: no clock runs for one that is done":                         {liftedSelf, at(1, 2), []Worker{w("a", Running, 2), w("b", Done, 2, lostFor(time.Hour))}, Wait, 0, ""},
		"P70: every hello is answered with leave":                         {leaving, at(1, 2), []Worker{w("a", Idle, 0), w("b", Leaving, 0)}, Leave, 0, "so it is"},
		"P70: also before the JobSet was read":                            {leaving, JobSet{}, []Worker{w("a", Running, 2)}, Leave, 0, "so it is"},
		"P70: also during a bypass":                                       {leaving, off, []Worker{w("a", Running, 0)}, Leave, 0, "so it is"},
		"P70: who was told is not told again":                             {leaving, at(1, 2), []Worker{w("a", Leaving, 0), w("b", Done, 0), unseenWorker("c")}, Wait, 0, "leaving: so it is"},
		"P70: nothing is ever reported":                                   {leaving, at(1, 1), []Worker{w("a", Leaving, 0)}, Wait, 0, "leaving"},
		"hold: a JobSet that is gone makes nobody leave":                  {liftedSelf, JobSet{}, []Worker{w("a", Stuck, 2, stuck)}, Wait, 0, "does not exist"},
	})
}
