/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Resources are amounts by name: of CPU in thousandths, of everything else in units.
type Resources map[corev1.ResourceName]int64

// Input is everything that a plan depends on. Make changes nothing in it.
type Input struct {
	Nodes []Node
	Jobs  []Job
	// Quotas are what namespaces with quotas may still have, by name (P112).
	Quotas map[string]Headroom
	// Accelerators are the resources that make a job a GPU job. If it requests several,
	// the first of the list is the one that counts.
	Accelerators []corev1.ResourceName
	// ReservePercent of the capacity for elastic jobs is left free (P106).
	ReservePercent int32
	// CooldownUp and CooldownDown are the least times between the last change of size of
	// a job and one up or down.
	CooldownUp, CooldownDown time.Duration
	// ShrinkAfter is how long a job lacks instances before it goes on without them, 0 for no limit (P108).
	ShrinkAfter time.Duration
	Now         time.Time
}

// Node is a node of the cluster.
type Node struct {
	Name   string
	Labels map[string]string
	Taints []corev1.Taint
	// Usable: it is ready, and not cordoned.
	Usable bool
	// Lost: it is not ready, so its instances count as missing (P108).
	Lost        bool
	Allocatable Resources
	// Requested is what the Pods on it request that are not instances of Input.Jobs.
	Requested Resources
}

// Key names an elastic ReplicatedJob.
type Key struct {
	Namespace, JobSet, ReplicatedJob string
}

// String is what users read.
func (k Key) String() string { return k.Namespace + "/" + k.JobSet + "/" + k.ReplicatedJob }

// Job is an elastic ReplicatedJob.
type Job struct {
	Key
	// Min and Max bound the size. Size is the current one.
	Min, Max, Size int32
	// Started: its group ran before. What it has is then its size, else its Pods on usable nodes (P104).
	Started bool
	// Request and Limit are those of one instance. A resource without a limit is limited to its request.
	Request, Limit Resources
	// Where says which nodes take its instances.
	Where Constraints
	// Exist is how many of its Pods exist, wherever they are: quotas count them.
	Exist int32
	// Bound are the instances that have a node, in any order.
	Bound []Instance
	// Absent: fewer Pods than its minimum have a node or wait for one, so what others gave might never be used (P104).
	Absent bool
	// Resized is when its size was changed last, zero if never.
	Resized time.Time
	// JobSetResized is when any size of its JobSet was changed last: each change restarts all of it (P107).
	JobSetResized time.Time
	// Running: its group runs. Then it lacks no instance, whatever its nodes and its Pods look like (P108b).
	Running bool
	// Shrinks: it may go on without the instances that no node can take, because it restarts in place (P108).
	Shrinks bool
	// Lacking is since when each plan has said that it lacks some, zero if the last one did not.
	Lacking time.Time
	// Held are the nodes whose Pods keep the indexes of instances that are missing, by name. It can go on
	// without them only if they may be deleted by force: MayForce.
	Held     []string
	MayForce bool
	// Ran is the size with which its group last ran, 0 if it never did.
	Ran int32
	// Refused are the instances that have no node although its group waits for them, and Ceiling is what
	// the last plans learned from such (P108a).
	Refused []Refusal
	Ceiling *Ceiling
	// NoRoom is when a plan last found no room for what is refused, zero if none did.
	NoRoom time.Time
}

// Instance is a Pod that is bound to a node.
type Instance struct {
	Index int32
	Node  string
}

// Plan is what is to become of each job.
type Plan struct {
	// Decisions are in the order of Input.Jobs.
	Decisions []Decision
	// Free and Assigned are the accelerators on usable nodes that no Pod has, and those of
	// the instances, once the plan is carried out.
	Free, Assigned Resources
}

// State says what a decision is.
type State string

const (
	// Keeps: the size is as it should be.
	Keeps State = "Keeps"
	// Grows: the job gets instances.
	Grows State = "Grows"
	// Gives: the job gives instances to others.
	Gives State = "Gives"
	// Fits: the job has not run yet, and goes on with as many instances as fit.
	Fits State = "Fits"
	// Cools: the size should change, and was changed a short time ago.
	Cools State = "Cools"
	// Shrinks: the job goes on without the instances that no node can take (P108).
	Shrinks State = "Shrinks"
	// Refused: the job goes on without the instances that the scheduler refuses (P108a).
	Refused State = "Refused"
	// Stuck: it cannot, because of Pods that keep their indexes, or of its minimum.
	Stuck State = "Stuck"
	// Waits: the minimum of a GPU job does not fit, and no one can give enough.
	Waits State = "Waits"
	// Overcommits: the same of a CPU job, which starts all the same (P105).
	Overcommits State = "Overcommits"
)

// Decision is what is to become of a job.
type Decision struct {
	Key
	State State
	// Size is to be set now, Desired is where it should be. They differ while the job cools down.
	Size, Desired int32
	// Score is how much of what it wants the job had before the plan.
	Score float64
	// Lacks is how many instances of a running job no node can take.
	Lacks int32
	// Refused: State is Stuck because of what the scheduler refuses.
	Refused bool
	// Because is the reason, for users; empty if the job keeps its size.
	Because string
	// Until is when the cooldown ends, if State is Cools.
	Until time.Time
	// Ceiling is to be kept until the next plan, nil if there is none (P108a).
	Ceiling *Ceiling
	// NoRoom: the plan has no room for what is refused either.
	NoRoom bool
	// Limit is what keeps it from one more instance, nil if it has its maximum (P113).
	Limit *Limit
}
