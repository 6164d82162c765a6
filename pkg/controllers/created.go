/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/jobset/pkg/policy"
)

// untilSeen waits, for as long as the cache may lag, until it shows the Jobs
// that a plan created. The next pass would request those it does not see once
// more. That does no harm, so whether the wait was long enough does not matter.
func (r *JobSetReconciler) untilSeen(ctx context.Context, plan *policy.Plan) {
	unseen := slices.Concat(plan.CreateJobs...)
	if len(unseen) == 0 || r.cacheLag == 0 {
		return
	}
	_ = wait.PollUntilContextTimeout(ctx, 5*time.Millisecond, r.cacheLag, true, func(context.Context) (bool, error) {
		for len(unseen) > 0 {
			_, seen, err := r.jobs.store.GetByKey(client.ObjectKeyFromObject(unseen[0]).String())
			if err != nil || !seen {
				return false, err
			}
			unseen = unseen[1:]
		}
		return true, nil
	})
}
