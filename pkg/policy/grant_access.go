/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// grantAccess plans the rights of agents that are added to templates. The right to patch Pods is granted
// only while the admission policy restricts it, and is taken back when the policy is gone. So is the right to write
// Leases, which agents can do without: then they report on their Pods.
func grantAccess(v *view, _ result) (r result) {
	accounts := v.grantedAccounts()
	if len(accounts) == 0 || !v.Grant.PolicyKnown {
		return r
	}
	if grant := grantWrites(v.JobSet, v.Grant, accounts, v.PolicyGap == ""); grant != (GrantWrites{}) {
		r.writes.do(Op{Kind: GrantAccess, Grant: &grant})
	}
	switch {
	case v.PolicyGap != "":
		r = r.and(tell(becomesTrue(jobset.JobSetAgentAccessDenied, constants.AgentAccessWithheldReason, accessWithheld(v.PolicyGap))))
	case v.reportsWithheld():
		r = r.and(tell(accessGranted()))
	}
	return r
}

// grantedAccounts returns the service accounts that the controller grants rights to.
func (v *view) grantedAccounts() []string {
	if v.Grant == nil || !v.inPlace {
		return nil
	}
	return preparedAccounts(v.JobSet)
}

// accessWithheld reports whether agents are not granted what they need.
func (v *view) accessWithheld() bool {
	switch {
	case len(v.grantedAccounts()) == 0:
		return false
	case v.Grant.PolicyKnown:
		return v.PolicyGap != ""
	}
	return v.reportsWithheld()
}

// wasWithheld reports whether the stored status says that agents are not granted what they need,
// although this manager grants nothing: an earlier one did, with another configuration.
func (v *view) wasWithheld() bool { return v.reportsWithheld() && len(v.grantedAccounts()) == 0 }

// reportsWithheld reports whether the stored status says that agents are not granted what they need.
func (v *view) reportsWithheld() bool {
	c := v.trueCondition(jobset.JobSetAgentAccessDenied)
	return c != nil && c.Reason == constants.AgentAccessWithheldReason
}

func accessWithheld(gap string) string {
	return gap + ": the controller grants agents no right to patch Pods, so they cannot report, and workers that start wait for them; " + policyFix
}
