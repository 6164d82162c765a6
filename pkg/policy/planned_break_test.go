/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// stopsAsPlanned: workers may save their state for so long.
func stopsAsPlanned(seconds int32) func(*Input) {
	return func(in *Input) {
		in.JobSet.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode, PlannedStopGracePeriodSeconds: &seconds}
	}
}

// brokeAsPlanned: the last break was planned.
func brokeAsPlanned(in *Input) { in.JobSet.Status.PlannedBreak = true }

// resizedTo: the Jobs are to have another size.
func resizedTo(size int32) func(*Input) {
	return func(in *Input) {
		in.Gates.ElasticJobSet = true
		spec := &in.JobSet.Spec.ReplicatedJobs[0].Template.Spec
		spec.Parallelism, spec.Completions = &size, &size
	}
}

// TestPlannedBreaks: who wants the group to be another one lets its workers save their state; who failed does not (P142).
func TestPlannedBreaks(t *testing.T) {
	t.Parallel()
	const second = "node-of-js-w-0-1"
	saves := stopsAsPlanned(60)
	ran := func(names ...string) func(*Input) {
		return func(in *Input) {
			for _, name := range names {
				in.JobSet.Status.ReplicatedJobsStatus = append(in.JobSet.Status.ReplicatedJobsStatus, jobset.ReplicatedJobStatus{Name: name, SyncedWorkers: 1})
			}
		}
	}
	next := func(in *Input) {
		in.JobSet.Spec.ReplicatedJobs = append(in.JobSet.Spec.ReplicatedJobs, builders.MakeReplicatedJob("x").Workers(1).Obj())
	}
	for name, tc := range map[string]struct {
		in   Input
		want bool
	}{
		"P142: a group that shrinks":                              {inPlace(0, 1, "1 1", saves, resizedTo(1)), true},
		"P142: and one that grows":                                {inPlace(0, 1, "1 1", saves, resizedTo(3)), true},
		"P142: Jobs that join":                                    {inPlace(0, 1, "1 1", saves, ran("w"), next), true},
		"P142: Jobs that join while another size is wanted":       {inPlace(0, 1, "1 1", saves, ran("w"), next, resizedTo(3)), true},
		"P142: a move in place":                                   {inPlace(0, 1, "1 1", gpus, marked(second), saves), true},
		"P142: a move by a reset":                                 {inPlace(0, 1, "1 1", gpus, marked(second), saves, onJob(0, withoutAffinity)), true},
		"P142: a Job of the epoch that runs was deleted":          {inPlace(0, 1, "1 1", saves, ran("w", "x"), next), false},
		"P142: as well while another size is wanted":              {inPlace(0, 1, "1 1", saves, ran("w", "x"), next, resizedTo(3)), false},
		"P142: a worker failed":                                   {inPlace(0, 1, "1 2", saves), false},
		"P142: also after a break that was planned":               {inPlace(1, 2, "2 3", saves, brokeAsPlanned), false},
		"P142: a worker failed before the group could be resized": {inPlace(0, 1, "1 2", saves, resizedTo(3)), false},
		"P142: or its Pod is gone":                                {inPlace(0, 1, "1 .", saves, resizedTo(3)), false},
		"P142: a worker failed before the Pods could move":        {inPlace(0, 1, "2 1", gpus, marked(second), saves), false},
		"P142: the JobSet is suspended":                           {inPlace(0, 1, "1 1", saves, suspend), false},
		"P142: and resized as well":                               {inPlace(0, 1, "1 1", saves, suspend, resizedTo(3)), false},
		"P142: where no time is given, nothing is written":        {inPlace(0, 1, "1 1", supervised, resizedTo(3)), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := decideOnce(t, tc.in).Status
			if status.PlannedBreak != tc.want || *status.DeprecatedEpoch != *status.SyncedEpoch {
				t.Errorf("plannedBreak %t, D %d, S %d, want %t with D := S", status.PlannedBreak, *status.DeprecatedEpoch, *status.SyncedEpoch, tc.want)
			}
		})
	}
}

// TestPlannedBreaksAreAnnounced: an event says what is to change and how long workers have, another one that it has (P142).
func TestPlannedBreaksAreAnnounced(t *testing.T) {
	t.Parallel()
	const second = "node-of-js-w-0-1"
	saves := stopsAsPlanned(60)
	joins := func(in *Input) {
		in.JobSet.Status.ReplicatedJobsStatus = []jobset.ReplicatedJobStatus{{Name: "w", SyncedWorkers: 1}}
		in.JobSet.Spec.ReplicatedJobs = append(in.JobSet.Spec.ReplicatedJobs, builders.MakeReplicatedJob("x").Workers(1).Obj())
	}
	brokeAgo := func(ago time.Duration) func(*Input) {
		return func(in *Input) {
			in.JobSet.Status.PlannedBreak = true
			in.JobSet.Status.Time = &jobset.TimeStatus{At: metav1.NewMicroTime(now.Add(-ago))}
		}
	}
	for name, tc := range map[string]struct {
		in   Input
		want []string
	}{
		"P142: another size": {inPlace(0, 1, "1 1", saves, resizedTo(3)),
			[]string{"Normal InPlaceRestartPlanned ReplicatedJob w from 2 to 3 Pods; planned: workers have 60 s to save their state; all workers of epoch 1 restart in place"}},
		"P142: Jobs that join, and another size": {inPlace(0, 1, "1 1", saves, joins, resizedTo(3)),
			[]string{"Normal InPlaceRestartPlanned ReplicatedJob w from 2 to 3 Pods, ReplicatedJob x joins; planned: workers have 60 s to save their state; all workers of epoch 1 restart in place"}},
		"P142: of many changes five are named": {inPlace(0, 1, "1 1", saves, joins, func(in *Input) {
			for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
				in.JobSet.Spec.ReplicatedJobs = append(in.JobSet.Spec.ReplicatedJobs, builders.MakeReplicatedJob(name).Replicas(2).Workers(1).Obj())
			}
		}), []string{"Normal InPlaceRestartPlanned ReplicatedJob x joins, ReplicatedJob a joins, ReplicatedJob b joins, ReplicatedJob c joins, ReplicatedJob d joins and 2 more; planned: workers have 60 s to save their state; all workers of epoch 1 restart in place"}},
		"P142: a move has an event of its own, which says so too": {inPlace(0, 1, "1 1", gpus, marked(second), saves),
			[]string{"Warning InPlaceRestartStarted 1 Pods run on 1 nodes with a label of effect NoExecute: js-w-0-1 on node-of-js-w-0-1 (autopilot.ibm.com/gpuhealth=EVICT), and move, which does not count towards maxRestarts; planned: workers have 60 s to save their state; all workers of epoch 1 restart in place"}},
		"P142: where no time is given, nothing is announced":      {inPlace(0, 1, "1 1", supervised, resizedTo(3)), nil},
		"P142: the lift after it says how long it took":           {inPlace(1, 1, "2 2", saves, brokeAgo(2500*time.Millisecond)), []string{"Normal InPlaceRestartCompleted 2 workers restarted in place: epoch 2, 2.5 seconds"}},
		"P142: a lift after something else that is told does not": {inPlace(1, 1, "2 2", saves), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told []string
			for _, e := range decideOnce(t, tc.in).Events {
				told = append(told, fmt.Sprintf("%s %s %s", e.Type, e.Reason, e.Message))
			}
			if diff := cmp.Diff(tc.want, told); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// TestThePlannedGraceIsNotLate: the clock of the assembly starts when the workers have had their time (P142).
func TestThePlannedGraceIsNotLate(t *testing.T) {
	t.Parallel()
	saves := stopsAsPlanned(300)
	ago := func(ago time.Duration, pods string, changes ...func(*Input)) Input {
		return inPlace(1, 1, pods, sinceAgo(ago), saves, func(in *Input) {
			for _, change := range changes {
				change(in)
			}
		})
	}
	for name, tc := range map[string]struct {
		in      Input
		deleted int
		soon    time.Duration
	}{
		"P142: one that still saves has the period after that": {ago(11*time.Minute, "2 1", brokeAsPlanned), 0, 4 * time.Minute},
		"P142: so has one that comes in the place of another":  {ago(11*time.Minute, "2 _", brokeAsPlanned), 0, 4 * time.Minute},
		"P142: and no longer": {ago(15*time.Minute, "2 1", brokeAsPlanned), 1, 10 * time.Minute},
		"P142, P24a: after a failure it has the ordinary grace": {ago(11*time.Minute, "2 1"), 1, 0},
		"P142: another leader adds nothing": {ago(15*time.Minute, "2 1", brokeAsPlanned, func(in *Input) {
			in.Clock.LedSince = now.Add(-10 * time.Minute)
		}), 1, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, tc.in)
			if len(plan.Of(DeletePod)) != tc.deleted || tc.soon > 0 && plan.RequeueAfter != tc.soon {
				t.Errorf("%d deletions, and a look in %s, want %d and %s", len(plan.Of(DeletePod)), plan.RequeueAfter, tc.deleted, tc.soon)
			}
		})
	}
	t.Run("P80, P142: so does its period with spec.faultTolerance", func(t *testing.T) {
		t.Parallel()
		in := inPlace(1, 1, "2 1", sinceAgo(6*time.Minute), inPlaceTolerant(60), saves, brokeAsPlanned)
		if plan := decideOnce(t, in); len(plan.Of(DeletePod)) != 1 {
			t.Errorf("%d deletions after the grace and the period, want 1", len(plan.Of(DeletePod)))
		}
		in.JobSet.Status.AssemblingSince = ptr.To(metav1Time(now.Add(-5 * time.Minute)))
		if plan := decideOnce(t, in); len(plan.Of(DeletePod)) != 0 {
			t.Errorf("%d deletions before the period is over, want 0", len(plan.Of(DeletePod)))
		}
	})
}
