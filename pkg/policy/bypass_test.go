/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"math"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func annotated(in *Input) {
	in.JobSet.Annotations = map[string]string{jobset.DisableInPlaceRestartKey: ""}
}

// offByAnnotation: the agents were told.
func offByAnnotation(in *Input) {
	in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, builders.Condition(jobset.JobSetInPlaceRestartDisabled, true,
		constants.DisabledByAnnotationReason, constants.DisabledByAnnotationMessage, past))
}

// disabled by the annotation, of which the agents were told.
func disabled(in *Input) {
	annotated(in)
	offByAnnotation(in)
}

func bypassEndedAgo(ago time.Duration) func(*Input) {
	return onJobSet(func(js *jobset.JobSet) {
		js.Status.Conditions = append(js.Status.Conditions, builders.Condition(jobset.JobSetInPlaceRestartDisabled, false,
			constants.AnnotationRemovedReason, constants.AnnotationRemovedMessage, now.Add(-ago)))
	})
}

// spends: the end of a bypass spends an epoch.
func spends(w *summary) {
	next := ptr.Deref(w.Status.SyncedEpoch, 0) + 1
	w.Status.DeprecatedEpoch, w.Status.SyncedEpoch = &next, &next
}

// TestBypass: the annotation is obeyed by the condition alone, and what it let run comes back in an epoch that nobody has reported.
func TestBypass(t *testing.T) {
	t.Parallel()
	says := func(status bool, reason, message string) func(*summary) {
		return func(w *summary) {
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetInPlaceRestartDisabled, status, reason, message, now)}
		}
	}
	off := says(true, constants.DisabledByAnnotationReason, constants.DisabledByAnnotationMessage)
	on := func(w *summary) {
		says(false, constants.AnnotationRemovedReason, constants.AnnotationRemovedMessage)(w)
		spends(w)
	}
	stays := func(reason, message string) func(*summary) {
		return func(w *summary) {
			off(w)
			c := &w.Status.Conditions[0]
			c.Reason, c.Message, c.LastTransitionTime = reason, message, metav1.NewTime(past)
		}
	}
	ranOut := func(in *Input) { in.JobSet.Status.Conditions[0].Status = metav1.ConditionFalse }
	failing := onJob(0, failed)
	ended := func(in *Input) {
		in.JobSet.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetCompleted, true, "AllJobsCompleted", "m", past)}
		in.Jobs = nil
	}
	restarting := func(in *Input) { restartingInPlace(in); offByAnnotation(in) }
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P34b: the annotation becomes the condition":   {inPlace(0, 1, "1 1", annotated), off},
		"P34b: before a lift":                          {inPlace(1, 1, "2 2", annotated), off},
		"P34b: before a break":                         {inPlace(0, 1, "1 2", annotated), off},
		"P34b: before a failed Job":                    {inPlace(0, 1, "1 1", annotated, failing), off},
		"P34b: before missing Jobs, and before D := S": {inPlace(0, 1, "1|1", annotated, func(in *Input) { in.Jobs = in.Jobs[:1] }), off},
		"P34b: once":                                          {inPlace(0, 1, "1 2", disabled), nil},
		"P34b: not for another strategy":                      {inPlace(0, 1, "1 1", annotated, recreate), nil},
		"P34b: not for a JobSet that has ended":               {inPlace(0, 1, "1 1", annotated, ended), func(*summary) {}},
		"P34b: with the gate off, the gate is the reason":     {inPlace(0, 1, "1 1", disabled, gateOff), stays(constants.InPlaceRestartDisabledReason, constants.InPlaceRestartDisabledMessage)},
		"P34b: the gate is back, and the annotation is there": {inPlace(0, 1, "1 1", annotated, offAlready), stays(constants.DisabledByAnnotationReason, constants.DisabledByAnnotationMessage)},

		"P34b: its end spends an epoch: reports from before count for nothing": {inPlace(1, 1, "2 2", offByAnnotation), on},
		"P34b: also at the first start":                                        {inPlace(0, 0, "1 1", offByAnnotation), on},
		"P34b: a group that runs restarts, uncharged":                          {inPlace(0, 1, "1 2", offByAnnotation), on},
		"P34b: before a failed Job, too":                                       {inPlace(0, 1, "1 1", offByAnnotation, failing), on},
		"P34b: nobody who runs since a planned break has its time":             {inPlace(1, 1, "1 1", offByAnnotation, onJobSet(func(js *jobset.JobSet) { js.Status.PlannedBreak = true })), func(w *summary) { on(w); w.Status.PlannedBreak = false }},
		"P34b: there is no epoch after the last": {inPlace(math.MaxInt32-1, math.MaxInt32, "1 1", offByAnnotation), func(w *summary) {
			on(w)
			w.Status.DeprecatedEpoch, w.Status.SyncedEpoch = ptr.To[int32](math.MaxInt32), ptr.To[int32](math.MaxInt32)
		}},
		"P34b: afterwards only the next epoch counts": {inPlace(2, 2, "2 3", offByAnnotation, ranOut), assembling},
		"P34b: and lifts": {inPlace(2, 2, "3 3", offByAnnotation, ranOut), lifted(3)},
		"P34b: a restart that was announced goes on": {inPlace(1, 1, "2 2", restarting), func(w *summary) {
			was := w.Status.Conditions[0]
			on(w)
			w.Status.Conditions = append([]metav1.Condition{was}, w.Status.Conditions...)
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestGraceAfterABypass: workers that a bypass let run may save their state before they report (P24a, P34b).
func TestGraceAfterABypass(t *testing.T) {
	t.Parallel()
	ended := func(ago time.Duration) func(*Input) {
		return func(in *Input) {
			in.JobSet.Status.Conditions = append(in.JobSet.Status.Conditions, builders.Condition(jobset.JobSetInPlaceRestartDisabled, false, "AnnotationRemoved", "m", now.Add(-ago)))
		}
	}
	born := func(ago time.Duration) func(*Input) {
		return onPod(0, 1, func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(now.Add(-ago)) })
	}
	const late = 11 * time.Minute
	for name, tc := range map[string]struct {
		in    Input
		grace time.Duration
		want  int
	}{
		"P24a, P34b: it ran in the epoch before the bypass": {inPlace(3, 3, "4 2", ended(late)), time.Hour, 0},
		"P24a, P34b: it reported before the bypass":         {inPlace(3, 3, "4 3", ended(late)), time.Hour, 0},
		"P24a, P34b: it has run in no epoch":                {inPlace(1, 1, "2 _", ended(late), born(time.Hour)), time.Hour, 0},
		"P24a, P34b: it came after the bypass":              {inPlace(1, 1, "2 _", ended(time.Hour), born(late)), time.Hour, 1},
		"P24a, P34b: there was no bypass":                   {inPlace(1, 1, "2 _", born(time.Hour)), time.Hour, 1},
		"P24a, P34b: the grace is over":                     {inPlace(3, 3, "4 2", ended(late)), time.Second, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := tc.in
			stopsFor(tc.grace)(&in)
			in.JobSet.Spec.FailurePolicy.InPlaceRestart.Mode = jobset.ProcessMode
			sinceAgo(late)(&in)
			if got := len(decideOnce(t, in).Of(DeletePod)); got != tc.want {
				t.Errorf("%d deletions of Pods, want %d", got, tc.want)
			}
		})
	}
}
