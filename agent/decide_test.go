/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package agent

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// at returns a JobSet that restarts in place, with these epochs.
func at(deprecated, synced int32) JobSet {
	return JobSet{Exists: true, UID: "ours", InPlace: true, Deprecated: deprecated, Synced: synced}
}

func with(js JobSet, change func(*JobSet)) JobSet {
	change(&js)
	return js
}

// TestDecide has what the test in every small world does not decide, and one row for each id.
func TestDecide(t *testing.T) {
	fresh := Self{UID: "ours"}
	unconfirmed := Self{UID: "ours", Epoch: 2}
	held := Self{UID: "ours", Epoch: 2, Reported: true}
	running := Self{UID: "ours", Epoch: 2, Reported: true, Lifted: ByEpoch}
	bypassed := Self{UID: "ours", Lifted: ByBypass}
	plain := func(js *JobSet) { js.InPlace = false }
	suspended := func(js *JobSet) { js.Suspended = true }
	ended := func(js *JobSet) { js.Ended = true }
	other := func(js *JobSet) { js.UID = "other" }

	for name, tc := range map[string]struct {
		self   Self
		jobSet JobSet
		want   Kind
		epoch  int32
	}{
		"P31: the last epoch is the largest int32":                                   {fresh, at(0, math.MaxInt32-1), Report, math.MaxInt32},
		"P31: after the largest int32 nothing overflows":                             {fresh, at(0, math.MaxInt32), Wait, 0},
		"P31: an epoch that is deprecated before its time is held":                   {fresh, at(5, 4), Wait, 0},
		"P32, C275: an epoch above S+1 restarts":                                     {held, at(0, 0), Restart, 0},
		"P32: S+1 at the largest int32 does not overflow":                            {Self{UID: "ours", Epoch: math.MaxInt32, Reported: true}, at(0, math.MaxInt32), Lift, 0},
		"P33, C265: not before its report is accepted":                               {unconfirmed, at(1, 2), Wait, 0},
		"P34, O57: another strategy lifts without a report":                          {fresh, with(at(0, 0), plain), Bypass, 0},
		"P34, C280, C281: a worker lifted by a bypass restarts when it ends":         {bypassed, at(0, 0), Restart, 0},
		"C269: another JobSet does not lift":                                         {held, with(at(1, 2), other), Wait, 0},
		"hold: any UID will do as long as none is known":                             {Self{}, at(0, 0), Report, 1},
		"hold: without JOBSET_UID, the JobSet was recreated":                         {Self{UID: "first read"}, at(0, 0), Wait, 0},
		"hold: likewise once the epoch is reported":                                  {Self{UID: "of the Pod", Epoch: 2, Reported: true}, at(1, 2), Wait, 0},
		"hold: likewise while the worker runs":                                       {Self{UID: "first read", Epoch: 2, Reported: true, Lifted: ByEpoch}, at(2, 2), Wait, 0},
		"P32a: a worker of a JobSet that is suspended runs until its Pod is deleted": {running, with(at(2, 2), suspended), Wait, 0},
		"P34a: a JobSet that has ended starts no worker":                             {held, with(at(1, 2), ended), Wait, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Decide(View{Self: tc.self, JobSet: tc.jobSet})
			if got.Because == "" {
				t.Error("the decision has no reason")
			}
			want := Action{Kind: tc.want, Epoch: tc.epoch, Because: got.Because}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Decide(%+v, %+v) differs (-want +got):\n%s", tc.self, tc.jobSet, diff)
			}
		})
	}
}

// everyView calls a function with every view that can be made of a few values.
func everyView(look func(View)) {
	const top = 4
	bools := []bool{false, true}
	for _, lifted := range []Lifted{Held, ByEpoch, ByBypass} {
		for epoch := int32(0); epoch <= top; epoch++ {
			for _, reported := range bools {
				self := Self{UID: "ours", Epoch: epoch, Reported: reported, Lifted: lifted}
				for flags := range 1 << 7 {
					js := JobSet{
						Exists: flags&1 != 0, Deleting: flags&2 != 0, InPlace: flags&4 != 0,
						Disabled: flags&8 != 0, Suspended: flags&16 != 0, Ended: flags&64 != 0, UID: "ours",
					}
					if flags&32 != 0 {
						js.UID = "other"
					}
					for js.Deprecated = 0; js.Deprecated <= top; js.Deprecated++ {
						for js.Synced = 0; js.Synced <= top; js.Synced++ {
							look(View{Self: self, JobSet: js})
						}
					}
				}
			}
		}
	}
}

func TestDecideInEverySmallWorld(t *testing.T) {
	t.Parallel()
	count := 0
	everyView(func(v View) {
		count++
		got, self, js := Decide(v), v.Self, v.JobSet
		ours := js.Exists && !js.Deleting && !js.Suspended && !js.Ended && js.UID == self.UID
		bypassed := !js.InPlace || js.Disabled
		obeys := ours && !bypassed
		deprecated := self.Epoch <= js.Deprecated || self.Epoch < js.Synced || self.Epoch > js.Synced+1 || self.Epoch > js.Synced && self.Lifted != Held
		for rule, broken := range map[string]bool{
			"every decision has a reason":                     got.Because == "",
			"no decision of process mode":                     got.Kind == StopWorkers || got.Kind == Leave,
			"an epoch is set with Report and only then":       (got.Kind == Report) != (got.Epoch != 0),
			"a JobSet that is not ours changes nothing":       !ours && got.Kind != Wait,
			"P32a: nor does one that is deleted or suspended": (js.Deleting || js.Suspended) && got.Kind != Wait,
			"P34a: nor does one that has ended":               js.Ended && got.Kind != Wait,
			"P31: reports S+1":                                got.Kind == Report && got.Epoch != js.Synced+1,
			"P31: never reports twice":                        got.Kind == Report && self.Epoch != 0,
			"P31: never reports what must restart at once":    got.Kind == Report && got.Epoch <= js.Deprecated,
			"P31: reports as soon as it can":                  obeys && self.Epoch == 0 && self.Lifted == Held && js.Synced >= js.Deprecated && got.Kind != Report,
			"P32: never lifts what must restart":              got.Kind == Lift && deprecated,
			"P32: restarts what must restart":                 obeys && self.Epoch != 0 && deprecated && got.Kind != Restart,
			"P32: restarts nothing else":                      got.Kind == Restart && self.Lifted != ByBypass && !deprecated,
			"P33: lifts at S only":                            got.Kind == Lift && (self.Epoch != js.Synced || !self.Reported),
			"P33: lifts once":                                 (got.Kind == Lift || got.Kind == Bypass) && self.Lifted != Held,
			"P33: lifts when it can":                          obeys && self.Lifted == Held && self.Reported && self.Epoch != 0 && !deprecated && self.Epoch == js.Synced && got.Kind != Lift,
			"P34: obeys nothing during a bypass":              bypassed && got.Kind != Wait && got.Kind != Bypass,
			"P34: lifts by bypass only during one":            got.Kind == Bypass && !bypassed,
			"P34: a bypass that applies to us lifts us":       ours && bypassed && self.Lifted == Held && got.Kind != Bypass,
			"P34: the end of a bypass restarts whom it let":   obeys && self.Lifted == ByBypass && got.Kind != Restart,
		} {
			if broken {
				t.Fatalf("%s: Decide(%+v) = %+v", rule, v, got)
			}
		}
	})
	t.Logf("%d views", count)
}
