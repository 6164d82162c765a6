/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package access

import (
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// GrantAccess plans the rights of agents that are added to templates. The right to patch Pods is granted
// only while the admission policy restricts it, and is taken back when the policy is gone. So is the right to write
// Leases, which agents can do without: then they report on their Pods.
func GrantAccess(v *view.View, _ pass.Result) (r pass.Result) {
	accounts := grantedAccounts(v)
	if len(accounts) == 0 || !v.Grant.PolicyKnown {
		return r
	}
	if grant := grantWrites(v.JobSet, v.Grant, accounts, v.PolicyGap == ""); grant != (pass.GrantWrites{}) {
		r.Writes.Do(pass.Op{Kind: pass.GrantAccess, Grant: &grant})
	}
	switch {
	case v.PolicyGap != "":
		r = r.And(pass.Tell(pass.BecomesTrue(jobset.JobSetAgentAccessDenied, constants.AgentAccessWithheldReason, whyWithheld(v.PolicyGap))))
	case reportsWithheld(v):
		r = r.And(pass.Tell(accessGranted()))
	}
	return r
}

// grantedAccounts returns the service accounts that the controller grants rights to.
func grantedAccounts(v *view.View) []string {
	if v.Grant == nil || !v.InPlace {
		return nil
	}
	return preparedAccounts(v.JobSet)
}

// accessWithheld reports whether agents are not granted what they need.
func accessWithheld(v *view.View) bool {
	switch {
	case len(grantedAccounts(v)) == 0:
		return false
	case v.Grant.PolicyKnown:
		return v.PolicyGap != ""
	}
	return reportsWithheld(v)
}

// wasWithheld reports whether the stored status says that agents are not granted what they need,
// although this manager grants nothing: an earlier one did, with another configuration.
func wasWithheld(v *view.View) bool { return reportsWithheld(v) && len(grantedAccounts(v)) == 0 }

// reportsWithheld reports whether the stored status says that agents are not granted what they need.
func reportsWithheld(v *view.View) bool {
	c := v.TrueCondition(jobset.JobSetAgentAccessDenied)
	return c != nil && c.Reason == constants.AgentAccessWithheldReason
}

func whyWithheld(gap string) string {
	return gap + ": the controller grants agents no right to patch Pods, so they cannot report, and workers that start wait for them; " + policyFix
}
