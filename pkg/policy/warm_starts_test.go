/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestALiftTellsHowTheWorkersBeforeHadStarted(t *testing.T) {
	t.Parallel()
	tells := func(i int, value string) func(*Input) {
		return onPod(0, i, func(pod *corev1.Pod) { pod.Annotations[jobset.ProgressKey] = value })
	}
	warm := onJobSet(func(js *jobset.JobSet) {
		js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode, WarmStart: &jobset.WarmStartPolicy{}}
	})
	lifts := func(starts WarmStarts, text string) func(*summary) {
		return func(w *summary) {
			lifted(2)(w)
			w.Status.Conditions = []metav1.Condition{builders.Condition(jobset.JobSetRestarting, false, "WorkersSynced", "all 2 workers have reached epoch 2", now)}
			w.Events = []Event{{Type: "Normal", Reason: "InPlaceRestartCompleted", Message: "2 workers restarted in place: epoch 2, 1.0 seconds" + text}}
			w.Outcomes, w.GroupRestart, w.WarmStarts = []Outcome{GroupLifted}, time.Second, starts
		}
	}
	const warmly, coldly = `{"epoch":1,"startMs":400,"warm":{"warm":true}}`, `{"epoch":1,"startMs":3900,"warm":{}}`
	for name, tc := range map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P165: warm and cold": {
			inPlace(1, 1, "2 2", brokeAgo(time.Second), warm, tells(0, warmly), tells(1, coldly)),
			lifts(WarmStarts{Epoch: 1, Warm: 1, Cold: 1, WarmSign: 400 * time.Millisecond, ColdSign: 3900 * time.Millisecond}, "; in epoch 1, 1 had started warm (first sign after 0.4 s) and 1 cold (first sign after 3.9 s)"),
		},
		"P165: without signs only how many": {
			inPlace(1, 1, "2 2", brokeAgo(time.Second), warm, tells(0, `{"epoch":1,"warm":{"warm":true}}`), tells(1, `{"epoch":1,"warm":{"warm":true}}`)),
			lifts(WarmStarts{Epoch: 1, Warm: 2}, "; in epoch 1, 2 had started warm and 0 cold"),
		},
		"P165: what is of another epoch, or no report, counts for nothing": {
			inPlace(1, 1, "2 2", brokeAgo(time.Second), warm, tells(0, `{"epoch":9,"warm":{"warm":true}}`), tells(1, `{"epoch":1,"warm":{"warm":"yes"}}`)),
			lifts(WarmStarts{}, ""),
		},
		"P165: without warmStart nobody reads it": {
			inPlace(1, 1, "2 2", brokeAgo(time.Second), tells(0, warmly), tells(1, coldly)), lifts(WarmStarts{}, ""),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}
