/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

// TestActiveUntilNothingIsDeployed: Kueue takes back the quota of a suspended JobSet when no Job is active.
func TestActiveUntilNothingIsDeployed(t *testing.T) {
	t.Parallel()
	asleep := onJob(0, func(job *batchv1.Job) { job.Spec.Suspend, job.Status.StartTime = ptr.To(true), nil })
	noPods := func(in *Input) { in.Pods = map[types.UID][]*facts.Member{} }
	stray := func(in *Input) { in.Strays, in.Pods = in.Pods[in.Jobs[0].UID][:1], nil }
	terminating := onJob(0, func(job *batchv1.Job) { job.Status.Terminating = ptr.To[int32](1) })
	intolerant := func(in *Input) { in.JobSet.Spec.FaultTolerance, in.Pods = nil, nil }
	for name, tc := range map[string]struct {
		in     Input
		active int32
	}{
		"P129a: suspended, a Pod that does not go":                    {pods(time.Hour, "R", asleep, suspend), 1},
		"P129a: suspended, a Pod that the Job says is terminating":    {pods(time.Hour, "R", asleep, suspend, noPods, terminating), 1},
		"P129a: suspended, a Pod whose Job is gone":                   {pods(time.Hour, "R", asleep, suspend, stray), 1},
		"P129a: suspended, nothing is left, and that is confirmed":    {pods(time.Hour, "R", asleep, suspend, noPods, read), 0},
		"P129a: suspended, all Pods have ended":                       {pods(time.Hour, "F", asleep, suspend, read), 0},
		"P129a: failed, a Pod is kept for debugging":                  {pods(time.Hour, "R", ends(jobset.JobSetFailed, 0)), 1},
		"P129a: a JobSet that runs has the counts of its Jobs":        {pods(time.Hour, "R"), 0},
		"P129a: without faultTolerance it has the counts of its Jobs": {pods(time.Hour, "R", asleep, suspend, intolerant), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := decideOnce(t, tc.in).Status.ReplicatedJobsStatus
			if len(status) != 1 || status[0].Active != tc.active {
				t.Errorf("replicatedJobsStatus is %v, want active %d", status, tc.active)
			}
		})
	}
}
