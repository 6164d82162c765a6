/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pass

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/tolerance"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Input is everything that a decision may look at. Decide changes nothing in it.
type Input struct {
	JobSet *jobset.JobSet
	// Jobs are those that the JobSet controls, by UID, in any order.
	Jobs []*batchv1.Job
	// ServiceExists reports whether a Service has the name of the headless Service.
	ServiceExists bool
	// Service is that Service, if it was read.
	Service *corev1.Service
	// Claims are the PersistentVolumeClaims that exist of those that the JobSet
	// asks for, by name.
	Claims map[string]*metav1.PartialObjectMetadata
	// Pods are the Pods of each Job, by the UID of the Job that controls them.
	// Read for in-place restart and fault tolerance only.
	Pods map[types.UID][]*facts.Member
	// Lingering are the Pods of Jobs that have waited long for them, see Lingers. Read unless Pods are.
	Lingering map[types.UID][]*facts.Member
	// LeasesSeen: Pods are joined with the reports in their Leases.
	LeasesSeen bool
	// Strays are Pods of the JobSet whose Job is not among Jobs. Read like all Pods if it tolerates faults.
	Strays []*facts.Member
	// ChildrenRead: Jobs, Pods and Strays were just read past the cache.
	ChildrenRead bool
	// Confirmed, if not nil, was just read past the cache: the Job, and the Pods with these indexes.
	Confirmed *Loss
	// InLeases: agents may report in Leases, whose cache may lag. ReportsRead are Pods whose Leases were just read past it; nil if none was.
	InLeases    bool
	ReportsRead map[types.UID]bool
	// FirstFailure is the first failure seen in the epoch that runs, if any was.
	FirstFailure *Failure
	// HeldSince is since when all plans were Held, if that is remembered.
	HeldSince time.Time
	// PendingSince is the same of plans that were Pending.
	PendingSince time.Time
	Gates        gates.Set
	Now          time.Time

	// Injection is the agent of workers that bring none.
	Injection workerpod.Injection
	// Deadlines say when to step in if the group does not come together.
	Deadlines Deadlines
	// Access is what is known about the rights of agents, by service account; nil if the API server cannot be asked.
	Access map[string]AgentAccess
	// PolicyGap is why no policy restricts what agents may patch; "" if one does, or if that is not known.
	PolicyGap string
	// LeaseGap is the same for Leases: while it is not "", no report is read from one (P153b).
	LeaseGap string
	// Grant is what exists of the rights that the controller gives to agents; nil if it gives none.
	Grant *AgentGrant
	// Clock is what the shell remembers of the clock of the assembly.
	Clock Clock
	// Tolerance says what spec.faultTolerance means.
	Tolerance tolerance.Limits
	// NotReady are the nodes, of terminating Pods and of Pods that are being prepared, that are not ready, or do not exist any more.
	NotReady map[string]bool
	// Heard is what was heard from the nodes that earlier passes asked for, of any JobSet.
	Heard map[string]facts.Heard
	// Quiet is how many members had reported when a pass last saw another number of them, and when it did.
	Quiet Quiet
	// SickNodes is known for JobSets with spec.faultTolerance only.
	SickNodes SickNodes
	// Verdict is what the planner of elastic groups said last, nil if it said nothing that the status lacked.
	Verdict *Verdict
	// Trace: the plan says what each step did.
	Trace bool
}

// Deadlines are how long a group may take to assemble, and its workers to start. 0 means no limit.
type Deadlines struct {
	// Assembly: after it Pods that have not reported are deleted, after twice of it all Jobs.
	Assembly time.Duration
	// Preparation is for how long at most a Pod that is being prepared stops the clock of the assembly (P48a). 0: it stops none.
	Preparation time.Duration
	// ForcefulDeletion: a Pod on a lost node is deleted by force this long after its own grace period.
	ForcefulDeletion time.Duration
	// QuickFailurePause is the longest pause after failures in quick succession (P71). 0: none.
	QuickFailurePause time.Duration
	// NotReady: a worker of a group that runs is reported after it was not ready for this long. 0: never.
	NotReady time.Duration
}

// Clock is what the shell remembers of clocks (P21a, P48). It only delays.
type Clock struct {
	// LedSince is since when this manager has been the leader with synced caches, and its clock has not jumped. Earlier time
	// does not count for the assembly: this manager could not see reports then.
	LedSince time.Time
	// SteadySince is when its clock last jumped, zero if it never did. No deadline counts the time before.
	SteadySince time.Time
	// Stood is how long the clock stood still without the status saying so yet.
	Stood time.Duration
	// Prepared are the Pods that were seen being prepared since the group assembles, by UID.
	Prepared map[types.UID]Prepared
}

// Prepared is when a Pod was being prepared: since it was first seen so, until it was first seen otherwise, zero if it was not.
type Prepared struct{ Since, Until time.Time }

// Quiet is since when the number of members that have reported is the same.
type Quiet struct {
	Reported int64
	Since    time.Time
}

// AgentAccess is what the API server said of the rights of a service account.
type AgentAccess struct {
	// Asked is when it was asked.
	Asked time.Time
	// Lacks are the rights that agents need and the account does not have, such as "patch pods".
	Lacks []string
	// LacksLeases are those without which agents of large groups report on their Pods.
	LacksLeases []string
	// Unknown: the API server did not say.
	Unknown bool
}

// SickNodes is what the configuration and the nodes say about resources that are sick.
type SickNodes struct {
	// KeepAway: Pods that request such a resource keep away from these labels.
	KeepAway nodehealth.Rules
	// Marked are the nodes that Pods are moved off, by name.
	Marked map[string][]nodehealth.Mark
	// Since is since when all plans were Moving, if that is remembered.
	Since time.Time
}

// Loss is a Job that seems to have lost the workers of these completion indexes, and maybe more.
type Loss struct {
	Job     *batchv1.Job
	Indexes []int64
}

// Refresh returns the Pods of the Job: those of the lost indexes as just read, the others as cached.
func (l *Loss) Refresh(cached, read []*facts.Member) []*facts.Member {
	asked := func(pod *facts.Member) bool {
		return slices.Contains(l.Indexes, int64(pod.Index))
	}
	pods := slices.DeleteFunc(slices.Clone(cached), asked)
	for _, pod := range read {
		if asked(pod) {
			pods = append(pods, pod)
		}
	}
	return pods
}

// AgentGrant is the part that exists of the rights of a JobSet's agents (P56).
type AgentGrant struct {
	// Role and Binding have the names that are reserved for them; nil if they do not exist or do
	// not belong to the JobSet.
	Role    *rbacv1.Role
	Binding *rbacv1.RoleBinding
	// PolicyKnown reports whether Input.PolicyGap is known.
	PolicyKnown bool
	// Leases says whether agents get the right to report in Leases, beside that to report on Pods.
	Leases LeaseRights
}

// LeaseRights says whether agents may be granted to write Leases (P153).
type LeaseRights int

const (
	// LeasesUnknown: whether the admission policy restricts them is not known yet, so they keep what they have.
	LeasesUnknown LeaseRights = iota
	// LeasesWithheld: the policy is not in force, or the configuration wants no reports in Leases.
	LeasesWithheld
	// LeasesGranted: the policy restricts them.
	LeasesGranted
)
