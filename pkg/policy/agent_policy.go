/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"slices"
	"strconv"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"sigs.k8s.io/jobset/pkg/constants"
)

// AgentPolicyGap returns why the admission policy that restricts agents is not in force, "" if it is.
// The objects are those with its name, nil if they do not exist.
func AgentPolicyGap(policy *admissionregistrationv1.ValidatingAdmissionPolicy, binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) string {
	switch {
	case policy == nil:
		return fmt.Sprintf("ValidatingAdmissionPolicy %s is missing", constants.AgentAccess)
	case len(policy.Spec.Validations) == 0:
		return fmt.Sprintf("ValidatingAdmissionPolicy %s validates nothing", constants.AgentAccess)
	case policyFingerprint(&policy.Spec) != shippedPolicy && !isLater(policy):
		return fmt.Sprintf("ValidatingAdmissionPolicy %s is not the one that comes with this manager", constants.AgentAccess)
	case binding == nil:
		return fmt.Sprintf("ValidatingAdmissionPolicyBinding %s is missing", constants.AgentAccess)
	case binding.Spec.PolicyName != constants.AgentAccess:
		return fmt.Sprintf("ValidatingAdmissionPolicyBinding %s binds the policy %q", constants.AgentAccess, binding.Spec.PolicyName)
	case !slices.Contains(binding.Spec.ValidationActions, admissionregistrationv1.Deny):
		return fmt.Sprintf("ValidatingAdmissionPolicyBinding %s does not deny", constants.AgentAccess)
	case binding.Spec.MatchResources != nil || binding.Spec.ParamRef != nil:
		return fmt.Sprintf("ValidatingAdmissionPolicyBinding %s binds the policy for some Pods only", constants.AgentAccess)
	}
	return ""
}

// isLater reports whether a policy says that it comes with a later release, as it does after the manager was rolled back. Who may
// write such policies may grant agents anything, so it is believed; withheld permissions would keep all groups waiting.
func isLater(policy *admissionregistrationv1.ValidatingAdmissionPolicy) bool {
	revision, err := strconv.Atoi(policy.Labels[constants.AgentPolicyRevisionKey])
	return err == nil && revision > shippedRevision
}

// policyFix says how to close a gap.
const policyFix = "fix it with: kubectl apply --server-side -k config/components/agent-access/cluster, or with Helm: agentAccess.enable=true"

// PolicyMissing returns the message for users about a gap.
func PolicyMissing(gap string) string {
	return gap + ": whatever runs in worker Pods of JobSets that restart in place may patch every Pod of its namespace; " + policyFix
}
