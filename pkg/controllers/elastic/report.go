/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/policy"
)

// verdicts are what a round says that statuses lack.
type verdicts struct {
	all map[types.NamespacedName]*policy.Verdict
	// owed are the JobSets of which a size changes once the status has it.
	owed map[types.NamespacedName]bool
}

// say adds a verdict, unless the status says the same. It reports whether sizes may change now.
func (v *verdicts) say(js *jobset.JobSet, decisions []elastic.Decision, resizes bool) (allowed bool) {
	verdict, key := policy.NewVerdict(js, decisions), client.ObjectKeyFromObject(js)
	allowed = verdict.AllowsResize(js)
	if !allowed || !verdict.IsIn(js) {
		v.all[key], v.owed[key] = verdict, resizes && !allowed
	}
	return allowed
}

// post posts what a round says. A status that sizes wait for starts the next round, see jobSetMatters.
func (a *autoscaler) post(says *verdicts) {
	a.owed.Store(&says.owed) // first: the write may come at once
	a.board.Post(says.all)
}

// endWaiting ends the condition of JobSets that are not planned any more, because they have ended or are suspended.
func (a *autoscaler) endWaiting(ctx context.Context, planned []*jobset.JobSet, says *verdicts) error {
	all := &jobset.JobSetList{}
	if err := a.client.List(ctx, all, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing JobSets: %w", err)
	}
	isPlanned := map[types.UID]bool{}
	for _, js := range planned {
		isPlanned[js.UID] = true
	}
	for i := range all.Items {
		if js := &all.Items[i]; !isPlanned[js.UID] && shared.ManagedHere(js) && js.DeletionTimestamp == nil {
			says.say(js, nil, false)
		}
	}
	return nil
}
