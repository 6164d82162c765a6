/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/tolerance"
)

// view is what every step looks at: the input and what it adds up to. No step changes it.
type view struct {
	Input
	observed Observed
	// steps is what the steps did so far, if Trace asks for that.
	steps []Step
	// end is the condition that ended the JobSet, if it is finished.
	end      metav1.Condition
	finished bool
	// turn are the ReplicatedJobs whose Jobs may be created or resumed now.
	turn []*jobset.ReplicatedJob

	// inPlace: the group protocol applies. watched: the group may be lifted or broken now (P20).
	inPlace, watched bool
	// deprecated and synced are D and S.
	deprecated, synced int32
	// tolerant: spec.faultTolerance holds, and tolerance is what it says (P80 to P89).
	tolerant  bool
	tolerance tolerance.Settings
	// group is empty unless it is watched.
	group group
	// back is how many Jobs of each ReplicatedJob have all workers back; nil if others wait for readiness (P126).
	back map[string]int64
	// move are the Pods that have to leave their nodes.
	move move
}

func newView(in Input) (*view, error) {
	observed, err := Observe(in.JobSet, in.Jobs, in.Gates)
	if err != nil {
		return nil, err
	}
	v := &view{Input: in, observed: observed}
	v.Jobs = withoutForeign(in.Jobs, observed.Foreign)
	v.end, v.finished = finishedBy(in.JobSet)
	v.deprecated, v.synced = epochsOf(in.JobSet)
	v.inPlace = in.Gates.InPlaceRestart && v.restartStrategy() == jobset.InPlaceRestart
	v.watched = v.inPlace && !v.finished && !v.suspendWanted() && BypassOf(in.JobSet) != BypassedByAnnotation
	if v.tolerant = Tolerates(in.JobSet, in.Gates); v.tolerant {
		v.tolerance, _ = in.Tolerance.Of(in.JobSet.Spec.FaultTolerance)
		v.Progress.Assembly = v.tolerance.Warmup // P80
	}
	if v.watched {
		v.group = v.lookAtGroup()
	}
	if !v.finished {
		v.back = v.jobsBack()
		v.turn = v.findTurn()
	}
	if len(in.SickNodes.Marked) > 0 {
		v.move = v.findMove()
	}
	return v, nil
}

// epochsOf reads D and S.
func epochsOf(js *jobset.JobSet) (deprecated, synced int32) {
	return ptr.Deref(js.Status.DeprecatedEpoch, 0), ptr.Deref(js.Status.SyncedEpoch, 0)
}

// running reports whether the group runs, D < S; else it assembles.
func (v *view) running() bool { return v.deprecated < v.synced }

func (v *view) suspendWanted() bool { return ptr.Deref(v.JobSet.Spec.Suspend, false) }

func (v *view) restartStrategy() jobset.JobSetRestartStrategy {
	if v.JobSet.Spec.FailurePolicy == nil {
		return jobset.Recreate
	}
	return v.JobSet.Spec.FailurePolicy.RestartStrategy
}

func (v *view) anyTerminating() bool { return slices.ContainsFunc(v.Jobs, isTerminating) }

// withoutForeign returns the Jobs that the JobSet created.
func withoutForeign(jobs, foreign []*batchv1.Job) []*batchv1.Job {
	if len(foreign) == 0 {
		return jobs
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(job *batchv1.Job) bool { return slices.Contains(foreign, job) })
}

func isTerminating(job *batchv1.Job) bool { return job.DeletionTimestamp != nil }

func withoutTerminating(jobs ...*batchv1.Job) []*batchv1.Job {
	return slices.DeleteFunc(slices.Clone(jobs), isTerminating)
}

// until returns how long it takes from now to a moment.
func (v *view) until(moment time.Time) time.Duration { return moment.Sub(v.Now) }
