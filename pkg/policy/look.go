/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy/internal/jobs"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/tolerance"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// newView adds up the input of a pass.
func newView(in pass.Input) (*view.View, error) {
	observed, err := view.Observe(in.JobSet, in.Jobs, in.Gates)
	if err != nil {
		return nil, err
	}
	v := &view.View{Input: in, Observed: observed}
	v.Jobs = withoutForeign(in.Jobs, observed.Foreign)
	v.End, v.Finished = pass.FinishedBy(in.JobSet)
	v.Deprecated, v.Synced = pass.EpochsOf(in.JobSet)
	v.InPlace = in.Gates.InPlaceRestart && v.RestartStrategy() == jobset.InPlaceRestart
	v.Watched = v.InPlace && !v.Finished && !v.SuspendWanted() && !pass.DisabledByAnnotation(in.JobSet)
	if v.Tolerant = pass.Tolerates(in.JobSet, in.Gates); v.Tolerant {
		v.Settings, _ = in.Tolerance.Of(in.JobSet.Spec.FaultTolerance)
		v.Deadlines.Assembly = v.Settings.Warmup // P80
	}
	if v.Watched {
		v.Group = v.LookAtGroup()
		v.Preparation = v.LookAtPreparation()
	}
	if !v.Finished {
		v.Back = jobs.CountBack(v)
		v.Turn = jobs.FindTurn(v)
	}
	if len(in.SickNodes.Marked) > 0 {
		v.Move = tolerance.FindMove(v)
	}
	return v, nil
}

// withoutForeign returns the Jobs that the JobSet created.
func withoutForeign(jobs, foreign []*batchv1.Job) []*batchv1.Job {
	if len(foreign) == 0 {
		return jobs
	}
	isForeign := make(map[*batchv1.Job]bool, len(foreign)) // whoever creates one may create thousands
	for _, job := range foreign {
		isForeign[job] = true
	}
	return slices.DeleteFunc(slices.Clone(jobs), func(job *batchv1.Job) bool { return isForeign[job] })
}
