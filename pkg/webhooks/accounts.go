/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"context"
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/validation"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// maxReviewedAccounts bounds the requests of one admission: five for each account.
const maxReviewedAccounts = 10

// accountWarnings warns of service accounts that may patch Pods or Leases already. The manager is about to mark them as
// those of agents, and the admission policies then allow them only what agents do. reviews is nil if it marks none.
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
		losesPods, losesLeases, err := narrowed(ctx, reviews, js.Namespace, account)
		if err != nil { // no reason to refuse a JobSet
			ctrl.LoggerFrom(ctx).Error(err, "Cannot check whether a service account loses rights", "serviceAccount", klog.KRef(js.Namespace, account))
		}
		if losesPods {
			warnings = append(warnings, validation.NarrowedAccount(i, account))
		}
		if losesLeases {
			warnings = append(warnings, validation.NarrowedElection(i, account))
		}
	}
	return warnings
}

// narrowed reports whether an account may patch Pods, and Leases, is no agent yet, and may not update them: those that may are
// left alone by the policies. For most accounts the first two requests say that it is not. A right to patch one Lease by its name cannot be
// asked about without that name (P153c).
func narrowed(ctx context.Context, reviews client.Writer, namespace, account string) (pods, leases bool, err error) {
	may := func(verb, group, resource, subresource string) bool {
		if err != nil {
			return false
		}
		review := &authorizationv1.SubjectAccessReview{Spec: workerpod.AccountReview(namespace, account,
			authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Group: group, Resource: resource, Subresource: subresource})}
		if failed := reviews.Create(ctx, review); failed != nil {
			err = fmt.Errorf("asking whether service account %s/%s may %s %s: %w", namespace, account, verb, resource, failed)
		}
		return err == nil && review.Status.Allowed
	}
	pods = may("patch", corev1.GroupName, "pods", "")
	leases = may("patch", coordinationv1.GroupName, "leases", "")
	if !pods && !leases || may("report", jobset.GroupVersion.Group, "jobsets", "agent") {
		return false, false, err
	}
	pods = pods && !may("update", corev1.GroupName, "pods", "")
	leases = leases && !may("update", coordinationv1.GroupName, "leases", "")
	return pods && err == nil, leases && err == nil, err
}
