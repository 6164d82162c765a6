/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// TestDisruptionsAreNoFailures: what takes a Pod away is charged, and neither a quick failure nor a restart without progress (P71b).
func TestDisruptionsAreNoFailures(t *testing.T) {
	t.Parallel()
	const quickBefore, withoutBefore = 3, 2
	deleted := func(reason string) *Failure {
		return &Failure{Pod: "js-w-0-0", Node: "n1", Deleted: true, Reason: reason}
	}
	for name, tc := range map[string]struct {
		first *Failure
		fails bool
	}{
		"P71b: somebody deletes a Pod":                        {deleted(""), false},
		"P71b: an eviction, as by a drain":                    {deleted("EvictionByEvictionAPI"), false},
		"P71b: a preemption":                                  {deleted(corev1.PodReasonPreemptionByScheduler), false},
		"P71b: a deletion by a taint":                         {deleted("DeletionByTaintManager"), false},
		"P71b: a Pod whose node is gone":                      {deleted("DeletionByPodGC"), false},
		"P71b: a node that shuts down":                        {&Failure{Pod: "js-w-0-0", Node: "n1", Reason: "Terminated"}, false},
		"P71b: a kubelet that makes room":                     {&Failure{Pod: "js-w-0-0", Node: "n1", Reason: "Preempting"}, false},
		"P71: a kubelet that evicts a Pod counts":             {&Failure{Pod: "js-w-0-0", Node: "n1", Reason: "Evicted"}, true},
		"P71: also if it is being deleted since":              {deleted(corev1.PodReasonTerminationByKubelet), true},
		"P71: a program that fails counts":                    {&Failure{Pod: "js-w-0-0", Node: "n1", Container: "worker", ExitCode: 1}, true},
		"P71: so does one that fails as a shutdown is called": {&Failure{Pod: "js-w-0-0", Node: "n1", Container: "worker", ExitCode: 1, Reason: "Terminated"}, true},
		"P71: and one that hangs":                             {&Failure{Pod: "js-w-0-0", Node: "n1", Container: "worker", Hang: protocol.Hang{SilentSeconds: 60}}, true},
		"P71: and a sandbox that is lost":                     {&Failure{Pod: "js-w-0-0", Node: "n1", NoSandbox: true}, true},
		"P71: a cause that was not seen counts":               {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := inPlace(0, 1, "2 1", quick(quickBefore, 50*time.Second), fruitless(9, 4), came(20, withoutBefore, 4), budget(100, 0, 4))
			in.FirstFailure = tc.first
			broken := decideOnce(t, in)
			lifting := inPlace(1, 1, "2 2", fruitless(9, 4), toldSteps(0, 15, 20))
			lifting.JobSet.Status.InPlaceRestarts, lifting.JobSet.Status.Progress = broken.Status.InPlaceRestarts, broken.Status.Progress
			restarted := decideOnce(t, lifting)
			type outcome struct{ charged, quick, without int32 }
			want := outcome{charged: 1}
			if tc.fails {
				want = outcome{1, 1, 1}
			}
			got := outcome{broken.Status.InPlaceRestarts - 4, broken.Status.QuickFailures - quickBefore, restarted.Status.Progress.RestartsWithoutProgress - withoutBefore}
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
	t.Run("P71b: with all Jobs, too", func(t *testing.T) {
		t.Parallel()
		in := inPlace(0, 1, "ok1 2", quick(quickBefore, 50*time.Second), fruitless(9, 4), came(20, withoutBefore, 4), onJobSet(func(js *jobset.JobSet) { js.Status.InPlaceRestarts = 2 }))
		in.FirstFailure = deleted("EvictionByEvictionAPI")
		plan := decideOnce(t, in)
		if plan.Status.RestartsCountTowardsMax != 1 || plan.Status.QuickFailures != quickBefore || ptr.Deref(plan.Status.DeprecatedEpoch, 0) != 1 {
			t.Errorf("charged %d, %d quick failures", plan.Status.RestartsCountTowardsMax, plan.Status.QuickFailures)
		}
	})
}
