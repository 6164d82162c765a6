/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dashboard

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/progress"
	"sigs.k8s.io/jobset/pkg/restarts"
)

// Time is what the time of a group went to: the ledger as it was written (P140), and a time line of what the status remembers and
// events tell.
// A page adds the time since then to what lasts, so that a group that just runs changes nothing.
type Time struct {
	// At is when the ledger was written, in milliseconds; the rest is in seconds up to then.
	At         int64   `json:"at"`
	Running    float64 `json:"running"`
	Starting   float64 `json:"starting"`
	Assembling float64 `json:"assembling"`
	Paused     float64 `json:"paused"`
	// Lasts is which of them grows: running, assembling or paused; none if the JobSet has ended.
	Lasts string `json:"lasts,omitempty"`
	// Pauses are the parts of it that are paused instead, from when to when in milliseconds. They may overlap, and are in
	// the order of their beginnings.
	Pauses [][2]int64 `json:"pauses,omitempty"`
	// Phases follow each other without a gap, from the first Job on.
	Phases []Phase `json:"phases"`
}

// PhaseName is what a group does for a while.
type PhaseName string

// The phases of a time line. Of those of the ledger, Training, Starting and Hang are running; Restart, Planned and Waiting
// are assembling.
const (
	// Training: the workers run.
	Training PhaseName = "Training"
	// Starting: they run, and one had not given its first sign.
	Starting PhaseName = "Starting"
	// Hang: they run, and the one that was then ended gave no sign.
	Hang PhaseName = "Hang"
	// Restart: they come back after a failure.
	Restart PhaseName = "Restart"
	// Planned: they come back, and nothing had failed.
	Planned PhaseName = "Planned"
	// Waiting: they come together for another reason, as for the first time.
	Waiting PhaseName = "Waiting"
	// Paused: the JobSet is suspended, or waits after failures in quick succession.
	Paused PhaseName = "Paused"
)

// Phase is a part of the time line.
type Phase struct {
	Name PhaseName `json:"name"`
	// From and To are in milliseconds; To is 0 if it lasts.
	From int64  `json:"from"`
	To   int64  `json:"to,omitempty"`
	Text string `json:"text,omitempty"`
}

// untold is the text of phases before the first known event. How long each was in total follows from the ledger.
const untold = "in total, before the first known event"

// mark says that a phase begins; "" ends the last one.
type mark struct {
	at   time.Time
	name PhaseName
	text string
}

// timeOf returns the time line of a JobSet, nil without a ledger.
func timeOf(in restarts.Input, r *restarts.Report) *Time {
	ledger := in.JobSet.Status.Time
	if ledger == nil || r.Strategy != jobset.InPlaceRestart {
		return nil
	}
	lasting := restarts.LastingOf(in.JobSet)
	t := &Time{
		At: ledger.At.UnixMilli(), Running: ledger.Running.Seconds(), Starting: ledger.Starting.Seconds(),
		Assembling: ledger.Assembling.Seconds(), Paused: ledger.Paused.Seconds(),
		Lasts: string(lasting.Phase),
	}
	for _, pause := range lasting.Pauses {
		t.Pauses = append(t.Pauses, [2]int64{pause.From.UnixMilli(), pause.To.UnixMilli()})
	}
	var marks marks
	for _, restart := range slices.Backward(progress.Restarts(in, r.LastRestarts)) {
		marks.addRestart(&restart)
	}
	marks.addSuspensions(in)
	marks.addNow(in.JobSet, r, lasting.Phase)
	begin := ledger.At.Add(-ledger.Running.Duration - ledger.Assembling.Duration - ledger.Paused.Duration)
	t.Phases = marks.phases(begin, ledger)
	if r.Epochs.Synced <= 1 && len(t.Phases) > 0 && t.Phases[0].Text == untold {
		t.Phases[0].Text = "first start"
	}
	return t
}

type marks []mark

func (m *marks) add(at time.Time, name PhaseName, text string) { *m = append(*m, mark{at, name, text}) }

// addRestart adds what is known of a restart: the silence before it, its pause, itself, and how the workers started again.
func (m *marks) addRestart(r *progress.Restart) {
	if r.DetectSeconds != nil {
		m.add(r.Began.Add(-seconds(*r.DetectSeconds)), Hang, "a worker gave no sign")
	}
	begins := r.Began.Time
	if r.NotBefore != nil && r.NotBefore.After(begins) {
		m.add(begins, Paused, r.Why())
		begins = r.NotBefore.Time
	}
	name := Restart
	if r.Planned {
		name = Planned
	}
	m.add(begins, name, r.Why())
	if r.Ended == nil {
		return
	}
	trains := r.Ended.Time
	if r.StartSeconds != nil {
		m.add(trains, Starting, "")
		trains = trains.Add(seconds(*r.StartSeconds))
	}
	m.add(trains, Training, "")
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// addSuspensions adds when the JobSet was suspended and resumed.
func (m *marks) addSuspensions(in restarts.Input) {
	for i := range in.Events {
		switch at := restarts.EventTime(&in.Events[i]); in.Events[i].Reason {
		case constants.JobSetSuspendedReason:
			m.add(at.Time, Paused, "suspended")
		case constants.ResumedReason:
			m.add(at.Time, Waiting, "resumed")
		}
	}
}

// addNow adds what the status says of the phase that lasts: events that tell of its beginning may be gone.
func (m *marks) addNow(js *jobset.JobSet, r *restarts.Report, lasts policy.Phase) {
	since := r.State.Since
	switch r.State.Name {
	case restarts.Running:
		if lifted := js.Status.LastSyncTime; lifted != nil {
			m.addUnlessTold(lifted, Training, "")
		}
	case restarts.Assembling:
		if js.Status.PlannedBreak {
			m.addUnlessTold(since, Planned, r.State.Message)
		} else {
			m.addUnlessTold(since, Waiting, r.State.Message)
		}
	case restarts.Suspended:
		m.addUnlessTold(since, Paused, "suspended")
	case restarts.Bypassed, restarts.GateDisabled: // the ledger was written when its phase began
		name := map[policy.Phase]PhaseName{policy.PhaseRunning: Training, policy.PhaseAssembling: Waiting, policy.PhasePaused: Paused}[lasts]
		m.addUnlessTold(&metav1.Time{Time: js.Status.Time.At.Time}, name, r.State.Message)
	case restarts.Completed, restarts.Failed, restarts.Deleting:
		if since != nil {
			m.add(since.Time, "", "")
		}
	}
}

// sameMoment is how far a condition, which has whole seconds, and an event can be apart that tell of one moment.
const sameMoment = 2 * time.Second

// addUnlessTold adds a mark unless another tells of that moment, or of a later one.
func (m *marks) addUnlessTold(at *metav1.Time, name PhaseName, text string) {
	if at == nil || slices.ContainsFunc(*m, func(told mark) bool { return told.at.After(at.Add(-sameMoment)) }) {
		return
	}
	m.add(at.Time, name, text)
}

// phases returns what lies between the marks, and what the ledger says of the time before the first.
func (m marks) phases(begin time.Time, ledger *jobset.TimeStatus) []Phase {
	slices.SortStableFunc(m, func(a, b mark) int { return a.at.Compare(b.at) })
	hangs := false // to its end, whatever others tell
	m = slices.DeleteFunc(m, func(told mark) bool {
		goesOn := hangs && (told.name == Training || told.name == Starting)
		hangs = told.name == Hang || goesOn
		return goesOn
	})
	var phases []Phase
	for i, told := range m {
		from := told.at
		if from.Before(begin) {
			from = begin
		}
		phase := Phase{Name: told.name, From: from.UnixMilli(), Text: told.text}
		if i+1 < len(m) {
			if phase.To = m[i+1].at.UnixMilli(); phase.To <= phase.From {
				continue
			}
		}
		if told.name != "" {
			phases = append(phases, phase)
		}
	}
	first := ledger.At.UnixMilli()
	if len(phases) > 0 {
		first = phases[0].From
	}
	return slices.Concat(before(begin.UnixMilli(), first, phases, ledger), phases)
}

// before returns the phases from the first Job to the first that is known: what is left of the ledger.
func before(begin, first int64, known []Phase, ledger *jobset.TimeStatus) []Phase {
	if begin >= first {
		return nil
	}
	spent := map[PhaseName]int64{}
	for _, p := range known {
		to := ledger.At.UnixMilli() // what came later is not in the ledger
		if p.To > 0 && p.To < to {
			to = p.To
		}
		spent[p.Name] += max(0, to-p.From)
	}
	waited := ledger.Assembling.Milliseconds() - spent[Restart] - spent[Planned] - spent[Waiting]
	paused := ledger.Paused.Milliseconds() - spent[Paused]
	var phases []Phase
	for _, part := range []struct {
		name   PhaseName
		length int64
	}{{Waiting, waited}, {Paused, paused}, {Training, first - begin}} {
		to := min(begin+max(0, part.length), first)
		if part.name == Training {
			to = first
		}
		if to > begin {
			phases = append(phases, Phase{Name: part.name, From: begin, To: to, Text: untold})
		}
		begin = to
	}
	return phases
}
