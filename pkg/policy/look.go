/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// newView adds up the input of a pass.
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
	v.watched = v.inPlace && !v.finished && !v.suspendWanted() && !disabledByAnnotation(in.JobSet)
	if v.tolerant = Tolerates(in.JobSet, in.Gates); v.tolerant {
		v.tolerance, _ = in.Tolerance.Of(in.JobSet.Spec.FaultTolerance)
		v.Deadlines.Assembly = v.tolerance.Warmup // P80
	}
	if v.watched {
		v.group = v.lookAtGroup()
		v.preparation = v.lookAtPreparation()
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
