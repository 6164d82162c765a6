/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"cmp"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Writes are the changes of objects, in this order: deletes, of Pods too and by force, suspends, Service, claims, rights, scaling,
// creates, resumes, and the JobSet itself. The status comes after them. A write that fails ends the pass, so what frees
// resources comes before what a quota may refuse.
type Writes struct {
	DeleteJobs []*batchv1.Job
	// TellDeleted, if not nil, is recorded when DeleteJobs are deleted: the status may not change with it.
	TellDeleted *Event
	DeletePods  []PodDeletion
	// ForceJobs are being deleted and have no Pods left: the garbage collector has had its time.
	ForceJobs     []*batchv1.Job
	SuspendJobs   []*batchv1.Job
	CreateService *corev1.Service
	CreateClaims  []*corev1.PersistentVolumeClaim
	// Grant is written before the first Job is created.
	Grant     GrantWrites
	ScaleJobs []Scale
	// CreateJobs are batches, one for each ReplicatedJob, to be created one after the other. More
	// Jobs may be missing, see Uncreated.
	CreateJobs   [][]*batchv1.Job
	ResumeJobs   []Resume
	DeleteJobSet bool

	// Uncreated Jobs are wanted, by ReplicatedJobs that have their turn, and neither
	// exist nor are in CreateJobs: a plan holds only so many, or something is in their way.
	Uncreated int64
	// Unresumed Jobs are to run and not in ResumeJobs: a plan holds only so many, or
	// the Job controller has yet to suspend them.
	Unresumed int64
}

// PodDeletion are Pods to delete so that the group can assemble.
type PodDeletion struct {
	Pods []*corev1.Pod
	// Force: with grace period 0.
	Force bool
	// Lost, if not nil: they are on lost nodes, and are deleted unless they turn out to have come back.
	Lost *LostWorker
	// Event is recorded when they are deleted.
	Event Event
}

// LostWorker is a worker that is lost since a break, unless its Pod reports an epoch.
type LostWorker struct {
	Epoch int32
	Since time.Time
}

// Scale is a Job that is to run another number of Pods.
type Scale struct {
	Job *batchv1.Job
	// Workers is the new parallelism and the new number of completions.
	Workers int32
}

// Resume is a Job to resume.
type Resume struct {
	// From is the Job as it is, Job as it is to be.
	From, Job *batchv1.Job
	// ResetStartTime: the template changes, which is allowed only without a start time.
	ResetStartTime bool
}

func (w Writes) and(next Writes) Writes {
	return Writes{
		DeleteJobs:    join(w.DeleteJobs, next.DeleteJobs),
		TellDeleted:   cmp.Or(w.TellDeleted, next.TellDeleted),
		DeletePods:    join(w.DeletePods, next.DeletePods),
		ForceJobs:     join(w.ForceJobs, next.ForceJobs),
		SuspendJobs:   join(w.SuspendJobs, next.SuspendJobs),
		CreateService: cmp.Or(w.CreateService, next.CreateService),
		CreateClaims:  join(w.CreateClaims, next.CreateClaims),
		Grant:         cmp.Or(w.Grant, next.Grant),
		ScaleJobs:     join(w.ScaleJobs, next.ScaleJobs),
		CreateJobs:    join(w.CreateJobs, next.CreateJobs),
		ResumeJobs:    join(w.ResumeJobs, next.ResumeJobs),
		DeleteJobSet:  w.DeleteJobSet || next.DeleteJobSet,
		Uncreated:     w.Uncreated + next.Uncreated,
		Unresumed:     w.Unresumed + next.Unresumed,
	}
}

// ChangesGroup reports whether workers come or go.
func (w *Writes) ChangesGroup() bool {
	return w.touchesJobs() || len(w.DeletePods)+len(w.ForceJobs) > 0
}

// touchesJobs reports whether Jobs change.
func (w *Writes) touchesJobs() bool {
	return len(w.DeleteJobs)+len(w.ScaleJobs)+len(w.CreateJobs)+len(w.SuspendJobs)+len(w.ResumeJobs) > 0
}

// jobsAsWanted reports whether nothing is left to be done to Jobs, by this plan or a later one.
func (w *Writes) jobsAsWanted() bool {
	return !w.touchesJobs() && w.Uncreated == 0 && w.Unresumed == 0
}

// forgetAids drops what Jobs need beside them. A pass ends where one cannot be created, because of a quota perhaps, and that
// would keep a group from breaking, or the JobSet from failing. The next pass creates them, if Jobs are still to run.
func (w *Writes) forgetAids() { w.CreateService, w.CreateClaims = nil, nil }

// forgetJobs drops every change of Jobs.
func (w *Writes) forgetJobs() {
	w.DeleteJobs, w.ScaleJobs, w.CreateJobs, w.SuspendJobs, w.ResumeJobs, w.TellDeleted = nil, nil, nil, nil, nil, nil
	w.Uncreated, w.Unresumed = 0, 0
}
