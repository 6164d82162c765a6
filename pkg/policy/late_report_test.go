/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"sigs.k8s.io/jobset/pkg/facts"
)

// TestLateReportsAreReadFirst: before anybody acts on a report that is not seen, the Leases are read past the cache.
func TestLateReportsAreReadFirst(t *testing.T) {
	t.Parallel()
	inLeases := func(in *Input) { in.InLeases = true }
	read := func(indexes ...int) func(*Input) {
		return func(in *Input) {
			inLeases(in)
			in.ReportsRead = map[types.UID]bool{}
			for _, i := range indexes {
				in.ReportsRead[in.Pods[in.Jobs[0].UID][i].UID] = true
			}
		}
	}
	type outcome struct {
		Asks, Deletes, Restarts, Charged, Synced int32
	}
	many := "3" + strings.Repeat(" _", 50+1)
	var firstFifty []int
	for i := 1; i <= 50; i++ {
		firstFifty = append(firstFifty, i)
	}
	late, recreate := 11*time.Minute, 21*time.Minute
	for name, tc := range map[string]struct {
		in   Input
		want outcome
	}{
		"P24c: who is late is asked for first":                                    {inPlace(2, 2, "3 _ _", sinceAgo(late, inLeases)), outcome{Asks: 2, Synced: 2}},
		"P24c: and deleted if the read shows nothing":                             {inPlace(2, 2, "3 _ _", sinceAgo(late, read(1, 2))), outcome{Deletes: 2, Synced: 2}},
		"P24c: who has reported is not":                                           {inPlace(2, 2, "3 3 _", sinceAgo(late, read(1, 2))), outcome{Deletes: 1, Synced: 2}},
		"P24c: if all have, the group is lifted":                                  {inPlace(2, 2, "3 3 3", sinceAgo(late, read(1, 2))), outcome{Synced: 3}},
		"P24c: reports on Pods are guarded by their resourceVersion":              {inPlace(2, 2, "3 _ _", sinceAgo(late)), outcome{Deletes: 2, Synced: 2}},
		"P24c: nobody is asked for before the period is over":                     {inPlace(2, 2, "3 _ _", sinceAgo(4*time.Minute, inLeases)), outcome{Synced: 2}},
		"P24c: fifty are read at a time":                                          {inPlace(2, 2, many, sinceAgo(late, inLeases)), outcome{Asks: 50, Synced: 2}},
		"P24c: and no others are deleted":                                         {inPlace(2, 2, many, sinceAgo(late, read(firstFifty...))), outcome{Deletes: 50, Synced: 2}},
		"P24c: before all Jobs are recreated, too":                                {inPlace(2, 2, "3 _ _", sinceAgo(recreate, afterFullRestart, inLeases)), outcome{Asks: 2, Synced: 2}},
		"P24c: while others have time left nobody is, since nothing would follow": {inPlace(2, 2, "3 _ _", sinceAgo(recreate, onPod(0, 1, fresh), inLeases)), outcome{Synced: 2}},
		"P24c: which they are if the read shows nothing":                          {inPlace(2, 2, "3 _ _", sinceAgo(recreate, afterFullRestart, read(1, 2))), outcome{Restarts: 1, Charged: 1, Synced: 2}},
		"P24c: and not while others are still to be read":                         {inPlace(2, 2, "3 3 _", sinceAgo(recreate, afterFullRestart, read(1))), outcome{Synced: 2}},
		"P24c: of an index without a Pod there is nothing to be read":             {inPlace(2, 2, "3 .", sinceAgo(recreate, afterFullRestart, inLeases)), outcome{Restarts: 1, Charged: 1, Synced: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := tc.in.JobSet.Status.Restarts
			plan := decideOnce(t, tc.in)
			got := outcome{Asks: int32(len(plan.ReadReports)), Restarts: plan.Status.Restarts - before, Charged: plan.Status.RestartsCountTowardsMax, Synced: *plan.Status.SyncedEpoch}
			got.Deletes = int32(len(plan.Of(DeletePod)))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			isReporter := func(pod *facts.Member) bool { return pod.Reported.Epoch == 3 }
			for _, pod := range plan.ReadReports {
				if isReporter(pod) {
					t.Errorf("Pod %s, which has reported, is to be read", pod.Name)
				}
			}
		})
	}
}
