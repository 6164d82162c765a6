/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/tolerance"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// Input is everything that a decision may look at. Decide changes nothing in it.
type Input struct {
	JobSet *jobset.JobSet
	// Jobs are those that the JobSet controls, by UID, in any order.
	Jobs []*batchv1.Job
	// ServiceExists reports whether a Service has the name of the headless Service.
	ServiceExists bool
	// Claims are the PersistentVolumeClaims that exist of those that the JobSet
	// asks for, by name.
	Claims map[string]*metav1.PartialObjectMetadata
	// Pods are the Pods of each Job, by the UID of the Job that controls them.
	// Read for in-place restart and fault tolerance only.
	Pods map[types.UID][]*corev1.Pod
	// OutsideLeases are Pods that report a later epoch themselves than their Leases do, if Leases are read.
	OutsideLeases map[types.UID]bool
	// Strays are Pods of the JobSet whose Job is not among Jobs. Read like all Pods if it tolerates faults.
	Strays []*corev1.Pod
	// ChildrenRead: Jobs, Pods and Strays were just read past the cache.
	ChildrenRead bool
	// Confirmed, if not nil, was just read past the cache: the Job, and the Pods with these indexes.
	Confirmed *Loss
	// FirstFailure is the first failure seen in the epoch that runs, if any was.
	FirstFailure *Failure
	// HeldSince is since when all plans were Held, if that is remembered.
	HeldSince time.Time
	Gates     gates.Set
	Now       time.Time

	// Injection is the agent of workers that bring none.
	Injection workerpod.Injection
	// Progress says when to step in if the group does not come together.
	Progress Progress
	// Access is what is known about the rights of agents, by service account; nil if the API server cannot be asked.
	Access map[string]AgentAccess
	// PolicyGap is why no policy restricts what agents may patch; "" if one does, or if that is not known.
	PolicyGap string
	// Grant is what exists of the rights that the controller gives to agents; nil if it gives none.
	Grant *AgentGrant
	// Clock is what the shell remembers of the clock of the assembly.
	Clock Clock
	// Tolerance says what spec.faultTolerance means.
	Tolerance tolerance.Limits
	// NotReady are the nodes of terminating Pods that are not ready, or do not exist any more.
	NotReady map[string]bool
	// SickNodes is known for JobSets with spec.faultTolerance only.
	SickNodes SickNodes
	// Verdict is what the planner of elastic groups said last, nil if it said nothing that the status lacked.
	Verdict *Verdict
	// Trace: the plan says what each step did.
	Trace bool
}

// Progress is how long a group may take to assemble, and its workers to start. 0 means no limit.
type Progress struct {
	// Assembly: after it Pods that have not reported are deleted, after twice of it all Jobs.
	Assembly time.Duration
	// ForcefulDeletion: a Pod on a lost node is deleted by force this long after its own grace period.
	ForcefulDeletion time.Duration
	// QuickFailurePause is the longest pause after failures in quick succession (P71). 0: none.
	QuickFailurePause time.Duration
	// NotReady: a worker of a group that runs is reported after it was not ready for this long. 0: never.
	NotReady time.Duration
}

// Clock is what the shell remembers of the clock of the assembly (P48). It only delays.
type Clock struct {
	// LedSince is since when this manager has been the leader with synced caches. Earlier time
	// does not count: this manager could not see reports then.
	LedSince time.Time
	// Stood is how long the clock stood still without the status saying so yet.
	Stood time.Duration
}

// Failure is why a Pod failed or restarted, as its status showed for a moment.
type Failure struct {
	Pod  string
	Node string
	// Deleted: the Pod is being deleted. Otherwise one of its containers ended, or the
	// Pod failed as a whole if Container is empty.
	Deleted   bool
	Container string
	ExitCode  int32
	// Reason is the kubelet's, such as OOMKilled, or that of a disruption; it may be empty.
	Reason string
	// Hang is how the worker hung, if it did (P133).
	Hang protocol.Hang
	// Replaced is why the Pod asked to be replaced (P70), if it did.
	Replaced string
	// NoSandbox: the Pod lost its sandbox, and with it all of its containers (P74).
	NoSandbox bool
}

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

// Scale is a Job that is to run another number of Pods.
type Scale struct {
	Job *batchv1.Job
	// Workers is the new parallelism and the new number of completions.
	Workers int32
}

// PodDeletion are Pods to delete so that the group can assemble.
type PodDeletion struct {
	Pods []*corev1.Pod
	// Force: with grace period 0.
	Force bool
	// Event is recorded when they are deleted.
	Event Event
}

// Event is recorded once the status is written.
type Event struct {
	// Type is Normal or Warning.
	Type    string
	Reason  string
	Message string
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

// Interrupted is what may be written and reported when only a part of the changes was
// made. What was decided follows from what was seen, and stands. But that the JobSet
// is suspended or resumed, or since when a group is waited for again, is true only
// once all of the changes are made; then nothing but the counts may be written.
func (p *Plan) Interrupted(stored *jobset.JobSetStatus) Plan {
	part := *p
	if len(p.DeletePods)+len(p.SuspendJobs)+len(p.ResumeJobs) > 0 {
		part = Plan{CountsInterval: p.CountsInterval, InvalidEpochs: p.InvalidEpochs, Replaced: p.Replaced}
		stored.DeepCopyInto(&part.Status)
		part.Status.ReplicatedJobsStatus = OnlyCounts(p.Status.ReplicatedJobsStatus, stored.ReplicatedJobsStatus)
	}
	return part
}
