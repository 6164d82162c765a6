/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
)

// TestHistorySize: a status goes to each agent of a group twice a restart (P22), so what it may grow by is bounded (P179).
func TestHistorySize(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	size := func(history ...jobset.RestartRecord) int {
		text, err := json.Marshal(jobset.JobSetStatus{RestartHistory: history})
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	empty, at := size(), metav1.NewMicroTime(now)
	usual := jobset.RestartRecord{Kind: jobset.RestartedInPlace, Epoch: 1000, Reason: "InPlaceRestart", Began: at, Ended: &at, Workers: 5000, Cause: jobset.RestartCause{
		Type: jobset.CauseExited, Pod: "training-workers-0-4711-x7k2p", Node: "gke-cluster-pool-0a1b2c3d-x7k2", Container: "worker", ExitCode: 137, Reason: "OOMKilled"}}
	longest := usual
	name := strings.Repeat("n", 1000)
	longest.Cause = bounded(&jobset.RestartCause{Type: jobset.CauseCannotRestart, Job: name, Pod: name, Node: name, Container: name, ExitCode: 137, Reason: name, SilentSeconds: 1 << 30, Step: 1 << 60, Message: name})
	longest.Reason, longest.Suspect, longest.NotBefore = cleaned(name, longestReason), cleaned(name, longestSuspect), ptr.To(metav1.NewTime(now))
	longest.Starts = startsOf(pass.WarmStarts{Epoch: 1, Warm: 5000, Cold: 5000, WarmSign: time.Hour, ColdSign: time.Hour})
	for _, tc := range []struct {
		name    string
		entries []jobset.RestartRecord
		most    int
	}{
		{"P179: two usual entries of a group", []jobset.RestartRecord{usual, usual}, 1000},
		{"P179: two of the longest", []jobset.RestartRecord{longest, longest}, 5000},
	} {
		got := size(tc.entries...) - empty
		t.Logf("%s: %d bytes", tc.name, got)
		if got > tc.most {
			t.Errorf("%s: %d bytes, want %d at most", tc.name, got, tc.most)
		}
	}
}
