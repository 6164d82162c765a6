/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"cmp"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Plan is what is to be done, in this order: deletes, of Pods too and by force, Service, claims, rights, scaling,
// creates, suspends, resumes, status, events.
type Plan struct {
	// Confirm, if not nil, are workers that seem to be lost. Read the Pods with these indexes, and
	// then the Job, past the cache and decide again; the rest of the plan is empty.
	Confirm *Loss

	// ReadChildren: read all Jobs and Pods past the cache and decide again; the rest of the plan is empty.
	ReadChildren bool

	DeleteJobSet bool
	DeleteJobs   []*batchv1.Job
	// TellDeleted, if not nil, is recorded when DeleteJobs are deleted: the status may not change with it.
	TellDeleted *Event
	DeletePods  []PodDeletion
	// ForceJobs are being deleted and have no Pods left: the garbage collector has had its time.
	ForceJobs     []*batchv1.Job
	CreateService *corev1.Service
	CreateClaims  []*corev1.PersistentVolumeClaim
	// Grant is written before the first Job is created.
	Grant     GrantWrites
	ScaleJobs []Scale
	// CreateJobs are batches, one for each ReplicatedJob, to be created one after the other. More
	// Jobs may be missing, see Uncreated.
	CreateJobs  [][]*batchv1.Job
	SuspendJobs []*batchv1.Job
	ResumeJobs  []Resume
	// Uncreated Jobs are wanted, by ReplicatedJobs that have their turn, and neither
	// exist nor are in CreateJobs: a plan holds only so many, or something is in their way.
	Uncreated int64
	// Unresumed Jobs are to run and not in ResumeJobs: a plan holds only so many, or
	// the Job controller has yet to suspend them.
	Unresumed int64

	// Status is the next status, whole.
	Status jobset.JobSetStatus
	// Verdict, if not nil, is in Status and not in the stored status. Nothing delays its write.
	Verdict *Verdict
	// Held: the group needs a break that fails the JobSet or recreates all Jobs, which waits for a
	// moment (P45). The shell remembers since when. A new leader starts to wait again.
	Held bool
	// Moving: Pods have to leave their nodes, and the barrier is not lifted before they have. The shell
	// remembers since when. A new leader starts to wait again.
	Moving bool
	// ClockStands: the clock of the assembly stands still from now on, which the shell remembers.
	ClockStands bool
	// ClockMoved is how far Status moves assemblingSince for the time that the clock stood still.
	ClockMoved time.Duration
	// CountsInterval, if not 0, is the minimum time between writes of nothing but counts and of
	// workers that are not ready: each write is sent to the agent of every worker.
	CountsInterval time.Duration

	Events   []Event
	Outcomes []Outcome
	// Restart is the action by which the failure policy restarts Jobs; "" if it restarts none.
	Restart jobset.FailurePolicyAction
	// GroupRestart is how long the group restart that ends now took.
	GroupRestart time.Duration
	// WarmStarts are those of the epoch that ended before.
	WarmStarts WarmStarts
	// AskAccess are service accounts whose rights are to be looked up before the next pass.
	AskAccess []string
	// AskLeases: those to report in Leases are among these rights.
	AskLeases bool
	// InvalidEpochs are Pods whose epoch annotation is not an epoch.
	InvalidEpochs []*corev1.Pod
	// Foreign are Jobs that name the JobSet as their controller, and that it did not create.
	Foreign []*batchv1.Job
	// Replaced are Pods that cannot restart in place.
	Replaced []Replacement
	// RequeueAfter is when to look again even if nothing changes; 0 means never.
	RequeueAfter time.Duration
	// Steps is what each step did, if Input.Trace asks for that.
	Steps []Step
}

// Resume is a Job to resume.
type Resume struct {
	// From is the Job as it is, Job as it is to be.
	From, Job *batchv1.Job
	// ResetStartTime: the template changes, which is allowed only without a start time.
	ResetStartTime bool
}

// Replacement is a Pod that asked to be replaced (P70).
type Replacement struct {
	Pod *corev1.Pod
	// Because is what its agent says, Reason the same in one word; empty if the agent could not say it.
	Because string
	Reason  protocol.LeaveReason
}

// Step is what one step of a decision did, for the log. Nothing is decided by it.
type Step struct {
	Name string
	// Added names what the step added: fields of the plan, changes of the status, conditions, events.
	Added []string
	// Ended: no later step of its list was asked.
	Ended bool
}

// Scale is a Job that is to run another number of Pods.
type Scale struct {
	Job *batchv1.Job
	// Workers is the new parallelism and the new number of completions.
	Workers int32
}

// WarmStarts is how the workers of an epoch were started, as far as they told (P165).
type WarmStarts struct {
	// Epoch is theirs; 0 if nobody told.
	Epoch      int32
	Warm, Cold int
	// WarmSign and ColdSign are how long the last of each took from its start to its first sign (P130); 0 if none gave one.
	WarmSign, ColdSign time.Duration
}

// String is what the event of a lift says of the epoch before, and is read back by package restarts.
func (s WarmStarts) String() string {
	if s.Epoch == 0 {
		return ""
	}
	after := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return fmt.Sprintf(" (first sign after %.1f s)", d.Seconds())
	}
	return fmt.Sprintf("; in epoch %d, %d had started warm%s and %d cold%s", s.Epoch, s.Warm, after(s.WarmSign), s.Cold, after(s.ColdSign))
}

// PodDeletion are Pods to delete so that the group can assemble.
type PodDeletion struct {
	Pods []*corev1.Pod
	// Force: with grace period 0.
	Force bool
	// Event is recorded when they are deleted.
	Event Event
}

// Outcome is counted by the metrics once the status is written.
type Outcome string

const (
	// Completed: the JobSet became Completed.
	Completed Outcome = "Completed"
	// Failed: the JobSet became Failed.
	Failed Outcome = "Failed"
	// GroupBroken: the group of workers restarts in place.
	GroupBroken Outcome = "GroupBroken"
	// GroupLifted: the workers of a group restart may start.
	GroupLifted Outcome = "GroupLifted"
	// WasReset: a JobSet that tolerates faults is reset.
	WasReset Outcome = "Reset"
	// BecameUnhealthy: it will be reset if its Pods do not come back in time.
	BecameUnhealthy Outcome = "Unhealthy"
	// DeletedByForce: Pods or Jobs of it are deleted by force.
	DeletedByForce Outcome = "ForcefulDeletion"
	// AvoidsNode: new Pods of it avoid another node from now on.
	AvoidsNode Outcome = "NodeAvoided"
	// GaveUpNode: they do not avoid one any more, since they have no other.
	GaveUpNode Outcome = "AvoidedNodeGivenUp"
	// MovedInPlace: a group restart moves Pods off sick nodes.
	MovedInPlace Outcome = "MovedInPlace"
	// MovedByReset: a reset does.
	MovedByReset Outcome = "MovedByReset"
	// MoveRefused: Pods stay on sick nodes.
	MoveRefused Outcome = "MoveRefused"
)

// ChangesGroup reports whether the plan makes workers come or go.
func (p *Plan) ChangesGroup() bool {
	return p.touchesJobs() || len(p.DeletePods)+len(p.ForceJobs) > 0
}

// add adds a part of a plan. Status and Events are not added.
func (p *Plan) add(part *Plan) {
	p.Confirm = cmp.Or(p.Confirm, part.Confirm)
	p.CreateService = cmp.Or(p.CreateService, part.CreateService)
	p.Grant = cmp.Or(p.Grant, part.Grant)
	p.Verdict = cmp.Or(p.Verdict, part.Verdict)
	p.ReadChildren = p.ReadChildren || part.ReadChildren
	p.DeleteJobSet = p.DeleteJobSet || part.DeleteJobSet
	p.DeleteJobs = join(p.DeleteJobs, part.DeleteJobs)
	p.TellDeleted = cmp.Or(p.TellDeleted, part.TellDeleted)
	p.DeletePods = join(p.DeletePods, part.DeletePods)
	p.ForceJobs = join(p.ForceJobs, part.ForceJobs)
	p.CreateClaims = join(p.CreateClaims, part.CreateClaims)
	p.ScaleJobs = join(p.ScaleJobs, part.ScaleJobs)
	p.CreateJobs = join(p.CreateJobs, part.CreateJobs)
	p.SuspendJobs = join(p.SuspendJobs, part.SuspendJobs)
	p.ResumeJobs = join(p.ResumeJobs, part.ResumeJobs)
	p.Uncreated += part.Uncreated
	p.Unresumed += part.Unresumed
	p.Held = p.Held || part.Held
	p.Moving = p.Moving || part.Moving
	p.ClockStands = p.ClockStands || part.ClockStands
	p.ClockMoved += part.ClockMoved
	p.CountsInterval = max(p.CountsInterval, part.CountsInterval)
	p.Outcomes = join(p.Outcomes, part.Outcomes)
	p.Restart = cmp.Or(part.Restart, p.Restart)
	p.GroupRestart = max(p.GroupRestart, part.GroupRestart)
	p.WarmStarts = cmp.Or(p.WarmStarts, part.WarmStarts)
	p.AskAccess = join(p.AskAccess, part.AskAccess)
	p.AskLeases = p.AskLeases || part.AskLeases
	p.InvalidEpochs = join(p.InvalidEpochs, part.InvalidEpochs)
	p.Replaced = join(p.Replaced, part.Replaced)
	p.RequeueAfter = sooner(p.RequeueAfter, part.RequeueAfter)
}

// touchesJobs reports whether the plan changes Jobs.
func (p *Plan) touchesJobs() bool {
	return len(p.DeleteJobs)+len(p.ScaleJobs)+len(p.CreateJobs)+len(p.SuspendJobs)+len(p.ResumeJobs) > 0
}

// jobsAsWanted reports whether nothing is left to be done to Jobs, by this plan or a later one.
func (p *Plan) jobsAsWanted() bool {
	return !p.touchesJobs() && p.Uncreated == 0 && p.Unresumed == 0
}

// forgetJobs drops every change of Jobs.
func (p *Plan) forgetJobs() {
	p.DeleteJobs, p.ScaleJobs, p.CreateJobs, p.SuspendJobs, p.ResumeJobs, p.TellDeleted = nil, nil, nil, nil, nil, nil
	p.Uncreated, p.Unresumed = 0, 0
}

// sooner returns the shorter of two times to wait; 0 or less means no limit.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return max(0, b)
	}
	return a
}

func join[T any](a, b []T) []T {
	if len(a) == 0 {
		return b
	}
	return append(a, b...)
}
