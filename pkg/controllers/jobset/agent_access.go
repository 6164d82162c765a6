/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// agentRights are the rights that an agent needs: on its JobSet, by name, and on Pods. Those on Leases are for large groups, which do
// without them, too.
func agentRights(js *jobset.JobSet) []authorizationv1.ResourceAttributes {
	ofJobSet := func(verb string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{
			Namespace: js.Namespace, Verb: verb,
			Group: jobset.GroupVersion.Group, Version: jobset.GroupVersion.Version, Resource: "jobsets", Name: js.Name,
		}
	}
	return []authorizationv1.ResourceAttributes{
		ofJobSet("watch"), ofJobSet("list"),
		{Namespace: js.Namespace, Verb: "patch", Version: corev1.SchemeGroupVersion.Version, Resource: "pods"},
	}
}

func leaseRights(js *jobset.JobSet) []authorizationv1.ResourceAttributes {
	onLeases := func(verb string) authorizationv1.ResourceAttributes {
		return authorizationv1.ResourceAttributes{Namespace: js.Namespace, Verb: verb, Group: coordinationv1.GroupName,
			Version: coordinationv1.SchemeGroupVersion.Version, Resource: "leases"}
	}
	return []authorizationv1.ResourceAttributes{onLeases("create"), onLeases("patch")}
}

// askAccess asks the API server which rights that agents need the service accounts lack. If it fails to
// answer, the access stays unknown for as long as an answer would be valid: nothing waits for this.
func (r *JobSetReconciler) askAccess(ctx context.Context, js *jobset.JobSet, ask *policy.Questions) map[string]policy.AgentAccess {
	answers := make(map[string]policy.AgentAccess, len(ask.AskAccess))
	for _, account := range ask.AskAccess {
		var onLeases []string
		lacks, err := r.lacks(ctx, js, account, agentRights(js))
		if err == nil && ask.AskLeases {
			onLeases, err = r.lacks(ctx, js, account, leaseRights(js))
		}
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Cannot check whether agents may report", "serviceAccount", klog.KRef(js.Namespace, account))
		}
		answers[account] = policy.AgentAccess{Asked: r.clock.Now(), Lacks: lacks, LacksLeases: onLeases, Unknown: err != nil}
	}
	return answers
}

func (r *JobSetReconciler) lacks(ctx context.Context, js *jobset.JobSet, account string, rights []authorizationv1.ResourceAttributes) ([]string, error) {
	var lacks []string
	for _, right := range rights {
		review := &authorizationv1.SubjectAccessReview{Spec: workerpod.AccountReview(js.Namespace, account, right)}
		if err := r.client.Create(ctx, review); err != nil {
			return nil, fmt.Errorf("asking whether service account %s/%s may %s %s: %w", js.Namespace, account, right.Verb, right.Resource, err)
		}
		if !review.Status.Allowed {
			lacks = append(lacks, right.Verb+" "+right.Resource)
		}
	}
	return lacks, nil
}
