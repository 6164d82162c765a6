/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// everyRound calls a function with every view of process mode that can be made of a few values.
func everyRound(look func(View)) {
	var all []Worker
	for state, epochs := range map[WorkerState][]int32{
		Idle: {0}, Starting: {0, 1, 2}, Running: {0, 1, 2}, Stopping: {2}, Ended: {0, 2}, Done: {2}, Stuck: {2}, Leaving: {0},
	} {
		for _, epoch := range epochs {
			all = append(all, w("a", state, epoch), w("a", state, epoch, lostFor(time.Second)))
		}
	}
	all = append(all, unseenWorker("a"), w("a", Running, 2, lostFor(time.Minute)), w("a", Running, 2, seenFor(0)))
	var selves []Self
	for _, lifted := range []Lifted{Held, ByEpoch, ByBypass} {
		for _, epoch := range []int32{0, 1, 2} {
			for flags := range 4 {
				if lifted == ByEpoch && (epoch == 0 || flags&1 == 0) {
					continue // a lift asks for both
				}
				selves = append(selves, Self{UID: "ours", Lifted: lifted, Epoch: epoch, Reported: flags&1 != 0 && epoch != 0, EndReported: flags&2 != 0})
			}
		}
	}
	selves = append(selves, endingSelf, Self{UID: "ours", Leaving: "so it is"}, Self{UID: "ours", Ending: true, Pause: noon.Add(1)})
	var jobSets []JobSet
	for deprecated := range int32(3) {
		for synced := range int32(3) {
			js := at(deprecated, synced)
			jobSets = append(jobSets, js, with(js, switchedOff), with(js, deletingNow), with(js, suspendedNow))
		}
	}
	for _, first := range all {
		for _, second := range all {
			second.Container = "b"
			for _, self := range selves {
				if self.Leaving == "" && (first.State == Leaving || second.State == Leaving) {
					continue
				}
				for _, js := range jobSets {
					look(View{Self: self, JobSet: js, Workers: []Worker{first, second}, Now: noon})
				}
			}
		}
	}
}

func all(v View, is func(Worker) bool) bool {
	return !slices.ContainsFunc(v.Workers, func(w Worker) bool { return !is(w) })
}

// It takes some seconds for 800,000 views.
func TestDecideInEverySmallWorldOfProcessMode(t *testing.T) {
	t.Parallel()
	count := 0
	ready := func(w Worker) bool { return (w.State == Idle || w.State == Ended) && w.Connected() }
	everyRound(func(v View) {
		count++
		got, self, js := Decide(v), v.Self, v.JobSet
		after, sends := v.Apply(got)
		ours, bypassed := !js.Deleting && !js.Suspended, js.Disabled
		done := all(v, isDone)
		starts := slices.ContainsFunc(sends, func(s Send) bool { return s.Message.Type == protocol.Start })
		for rule, broken := range map[string]bool{
			"every decision has a reason":                        got.Because == "",
			"no decision of container mode":                      got.Kind == Restart,
			"P32a: nor does one that is deleted or suspended":    !ours && len(sends) > 0 && self.Leaving == "",
			"a JobSet that is not ours changes nothing":          !ours && self.Leaving == "" && got.Kind != Wait,
			"P64: reports when all are ready":                    got.Kind == Report && !done && !all(v, ready),
			"P31: reports S+1":                                   got.Kind == Report && !done && got.Epoch != js.Synced+1,
			"P31: reports once in a round":                       got.Kind == Report && !done && (self.Epoch != 0 || self.Lifted != Held),
			"P66: tells once that all are done, of its epoch":    got.Kind == Report && done && (self.EndReported || self.Epoch == 0 || got.Epoch != self.Epoch),
			"P34: reports nothing during a bypass but the end":   got.Kind == Report && bypassed && !done,
			"P33: lifts at S, if not during a bypass":            got.Kind == Lift && !bypassed && (got.Epoch != js.Synced || got.Epoch <= js.Deprecated),
			"P33: lifts what was reported or has been running":   got.Kind == Lift && !self.Reported && !all(v, func(w Worker) bool { return w.State == Done || w.Runs() && w.Epoch == got.Epoch }),
			"P34: lifts by bypass only during one":               got.Kind == Bypass && !bypassed,
			"P62: starts at an epoch that is not 0, or bypasses": starts && (got.Kind == Lift) != (got.Epoch != 0),
			"P70: never stops leaving":                           self.Leaving != "" && got.Kind != Leave && got.Kind != Wait,
			"P70: tells somebody to leave if it leaves again":    self.Leaving != "" && got.Kind == Leave && len(sends) == 0,
			"P63: stops somebody or ends the round":              got.Kind == StopWorkers && len(sends) == 0 && self.Ending,
			"P65: what runs at two epochs is stopped": ours && !bypassed && self.Leaving == "" && got.Kind == Wait && all(v, func(w Worker) bool { return w.State == Running && w.Lost.IsZero() }) &&
				v.Workers[0].Epoch != v.Workers[1].Epoch,
		} {
			if broken {
				t.Fatalf("%s: Decide(%+v) = %+v, sends %+v, then %+v", rule, v, got, sends, after)
			}
		}
	})
	t.Logf("%d views", count)
}

// It takes some seconds for as many views.
func TestApplyInEverySmallWorld(t *testing.T) {
	t.Parallel()
	everyRound(func(v View) {
		before := v
		before.Workers = slices.Clone(v.Workers)
		started := map[string]bool{}
		for step := 0; ; step++ {
			action := Decide(v)
			if action.Kind == Wait {
				return
			}
			if step == 5 {
				t.Fatalf("%+v never comes to rest: %+v", before, action)
			}
			after, sends := v.Apply(action)
			for _, s := range sends {
				w := worker(v.Workers, s.Container)
				switch {
				case !w.Connected():
					t.Fatalf("%+v: %+v is sent to a supervisor that is not connected", v, s)
				case s.Message.Unwatched:
					continue
				case s.Message.Type == protocol.Start && (w.Runs() || w.State == Done || started[w.Container]):
					t.Fatalf("P62: %+v: a second start: %+v", v, s)
				}
				started[s.Container] = started[s.Container] || s.Message.Type == protocol.Start
			}
			if step == 0 && !reflect.DeepEqual(v, before) {
				t.Fatalf("Apply changes its view %+v to %+v", before, v)
			}
			v = after
		}
	})
}

func TestWhatAnActionLeavesBehind(t *testing.T) {
	late := func(w *Worker) { w.Exit = &protocol.Exit{Code: 2, Time: noon.Add(time.Second)} }
	stopped := func(w *Worker) { w.Exit = &protocol.Exit{Code: 143, Stopped: true, Time: noon.Add(-time.Second)} }
	tell := func(container string, epoch int32, exit protocol.Exit) *protocol.WorkerExit {
		return &protocol.WorkerExit{Container: container, Epoch: epoch, Exit: exit}
	}
	earlier := tell("a", 1, protocol.Exit{Code: 9})
	for name, tc := range map[string]struct {
		self    Self
		workers []Worker
		action  Action
		want    *protocol.WorkerExit
	}{
		"P66: the exit that came first is told": {
			endingSelf, []Worker{w("a", Ended, 2, late), w("b", Ended, 2, exited(1))},
			Action{Kind: Report, Epoch: 3}, tell("b", 2, protocol.Exit{Code: 1, Time: noon}),
		},
		"P66: one that was stopped comes after all others": {
			endingSelf, []Worker{w("a", Ended, 2, stopped), w("b", Ended, 2, late)},
			Action{Kind: Report, Epoch: 3}, tell("b", 2, protocol.Exit{Code: 2, Time: noon.Add(time.Second)}),
		},
		"P66: in either order": {
			endingSelf, []Worker{w("a", Ended, 2, late), w("b", Ended, 2, stopped)},
			Action{Kind: Report, Epoch: 3}, tell("a", 2, protocol.Exit{Code: 2, Time: noon.Add(time.Second)}),
		},
		"P66: where all were stopped, that is told": {
			endingSelf, []Worker{w("a", Ended, 2, stopped)},
			Action{Kind: Report, Epoch: 3}, tell("a", 2, protocol.Exit{Code: 143, Stopped: true, Time: noon.Add(-time.Second)}),
		},
		"P66: of a container that was restarted nothing is known": {endingSelf, []Worker{w("a", Ended, 2)}, Action{Kind: Report, Epoch: 3}, nil},
		"P66: a worker of no epoch is told to nobody":             {endingSelf, []Worker{w("a", Ended, 0, exited(1))}, Action{Kind: Report, Epoch: 3}, nil},
		"P66: nothing ran, nothing is told":                       {freshSelf, []Worker{w("a", Idle, 0)}, Action{Kind: Report, Epoch: 3}, nil},
		"P66: an exit whose report was not accepted is told with the next": {
			Self{UID: "ours", Ending: true, Tell: earlier}, []Worker{w("a", Idle, 1)}, Action{Kind: Report, Epoch: 3}, earlier,
		},
		"P66: the end of a round keeps it": {
			Self{UID: "ours", Epoch: 2, Tell: earlier}, []Worker{w("a", Idle, 1)}, Action{Kind: StopWorkers}, earlier,
		},
		"P66: all are done: that of the last one is told": {
			liftedSelf, []Worker{w("a", Done, 2, exited(0)), w("b", Done, 2, func(w *Worker) { w.Exit = &protocol.Exit{Time: noon.Add(time.Second)} })},
			Action{Kind: Report, Epoch: 2}, &protocol.WorkerExit{Container: "b", Epoch: 2, Done: true, Exit: protocol.Exit{Time: noon.Add(time.Second)}},
		},
		"P66: done by its file only": {
			liftedSelf, []Worker{w("a", Done, 2)}, Action{Kind: Report, Epoch: 2},
			&protocol.WorkerExit{Container: "a", Epoch: 2, Done: true, Exit: protocol.Exit{Time: noon}},
		},
		"P70: the reason to leave is told, with the container at fault": {
			endingSelf, []Worker{w("a", Ended, 2, exited(1)), w("b", Stuck, 2)}, Action{Kind: Leave, Reason: protocol.ProcessStuck, Container: "b", Because: "so it is"},
			&protocol.WorkerExit{Container: "b", Epoch: 2, Exit: protocol.Exit{Time: noon}, Leave: "so it is", LeaveReason: protocol.ProcessStuck},
		},
		"P70: before the first epoch has run nobody asks": {
			freshSelf, []Worker{w("a", Idle, 0, lostFor(time.Hour))}, Action{Kind: Leave, Container: "a", Because: "so it is"}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := View{Self: tc.self, JobSet: at(1, 2), Workers: tc.workers, Now: noon}
			after, _ := v.Apply(tc.action)
			if diff := cmp.Diff(tc.want, after.Self.Tell); diff != "" {
				t.Errorf("what is told differs (-want +got):\n%s", diff)
			}
			if after.Self.Tell == nil {
				return
			}
			if text, err := after.Self.Tell.Encode(); err != nil || len(text) > protocol.MaxWorkerExit {
				t.Errorf("P66: it has %d bytes: %v", len(text), err)
			}
		})
	}
}

func TestQuickFailuresDuringABypassWait(t *testing.T) {
	t.Parallel()
	off := with(at(1, 2), switchedOff)
	v := View{Self: letSelf, JobSet: off, Workers: []Worker{w("a", Ended, 0, exited(1))}, Now: noon}
	// fails plays a worker that runs for some time; it returns how long it is held.
	fails := func(ran time.Duration) time.Duration {
		v.Self.Lifted, v.Self.LiftedAt, v.Self.Ending = ByBypass, v.Now, false
		v.Now = v.Now.Add(ran)
		v, _ = v.Apply(Action{Kind: StopWorkers})
		if v.Self.Pause.IsZero() {
			return 0
		}
		return v.Self.Pause.Sub(v.Now)
	}
	var got []time.Duration
	for range 11 {
		got = append(got, fails(time.Second))
	}
	s := time.Second
	want := []time.Duration{0, s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 128 * s, 256 * s, 300 * s}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("P71: the pauses differ (-want +got):\n%s", diff)
	}
	for range 100 {
		fails(time.Second)
	}
	if got := fails(time.Second); got != 300*s {
		t.Errorf("P71: the pause is %s after 100 failures", got)
	}
	if got := fails(time.Minute); got != 0 {
		t.Errorf("P71: the pause is %s after a worker that ran for a minute", got)
	}
	if got := fails(time.Second); got != s {
		t.Errorf("P71: the pause is %s after the next quick failure", got)
	}
}
