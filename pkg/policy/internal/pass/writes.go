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

	"sigs.k8s.io/jobset/pkg/facts"
)

// Writes are the changes of objects that come before that of the status.
type Writes struct {
	// Ops are in the order of their kinds. One that fails ends the pass.
	Ops []Op
	// Uncreated Jobs are wanted, by ReplicatedJobs that have their turn, and neither
	// exist nor are created by Ops: a plan holds only so many, or something is in their way.
	Uncreated int64
	// Unresumed Jobs are to run and not resumed by Ops: a plan holds only so many, or
	// the Job controller has yet to suspend them.
	Unresumed int64
}

// Op changes one object: the field that its kind names, as it is, or as it is to be if it is created.
type Op struct {
	Kind OpKind
	// Batch: see Together.
	Batch int
	// Because, if not nil, is recorded once they are made: the status may not change with them.
	Because *Event

	Job *batchv1.Job
	// Resumed is what a Job that is resumed becomes. ResetStartTime: its template changes, which is allowed only without a
	// start time.
	Resumed        *batchv1.Job
	ResetStartTime bool
	// Workers is the new parallelism, and the new number of completions, of a Job that is scaled.
	Workers int32
	Pod     *facts.Member
	// Epoch: a lost worker that has reported it came back. Since: it is lost since then.
	Epoch int32
	Since time.Time
	// Force: the Pod is deleted with grace period 0.
	Force   bool
	Service *corev1.Service
	Claim   *corev1.PersistentVolumeClaim
	Grant   *GrantWrites
}

// Together reports whether two ops that follow each other may be made at the same time; others are made one after the other.
func (o *Op) Together(next *Op) bool {
	return o.Kind == next.Kind && o.Batch == next.Batch && o.Because == next.Because
}

// OpKind is what an Op does, or, of a question, a set of such kinds.
type OpKind uint16

// The kinds, in the order in which they are made: what frees resources comes before what a quota may refuse.
const (
	DeleteJob OpKind = 1 << iota
	DeletePod
	// ReplaceLost deletes a Pod on a lost node by force, unless it turns out to have come back.
	ReplaceLost
	// ForceJob deletes a Job that is being deleted and has no Pods left: the garbage collector has had its time.
	ForceJob
	// CountForced counts deletions by force. It changes no object, and the status may not change with them.
	CountForced
	SuspendJob
	CreateService
	CreateClaim
	// GrantAccess is made before the first Job is created.
	GrantAccess
	ScaleJob
	CreateJob
	ResumeJob
	DeleteJobSet
	endOfOps

	// ChangeJobs are changes of Jobs. ChangeGroup: workers come or go.
	ChangeJobs  = DeleteJob | SuspendJob | ScaleJob | CreateJob | ResumeJob
	ChangeGroup = ChangeJobs | DeletePod | ReplaceLost | ForceJob
)

// OpNames are the names of the kinds, in their order.
var OpNames = []string{"DeleteJob", "DeletePod", "ReplaceLost", "ForceJob", "CountForced", "SuspendJob", "CreateService", "CreateClaim", "GrantAccess",
	"ScaleJob", "CreateJob", "ResumeJob", "DeleteJobSet"}

func (w Writes) and(next Writes) Writes {
	return Writes{Join(w.Ops, next.Ops), w.Uncreated + next.Uncreated, w.Unresumed + next.Unresumed}
}

// Of returns the ops of some kinds.
func (w Writes) Of(kinds OpKind) (ops []Op) {
	for _, op := range w.Ops {
		if op.Kind&kinds != 0 {
			ops = append(ops, op)
		}
	}
	return ops
}

// Does reports whether there is an op of one of these kinds.
func (w Writes) Does(kinds OpKind) bool {
	return slices.ContainsFunc(w.Ops, func(op Op) bool { return op.Kind&kinds != 0 })
}

// Replaces reports whether a Pod is replaced by force, so that nobody else need delete it.
func (w Writes) Replaces(pod *facts.Member) bool {
	return slices.ContainsFunc(w.Ops, func(op Op) bool { return op.Kind == ReplaceLost && op.Pod == pod })
}

// Do adds an op.
func (w *Writes) Do(op Op) { w.Ops = append(w.Ops, op) }

// Drop takes the ops of some kinds out.
func (w *Writes) Drop(kinds OpKind) { w.Ops = w.Of(^kinds) }

// JobsAsWanted reports whether nothing is left to be done to Jobs, by this plan or a later one.
func (w *Writes) JobsAsWanted() bool {
	return !w.Does(ChangeJobs) && w.Uncreated == 0 && w.Unresumed == 0
}

// GrantWrites are the Role and the RoleBinding to write, in this order; nil if there is nothing to
// write. The From of each is what it is patched from, nil if it is to be created.
type GrantWrites struct {
	Role, RoleFrom       *rbacv1.Role
	Binding, BindingFrom *rbacv1.RoleBinding
}

// IsTerminating reports whether a Job is being deleted.
func IsTerminating(job *batchv1.Job) bool { return job.DeletionTimestamp != nil }

// WithoutTerminating leaves out the Jobs that are being deleted.
func WithoutTerminating(jobs ...*batchv1.Job) []*batchv1.Job {
	return slices.DeleteFunc(slices.Clone(jobs), IsTerminating)
}
