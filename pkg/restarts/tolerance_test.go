/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package restarts

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestTolerance(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		change func(*jobset.JobSet)
		want   []string
	}{
		"P89: all is well": {func(*jobset.JobSet) {}, nil},
		"P89: the gate is off": {func(js *jobset.JobSet) { js.Status.FaultTolerance = nil },
			[]string{"spec.faultTolerance is set and the controller has not acted on it: feature gate FaultTolerance is off, or it has not reconciled the JobSet yet"}},
		"P89: it is unhealthy": {func(js *jobset.JobSet) {
			js.Status.Conditions = append(js.Status.Conditions, builders.Condition(jobset.JobSetUnhealthy, true, "PodsFailed", "1 of 2 Pods", at))
		}, []string{"unhealthy since 2026-03-14T12:00:00Z: 1 of 2 Pods; if they are not back it is reset at 2026-03-14T12:01:00Z, " +
			"unless the manager's configuration has another default than 1m0s"}},
		"P89: it is unhealthy, and says itself how long": {func(js *jobset.JobSet) {
			js.Spec.FaultTolerance.FailureGracePeriodSeconds = ptr.To[int32](600)
			js.Status.Conditions = append(js.Status.Conditions, builders.Condition(jobset.JobSetUnhealthy, true, "PodsFailed", "1 of 2 Pods", at))
		}, []string{"unhealthy since 2026-03-14T12:00:00Z: 1 of 2 Pods; if they are not back it is reset at 2026-03-14T12:10:00Z"}},
		"P89: Jobs of a reset go": {func(js *jobset.JobSet) {
			js.Status.FaultTolerance.Reset = &jobset.ResetStatus{StartTime: metav1.NewTime(at)}
		}, []string{"reset since 2026-03-14T12:00:00Z: no Job is created before all of the last attempt are gone; " +
			"a Pod that should have stopped 10m0s ago is deleted by force, if the manager's configuration lets it"}},
		"P89: a reset pauses": {func(js *jobset.JobSet) {
			js.Spec.FaultTolerance.RetryPauseSeconds = ptr.To[int32](120)
			js.Status.FaultTolerance.Reset = &jobset.ResetStatus{StartTime: metav1.NewTime(at), JobsGoneTime: ptr.To(metav1.NewTime(at.Add(time.Minute)))}
		}, []string{"reset since 2026-03-14T12:00:00Z: all Jobs are gone since 2026-03-14T12:01:00Z, and are created again at 2026-03-14T12:03:00Z"}},
		"P89 P84: a suspended JobSet waits for no pause": {func(js *jobset.JobSet) {
			js.Spec.Suspend = ptr.To(true)
			js.Status.FaultTolerance.Reset = &jobset.ResetStatus{StartTime: metav1.NewTime(at)}
		}, nil},
		"P89: Pods stay on sick nodes": {func(js *jobset.JobSet) {
			js.Status.Conditions = append(js.Status.Conditions, builders.Condition(jobset.JobSetOnSickNodes, true, "MoveRefused", "1 Pods run on 1 nodes", at))
		}, []string{"on sick nodes since 2026-03-14T12:00:00Z, and not moved: 1 Pods run on 1 nodes"}},
		"P89: it completed, and its Jobs will be deleted": {func(js *jobset.JobSet) {
			js.Spec.FaultTolerance.SuccessTTLSeconds = ptr.To[int32](60)
			js.Status.Conditions = append(js.Status.Conditions, builders.Condition(jobset.JobSetCompleted, true, "R", "m", at))
		}, []string{"its Jobs are deleted at 2026-03-14T12:01:00Z, and it stays"}},
		"P89: it failed, and what runs is kept": {func(js *jobset.JobSet) {
			js.Status.FaultTolerance.PodsKeptUntil = ptr.To(metav1.NewTime(at))
			js.Status.Conditions = append(js.Status.Conditions, builders.Condition(jobset.JobSetFailed, true, "R", "m", at),
				builders.Condition(jobset.JobSetResourcesDeployed, true, "R", "m", at))
		}, []string{"the Jobs that still run are kept until 2026-03-14T12:00:00Z, so that their Pods can be inspected",
			"Jobs or Pods still use resources: condition ResourcesDeployed is True"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("js", "ns").Obj()
			js.Spec.FaultTolerance, js.Status.FaultTolerance = &jobset.FaultTolerance{}, &jobset.FaultToleranceStatus{MaxRestarts: 7}
			tc.change(js)
			r := Of(Input{JobSet: js, Now: at})
			if diff := cmp.Diff(Notes(tc.want), r.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if js.Status.FaultTolerance != nil && r.Budget.MaxRestarts != 7 {
				t.Errorf("maxRestarts %d, want 7", r.Budget.MaxRestarts)
			}
		})
	}
}
