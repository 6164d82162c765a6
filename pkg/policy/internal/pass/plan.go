/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pass

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

// Plan is what is to be done: the shell asks, writes, remembers, writes the status, and reports. An interrupted pass
// does the first of it, see Interrupted.
type Plan struct {
	Questions
	Writes
	Remembered
	// Status is the next status, whole.
	Status jobset.JobSetStatus
	// Verdict, if not nil, is in Status and not in the stored status. Nothing delays its write.
	Verdict *Verdict
	Reports
	Pace
	// Steps is what each step did, if Input.Trace asks for that.
	Steps []Step
}

// Questions are what the cache does not answer.
type Questions struct {
	// Confirm, if not nil, are workers that seem to be lost. Read the Pods with these indexes, and
	// then the Job, past the cache and decide again; the rest of the plan is empty.
	Confirm *Loss
	// ReadChildren: read all Jobs and Pods past the cache and decide again; the rest of the plan is empty.
	ReadChildren bool
	// ReadReports are Pods that seem to be late. Read their Leases past the cache and decide again; the rest of the plan is empty.
	ReadReports []*facts.Member
	// AskNodes are nodes whose Leases are to be read before the next pass (P172).
	AskNodes []string
	// AskAccess are service accounts whose rights are to be looked up before the next pass.
	AskAccess []string
	// AskLeases: those to report in Leases are among these rights.
	AskLeases bool
}

func (q Questions) and(next Questions) Questions {
	return Questions{
		Confirm:      cmp.Or(q.Confirm, next.Confirm),
		ReadChildren: q.ReadChildren || next.ReadChildren,
		ReadReports:  Join(q.ReadReports, next.ReadReports),
		AskNodes:     Join(q.AskNodes, next.AskNodes),
		AskAccess:    Join(q.AskAccess, next.AskAccess),
		AskLeases:    q.AskLeases || next.AskLeases,
	}
}

// Pace is how soon to write and to look again.
type Pace struct {
	// CountsInterval, if not 0, is the minimum time between writes of nothing but counts and of
	// workers that are not ready: each write is sent to the agent of every worker.
	CountsInterval time.Duration
	// RequeueAfter is when to look again even if nothing changes; 0 means never.
	RequeueAfter time.Duration
}

func (p Pace) and(next Pace) Pace {
	return Pace{
		CountsInterval: max(p.CountsInterval, next.CountsInterval),
		RequeueAfter:   Sooner(p.RequeueAfter, next.RequeueAfter),
	}
}

// Remembered is what the next pass gets from the shell, and no object holds. A new leader begins without it.
type Remembered struct {
	// Held: the group needs a break that fails the JobSet or recreates all Jobs, which waits for a
	// moment (P45). The shell remembers since when.
	Held bool
	// Pending: a break waits, or has waited, for a success that is not counted yet (P45d). The shell remembers since when.
	Pending bool
	// Reported is how many members have reported, if that is waited for. The shell remembers since when.
	Reported int64
	// Moving: Pods have to leave their nodes, and the barrier is not lifted before they have. The shell
	// remembers since when.
	Moving bool
	// ClockStands: the clock of the assembly stands still from now on, which the shell remembers.
	ClockStands bool
	// Prepared is what Clock.Prepared is in the next pass.
	Prepared map[types.UID]Prepared
	// ClockMoved is how far Status moves assemblingSince for the time that the clock stood still.
	ClockMoved time.Duration
}

func (r Remembered) and(next Remembered) Remembered {
	return Remembered{
		Held:        r.Held || next.Held,
		Pending:     r.Pending || next.Pending,
		Reported:    max(r.Reported, next.Reported),
		Moving:      r.Moving || next.Moving,
		ClockStands: r.ClockStands || next.ClockStands,
		ClockMoved:  r.ClockMoved + next.ClockMoved,
	}
}

// Interrupted is what may be written and reported when only a part of the changes was
// made. What was decided follows from what was seen, and stands. But that the JobSet
// is suspended or resumed, or since when a group is waited for again, is true only
// once all of the changes are made; then nothing but the counts may be written.
func (p *Plan) Interrupted(stored *jobset.JobSetStatus) Plan {
	part := *p
	if p.Does(DeletePod | SuspendJob | ResumeJob) {
		part = Plan{Pace: Pace{CountsInterval: p.CountsInterval}, Reports: Reports{InvalidEpochs: p.InvalidEpochs, Replaced: p.Replaced}}
		stored.DeepCopyInto(&part.Status)
		part.Status.ReplicatedJobsStatus = OnlyCounts(p.Status.ReplicatedJobsStatus, stored.ReplicatedJobsStatus)
	}
	return part
}

// Step is what one step of a decision did, for the log. Nothing is decided by it.
type Step struct {
	Name string
	// Added names what the step added: fields of the plan, changes of the status, conditions, events.
	Added []string
	// Ended: no later step of its list was asked.
	Ended bool
}

// Sooner returns the shorter of two times to wait; 0 or less means no limit.
func Sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return max(0, b)
	}
	return a
}

// Join appends one list to another, and copies nothing if one of them is empty.
func Join[T any](a, b []T) []T {
	if len(a) == 0 {
		return b
	}
	return append(a, b...)
}
