/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestCountsOfManyJobsWait(t *testing.T) {
	t.Parallel()
	s, js := seen(t, builders.MakeJobSet("js", "ns"))
	counts := func(n int32) policy.Plan { return policy.Plan{Status: statusOf(js, readyJobs(n))} }
	later := func(d time.Duration) { s.Clock.SetTime(s.Clock.Now().Add(d)) }

	s.memory.forJobSet(js).pace.jobs.Store(1000)
	report(t, s, js, counts(1), ctrl.Result{})
	js = stored(t, s, js)
	s.Record.Expect(t, "update status JobSet js")

	later(50 * time.Millisecond) // the pass that the write led to
	report(t, s, js, counts(2), ctrl.Result{RequeueAfter: 450 * time.Millisecond})
	s.Record.Expect(t) // C352: otherwise each write would lead to a pass and each pass to a write

	ended := counts(2) // a condition never waits
	ended.Status.Conditions = append(ended.Status.Conditions, metav1.Condition{Type: string(jobset.JobSetCompleted), Status: metav1.ConditionTrue})
	report(t, s, js, ended, ctrl.Result{})
	js = stored(t, s, js)
	s.Record.Expect(t, "update status JobSet js")

	later(500 * time.Millisecond)
	report(t, s, js, counts(3), ctrl.Result{})
	s.Record.Expect(t, "update status JobSet js")
}
