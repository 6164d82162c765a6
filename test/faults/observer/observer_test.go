/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package observer

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

// two is a JobSet of two places, w-0-0 and w-0-1.
func two(deprecated, synced, charged int32) *jobset.JobSet {
	js := &jobset.JobSet{ObjectMeta: metav1.ObjectMeta{Name: "js"}}
	js.Spec.ReplicatedJobs = []jobset.ReplicatedJob{{Name: "w", Replicas: 1}}
	js.Spec.ReplicatedJobs[0].Template.Spec.Completions = ptr.To[int32](2)
	js.Status.DeprecatedEpoch, js.Status.SyncedEpoch, js.Status.InPlaceRestarts = &deprecated, &synced, charged
	return js
}

func worker(index int, epoch string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Labels:      map[string]string{batchv1.JobNameLabel: "js-w-0"},
		Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: fmt.Sprint(index), jobset.EpochKey: epoch},
	}}
}

func TestJobSet(t *testing.T) {
	cases := map[string]struct {
		states []*jobset.JobSet
		gap    bool
		wrong  bool
	}{
		"a first start and a group restart are right":  {states: []*jobset.JobSet{two(0, 0, 0), two(0, 1, 0), two(1, 1, 1), two(1, 2, 1)}},
		"a break that is not charged is wrong":         {states: []*jobset.JobSet{two(0, 1, 0), two(1, 1, 0)}, wrong: true},
		"a break that is charged twice is wrong":       {states: []*jobset.JobSet{two(0, 1, 0), two(1, 1, 2)}, wrong: true},
		"a charge without a break is wrong":            {states: []*jobset.JobSet{two(0, 1, 0), two(0, 1, 1)}, wrong: true},
		"S that falls is wrong":                        {states: []*jobset.JobSet{two(1, 2, 1), two(1, 1, 1)}, wrong: true},
		"S that rises by two is wrong":                 {states: []*jobset.JobSet{two(1, 1, 1), two(2, 3, 2)}, wrong: true},
		"S may rise by two where states were not seen": {states: []*jobset.JobSet{two(1, 1, 1), two(2, 3, 2)}, gap: true},
	}
	for name, tc := range cases {
		t.Run("3, 4: "+name, func(t *testing.T) {
			o := newObserver(tc.states[0])
			o.state = State{Deprecated: *tc.states[0].Status.DeprecatedEpoch, Synced: *tc.states[0].Status.SyncedEpoch, InPlaceRestarts: tc.states[0].Status.InPlaceRestarts}
			for i, state := range tc.states {
				o.seeJobSet(state, uint64(i), tc.gap)
			}
			if got := len(o.Violations()) > 0; got != tc.wrong {
				t.Errorf("got %v", o.Violations())
			}
		})
	}
}

func TestLiftsAreFounded(t *testing.T) {
	o := newObserver(two(0, 0, 0))
	o.seePod(worker(0, "1"), 5)
	o.seePod(worker(0, "1"), 9) // later versions of the same report do not count
	o.seeJobSet(two(0, 1, 0), 7, false)
	if diff := cmp.Diff([]string{"js-w-0-1 at epoch 1"}, o.Unfounded()); diff != "" {
		t.Errorf("one has not reported (-want +got):\n%s", diff)
	}
	o.seePod(worker(1, "nonsense"), 6)
	o.seePod(worker(1, "1"), 8)
	if diff := cmp.Diff([]string{"js-w-0-1 at epoch 1"}, o.Unfounded()); diff != "" {
		t.Errorf("one has reported later (-want +got):\n%s", diff)
	}
	o.reports["js-w-0-1"][1] = 6
	if missing := o.Unfounded(); missing != nil || o.Lifts() != 1 {
		t.Errorf("all have reported before: %v missing, %d lifts", missing, o.Lifts())
	}
}

func TestReportsInLeasesCount(t *testing.T) {
	lease := func(pod string) *coordinationv1.Lease {
		return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
			Name: facts.LeaseName(pod), Annotations: map[string]string{jobset.EpochKey: "1"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod, UID: types.UID(pod)}},
		}}
	}
	o := newObserver(two(0, 0, 0))
	o.seePod(worker(0, "1"), 9) // repeated there
	o.seeLease(lease("js-w-0-0-abcde"), 5)
	o.seeLease(lease("js-w-0-1-fghij"), 6)
	stranger := lease("js-w-0-1-klmno")
	stranger.Name = "leader"
	o.seeLease(stranger, 1)
	o.seeJobSet(two(0, 1, 0), 7, false)
	if missing := o.Unfounded(); missing != nil || o.Lifts() != 1 {
		t.Errorf("P152: all have reported before, in Leases: %v missing, %d lifts", missing, o.Lifts())
	}
	if got := o.InLeases(); got != 1 {
		t.Errorf("%d reports were first seen in a Lease, want 1", got)
	}
}
