/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package access

import (
	"fmt"
	"slices"
	"strconv"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"sigs.k8s.io/jobset/pkg/constants"
)

// AgentPolicy is an admission policy that restricts what agents write, as it comes with this manager. Its binding has the same name.
type AgentPolicy struct {
	Name string
	// Without is what follows while it is not in force, Within what is so while it is.
	Without, Within string
	// fingerprint and revision are those of the file, see agent_policy_shipped.go.
	fingerprint string
	revision    int
}

// PodPolicy returns the policy for the Pods of agents (P56).
func PodPolicy() AgentPolicy {
	return AgentPolicy{
		Name: constants.AgentAccess, fingerprint: shippedPodPolicy, revision: shippedPodRevision,
		Without: "any program in worker Pods of JobSets that restart in place may patch every Pod of its namespace",
		Within:  "agents may write the annotations epoch, worker-exit, progress and address of their own Pod and nothing else",
	}
}

// LeasePolicy returns the policy for the Leases in which the agents of large groups report (P153).
func LeasePolicy() AgentPolicy {
	return AgentPolicy{
		Name: constants.AgentLeases, fingerprint: shippedLeasePolicy, revision: shippedLeaseRevision,
		Without: "no report is read from a Lease, so agents report on their Pods, which costs the API server more and may take longer, " +
			"and accounts that are bound to ClusterRole jobset-agent may write every Lease of their namespaces",
		Within: "agents may report in a Lease of their own and write no other",
	}
}

// Gap returns why the policy is not in force, "" if it is. The objects are those with its name, nil if they do not exist.
func (a AgentPolicy) Gap(policy *admissionregistrationv1.ValidatingAdmissionPolicy, binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding) string {
	switch {
	case policy == nil:
		return fmt.Sprintf("ValidatingAdmissionPolicy %s is missing", a.Name)
	case len(policy.Spec.Validations) == 0:
		return fmt.Sprintf("ValidatingAdmissionPolicy %s validates nothing", a.Name)
	case fingerprintOf(&policy.Spec) != a.fingerprint && !a.isEarlierThan(policy):
		return fmt.Sprintf("ValidatingAdmissionPolicy %s is not the one that comes with this manager", a.Name)
	case binding == nil:
		return fmt.Sprintf("ValidatingAdmissionPolicyBinding %s is missing", a.Name)
	case binding.Spec.PolicyName != a.Name:
		return fmt.Sprintf("ValidatingAdmissionPolicyBinding %s binds the policy %q", a.Name, binding.Spec.PolicyName)
	case !slices.Contains(binding.Spec.ValidationActions, admissionregistrationv1.Deny):
		return fmt.Sprintf("ValidatingAdmissionPolicyBinding %s does not deny", a.Name)
	case binding.Spec.MatchResources != nil || binding.Spec.ParamRef != nil:
		return fmt.Sprintf("ValidatingAdmissionPolicyBinding %s binds the policy for some objects only", a.Name)
	}
	return ""
}

// isEarlierThan reports whether a policy says that it comes with a later release, as it does after the manager was rolled back. Who may
// write such policies may grant agents anything, so it is believed; withheld permissions would keep all groups waiting.
func (a AgentPolicy) isEarlierThan(policy *admissionregistrationv1.ValidatingAdmissionPolicy) bool {
	revision, err := strconv.Atoi(policy.Labels[constants.AgentPolicyRevisionKey])
	return err == nil && revision > a.revision
}

// policyFix says how to close a gap.
const policyFix = "fix it with: kubectl apply --server-side -k config/components/agent-access/cluster, or with Helm: agentAccess.enable=true"

// Missing returns the message for users about a gap.
func (a AgentPolicy) Missing(gap string) string { return gap + ": " + a.Without + "; " + policyFix }
