/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"sigs.k8s.io/jobset/pkg/policy/internal/access"
	"sigs.k8s.io/jobset/pkg/policy/internal/group"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// The rooms under internal belong to this package: these are the names of theirs that others use.

type (
	// AgentAccess is what the API server said of the rights of a service account.
	AgentAccess = pass.AgentAccess
	// AgentGrant is the part that exists of the rights of a JobSet's agents (P56).
	AgentGrant = pass.AgentGrant
	// Clock is what the shell remembers of clocks (P21a, P48).
	Clock = pass.Clock
	// Deadlines are how long a group may take to assemble, and its workers to start.
	Deadlines = pass.Deadlines
	// Event is recorded once the status is written.
	Event = pass.Event
	// Failure is why a Pod failed or restarted, as its status showed for a moment.
	Failure = pass.Failure
	// GrantWrites are the Role and the RoleBinding to write, in this order; nil if there is nothing to write.
	GrantWrites = pass.GrantWrites
	// Input is everything that a decision may look at.
	Input = pass.Input
	// LeaseRights says whether agents may be granted to write Leases (P153).
	LeaseRights = pass.LeaseRights
	// Loss is a Job that seems to have lost the workers of these completion indexes, and maybe more.
	Loss = pass.Loss
	// Op changes one object.
	Op = pass.Op
	// OpKind is what an Op does, or, of a question, a set of such kinds.
	OpKind = pass.OpKind
	// Outcome is counted by the metrics once the status is written.
	Outcome = pass.Outcome
	// Pace is how soon to write and to look again.
	Pace = pass.Pace
	// Plan is what is to be done, and what the status becomes.
	Plan = pass.Plan
	// Prepared is when a Pod was being prepared.
	Prepared = pass.Prepared
	// Questions are what the cache does not answer.
	Questions = pass.Questions
	// Quiet is since when the number of members that have reported is the same.
	Quiet = pass.Quiet
	// Replacement is a Pod that asked to be replaced (P70).
	Replacement = pass.Replacement
	// Reports are what users and operators learn.
	Reports = pass.Reports
	// SickNodes is what the configuration and the nodes say about resources that are sick.
	SickNodes = pass.SickNodes
	// Verdict is what the planner of elastic groups said about a JobSet.
	Verdict = pass.Verdict
	// WarmStarts is how the workers of an epoch were started, as far as they told (P165).
	WarmStarts = pass.WarmStarts
	// Writes are the changes of objects that come before that of the status.
	Writes = pass.Writes
	// Observed is what the Jobs of a JobSet add up to.
	Observed = view.Observed
	// WorkerSlot is a slot of the group, for tools that show which workers are missing.
	WorkerSlot = view.WorkerSlot
	// AgentPolicy is an admission policy that restricts what agents write, as it comes with this manager.
	AgentPolicy = access.AgentPolicy
	// Lasting is the phase that the stored status is in.
	Lasting = group.Lasting
	// Phase is what a group does, for the time that is counted.
	Phase = group.Phase
)

// Constants of these types.
const (
	LeasesUnknown        = pass.LeasesUnknown
	LeasesWithheld       = pass.LeasesWithheld
	LeasesGranted        = pass.LeasesGranted
	BypassedByAnnotation = pass.BypassedByAnnotation
	BypassedByGate       = pass.BypassedByGate
	Completed            = pass.Completed
	Failed               = pass.Failed
	GroupBroken          = pass.GroupBroken
	GroupLifted          = pass.GroupLifted
	WasReset             = pass.WasReset
	BecameUnhealthy      = pass.BecameUnhealthy
	DeletedByForce       = pass.DeletedByForce
	LostNode             = pass.LostNode
	AvoidsNode           = pass.AvoidsNode
	GaveUpNode           = pass.GaveUpNode
	MovedInPlace         = pass.MovedInPlace
	MovedByReset         = pass.MovedByReset
	MoveRefused          = pass.MoveRefused
	DeleteJob            = pass.DeleteJob
	DeletePod            = pass.DeletePod
	ReplaceLost          = pass.ReplaceLost
	ForceJob             = pass.ForceJob
	CountForced          = pass.CountForced
	SuspendJob           = pass.SuspendJob
	CreateService        = pass.CreateService
	CreateClaim          = pass.CreateClaim
	GrantAccess          = pass.GrantAccess
	ScaleJob             = pass.ScaleJob
	CreateJob            = pass.CreateJob
	ResumeJob            = pass.ResumeJob
	DeleteJobSet         = pass.DeleteJobSet
	ChangeGroup          = pass.ChangeGroup
	SlotMember           = view.SlotMember
	SlotLeaving          = view.SlotLeaving
	PhaseRunning         = group.PhaseRunning
	PhaseAssembling      = group.PhaseAssembling
	PhasePaused          = group.PhasePaused
)

// Functions and tables.
var (
	BypassOf        = pass.BypassOf
	Bypassed        = pass.Bypassed
	CauseText       = pass.CauseText
	FailureOf       = pass.FailureOf
	IfTrue          = pass.IfTrue
	NewVerdict      = pass.NewVerdict
	OnlyCounts      = pass.OnlyCounts
	Runs            = pass.Runs
	SizesHeld       = pass.SizesHeld
	Sooner          = pass.Sooner
	Tolerates       = pass.Tolerates
	CountsOf        = view.CountsOf
	Observe         = view.Observe
	WorkerSlots     = view.WorkerSlots
	RestartActions  = jobs.RestartActions
	AvoidedNodes    = jobs.AvoidedNodes
	UsedRestarts    = jobs.UsedRestarts
	LeasePolicy     = access.LeasePolicy
	OwnBinding      = access.OwnBinding
	OwnRole         = access.OwnRole
	PodPolicy       = access.PodPolicy
	RepairedBinding = access.RepairedBinding
	RepairedRole    = access.RepairedRole
	LastingOf       = group.LastingOf
	Late            = group.Late
	LostNodes       = group.LostNodes
	ReportedFailure = group.ReportedFailure
	RunsAt          = group.RunsAt
	StepsWith       = group.StepsWith
	UnreadySince    = group.UnreadySince
	WhyUnready      = group.WhyUnready
	Lingers         = jobs.Lingers
	Refused         = jobs.Refused
)
