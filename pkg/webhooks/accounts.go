/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/validation"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// maxReviewedAccounts bounds the requests of one admission: three for each account.
const maxReviewedAccounts = 10

// accountWarnings warns of service accounts that may patch Pods already. The manager is about to mark them as
// those of agents, and the admission policy then allows them only what agents do. reviews is nil if it marks none.
func accountWarnings(ctx context.Context, reviews client.Writer, js *jobset.JobSet) admission.Warnings {
	if reviews == nil {
		return nil
	}
	var warnings admission.Warnings
	seen := sets.New[string]()
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		if !workerpod.IsInjected(js, rjob) {
			continue
		}
		account, _ := workerpod.AgentAccount(&rjob.Template.Spec.Template.Spec)
		if seen.Has(account) || seen.Len() == maxReviewedAccounts {
			continue
		}
		seen.Insert(account)
		narrowed, err := isNarrowed(ctx, reviews, js.Namespace, account)
		if err != nil { // no reason to refuse a JobSet
			ctrl.LoggerFrom(ctx).Error(err, "Cannot check whether a service account loses rights", "serviceAccount", klog.KRef(js.Namespace, account))
		}
		if narrowed {
			warnings = append(warnings, validation.NarrowedAccount(i, account))
		}
	}
	return warnings
}

// isNarrowed reports whether an account may patch Pods, is no agent yet, and may not update Pods: those that may are
// left alone by the policy. For most accounts the first request says that it is not.
func isNarrowed(ctx context.Context, reviews client.Writer, namespace, account string) (bool, error) {
	for _, right := range []struct {
		authorizationv1.ResourceAttributes
		wanted bool
	}{
		{authorizationv1.ResourceAttributes{Verb: "patch", Version: "v1", Resource: "pods"}, true},
		{authorizationv1.ResourceAttributes{Verb: "report", Group: jobset.GroupVersion.Group, Resource: "jobsets", Subresource: "agent"}, false},
		{authorizationv1.ResourceAttributes{Verb: "update", Version: "v1", Resource: "pods"}, false},
	} {
		right.Namespace = namespace
		review := &authorizationv1.SubjectAccessReview{Spec: workerpod.AccountReview(namespace, account, right.ResourceAttributes)}
		if err := reviews.Create(ctx, review); err != nil {
			return false, fmt.Errorf("asking whether service account %s/%s may %s %s: %w", namespace, account, right.Verb, right.Resource, err)
		}
		if review.Status.Allowed != right.wanted {
			return false, nil
		}
	}
	return true, nil
}
