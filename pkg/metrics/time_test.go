/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// TestTimeIsCounted is not parallel: metrics are process-wide.
func TestTimeIsCounted(t *testing.T) {
	timeTotal.Reset()
	ledger := func(running, assembling, starting, paused time.Duration) *jobset.TimeStatus {
		d := func(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }
		return &jobset.TimeStatus{Running: d(running), Assembling: d(assembling), Starting: d(starting), Paused: d(paused)}
	}
	for _, write := range [][2]*jobset.TimeStatus{
		{nil, nil},
		{nil, ledger(0, 0, 0, 0)},
		{ledger(0, 0, 0, 0), ledger(0, 1500*time.Millisecond, 0, 0)},
		{ledger(0, 1500*time.Millisecond, 0, 0), ledger(time.Minute, 1500*time.Millisecond, 5*time.Second, 0)},
		{ledger(time.Minute, time.Hour, 5*time.Second, 0), ledger(time.Second, 0, 0, 0)}, // somebody edited the status
		{ledger(time.Minute, time.Hour, 0, 0), nil},
		{ledger(0, 0, 0, 0), ledger(0, 0, 0, 2*time.Second)},
	} {
		TimeSpent(write[0], write[1])
	}
	want := []series{
		{Labels: map[string]string{"phase": "assembling"}, Value: 1.5},
		{Labels: map[string]string{"phase": "paused"}, Value: 2},
		{Labels: map[string]string{"phase": "running"}, Value: 60},
		{Labels: map[string]string{"phase": "starting"}, Value: 5},
	}
	if diff := cmp.Diff(want, gather(t, "jobset_time_seconds_total")); diff != "" {
		t.Errorf("P141: jobset_time_seconds_total (-want +got):\n%s", diff)
	}
}
