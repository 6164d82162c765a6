/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package logs

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Log is the log of one container, from its start to its end.
type Log struct {
	ReplicatedJob string `json:"replicatedJob"`
	Pod           string `json:"pod"`
	Node          string `json:"node,omitempty"`
	Container     string `json:"container"`
	// Previous: the container has been started again since.
	Previous bool `json:"previous,omitempty"`
	// Marks of its supervisor, in the order of the log.
	Marks []protocol.Mark `json:"-"`
	// Ended is how the container ended by its status; nil if it runs. It is Stopped if its Pod was told to end.
	Ended *protocol.Exit `json:"-"`
}

// ends returns the marks of ends, and one for each end of which the supervisor said nothing. When it was killed with its
// worker, as for the memory of the container, the status of the container tells. A supervisor drops a line rather
// than wait for a log that takes none (P63); then the next start tells that the worker had ended, and nothing tells how.
func (l *Log) ends() []protocol.Mark {
	var ends []protocol.Mark
	end := func(m protocol.Mark, at time.Time, how protocol.Exit) {
		m.Run, m.Time, m.Exit = protocol.RunEnd, at, how
		ends = append(ends, m)
	}
	for i, m := range l.Marks {
		last := i == len(l.Marks)-1
		switch {
		case m.Run == protocol.RunEnd:
			ends = append(ends, m)
		case !last && l.Marks[i+1].Run == protocol.RunStart:
			end(m, l.Marks[i+1].Time, protocol.Exit{Stopped: true})
		case last && l.Ended != nil:
			end(m, l.Ended.Time, *l.Ended)
		}
	}
	return ends
}

// Failure is a worker that ended with a failure that was not asked for.
type Failure struct {
	Log
	// Rank is protocol.NoRank if the worker was told none.
	Rank int32     `json:"rank"`
	Time time.Time `json:"time"`
	// Code is the exit code, 128 + Signal after a signal.
	Code      int  `json:"code"`
	Signal    int  `json:"signal,omitempty"`
	OOMKilled bool `json:"oomKilled,omitempty"`
	// Hung: it was killed because it gave no sign of life.
	Hung bool `json:"hung,omitempty"`
	// Step is the last that it told; 0 if it told none.
	Step int64 `json:"step,omitempty"`
}

// Epoch is what the logs tell of one epoch.
type Epoch struct {
	Epoch int32 `json:"epoch"`
	// Started is when the first of its workers started, Ended when the last one ended; nil where no log tells.
	Started *time.Time `json:"started,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
	// Workers of which a log tells, Running those that have not ended, Failures those that ended with a failure unasked.
	Workers  int `json:"workers"`
	Running  int `json:"running"`
	Failures int `json:"failures"`
	// First is the first that failed, by the clocks of the nodes.
	First *Failure `json:"first,omitempty"`
}

// Epochs puts the marks of all logs together, by epoch.
func Epochs(all []Log) []Epoch {
	epochs := map[int32]*Epoch{}
	for i := range all {
		l := &all[i]
		seen := map[int32]bool{}
		at := func(m protocol.Mark) *Epoch {
			e := epochs[m.Epoch]
			if e == nil {
				e = &Epoch{Epoch: m.Epoch}
				epochs[m.Epoch] = e
			}
			if !seen[m.Epoch] { // a bypass may start several times in one log
				seen[m.Epoch] = true
				e.Workers++
				e.Running++
			}
			return e
		}
		for _, m := range l.Marks {
			if e := at(m); m.Run == protocol.RunStart && (e.Started == nil || m.Time.Before(*e.Started)) {
				e.Started = &m.Time
			}
		}
		for _, m := range l.ends() {
			at(m).ended(l, m)
		}
	}
	for _, e := range epochs {
		if e.Running = max(0, e.Running); e.Running > 0 {
			e.Ended = nil
		}
	}
	sorted := make([]Epoch, 0, len(epochs))
	for _, number := range slices.Sorted(maps.Keys(epochs)) {
		sorted = append(sorted, *epochs[number])
	}
	return sorted
}

func (e *Epoch) ended(l *Log, m protocol.Mark) {
	e.Running--
	if e.Ended == nil || m.Time.After(*e.Ended) {
		e.Ended = &m.Time
	}
	if !m.Hung && (m.Exit.Stopped || m.Exit.Code == 0) {
		return
	}
	e.Failures++
	f := Failure{Log: *l, Rank: m.Rank, Time: m.Time, Code: m.Exit.Code, Signal: m.Exit.Signal, OOMKilled: m.Exit.OOMKilled, Hung: m.Hung, Step: m.Step}
	if e.First == nil || f.before(e.First) {
		e.First = &f
	}
}

func (f *Failure) before(g *Failure) bool {
	return cmp.Or(f.Time.Compare(g.Time), cmp.Compare(f.ReplicatedJob, g.ReplicatedJob), cmp.Compare(f.Rank, g.Rank), cmp.Compare(f.Container, g.Container)) < 0
}

// IsFirst reports whether the worker of this log and section was the first to fail in its epoch, and how.
func IsFirst(epochs []Epoch, l *Log, s Section) (*Failure, bool) {
	for i := range epochs {
		if f := epochs[i].First; epochs[i].Epoch == s.Epoch && f != nil {
			return f, f.Pod == l.Pod && f.Container == l.Container && f.Previous == l.Previous
		}
	}
	return nil, false
}
