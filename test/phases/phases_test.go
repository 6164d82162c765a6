/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package phases

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

var begin = time.Unix(1000, 0)

func at(second int) time.Time { return begin.Add(time.Duration(second) * time.Second) }

func group(second int, deprecated, synced, restarts int32) View {
	js := &jobset.JobSet{}
	js.Status.DeprecatedEpoch, js.Status.SyncedEpoch, js.Status.Restarts = ptr.To(deprecated), ptr.To(synced), restarts
	return View{At: at(second), JobSet: js}
}

func pod(second int, uid types.UID, epoch, node string) View {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}, Spec: corev1.PodSpec{NodeName: node}}
	if epoch != "" {
		p.Annotations = map[string]string{jobset.EpochKey: epoch}
	}
	return View{At: at(second), Pod: p}
}

func TestRestartsAreMeasured(t *testing.T) {
	pods := []*corev1.Pod{pod(0, "c", "", "").Pod, pod(0, "d", "", "").Pod}
	inPlace := func(vs ...View) Restart { return Views(vs).InPlace(at(10), 2, 3, at(19)) }
	for name, tc := range map[string]struct{ got, want Restart }{
		"in place, by break, last report, lift and last start": {
			inPlace(group(1, 1, 2, 0), pod(11, "a", "3", "n"), group(12, 2, 2, 0), pod(15, "b", "3", "n"), group(16, 2, 3, 0)),
			Restart{2 * time.Second, 3 * time.Second, time.Second, 3 * time.Second},
		},
		"a Pod counts once, however often it is seen": {
			inPlace(group(11, 2, 2, 0), pod(12, "a", "3", "n"), pod(13, "a", "3", "n"), pod(14, "b", "3", "n"), group(16, 2, 3, 0)),
			Restart{time.Second, 3 * time.Second, 2 * time.Second, 3 * time.Second},
		},
		"a report that is seen after the lift was there before it": {
			inPlace(group(11, 2, 2, 0), pod(12, "a", "3", "n"), group(14, 2, 3, 0), pod(15, "b", "3", "n")),
			Restart{time.Second, 3 * time.Second, 0, 5 * time.Second},
		},
		"with Recreate, by the restart, the last node and the last start": {
			Views{group(1, 0, 0, 1), pod(11, "a", "", "n"), group(12, 0, 0, 2), pod(13, "c", "", ""), pod(14, "c", "", "n"), pod(17, "d", "", "n")}.Recreate(at(10), pods, 2, at(19)),
			Restart{Break: 2 * time.Second, Back: 5 * time.Second, Run: 2 * time.Second},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("(-want, +got):\n%s", diff)
			}
		})
	}
}

func TestTheMedianIsBetweenTheMiddleTwo(t *testing.T) {
	for _, tc := range []struct{ values, want []time.Duration }{
		{[]time.Duration{5}, []time.Duration{5, 5, 5}},
		{[]time.Duration{9, 1, 4}, []time.Duration{1, 4, 9}},
		{[]time.Duration{8, 2, 4, 6}, []time.Duration{2, 5, 8}},
	} {
		least, median, most := Spread(tc.values)
		if diff := cmp.Diff(tc.want, []time.Duration{least, median, most}); diff != "" {
			t.Errorf("of %v (-want, +got):\n%s", tc.values, diff)
		}
	}
}
