/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package access

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"sigs.k8s.io/jobset/pkg/constants"
)

const podPolicyFile, leasePolicyFile = "admission_policy.yaml", "lease_admission_policy.yaml"

// policyAsShipped is an admission policy of agents as it is in the repository.
func policyAsShipped(t *testing.T, file string, changes ...func(*admissionregistrationv1.ValidatingAdmissionPolicySpec)) *admissionregistrationv1.ValidatingAdmissionPolicy {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../../../config/components/agent-access/cluster", file))
	if err != nil {
		t.Fatal(err)
	}
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{}
	if err := yaml.UnmarshalStrict(text, policy); err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		change(&policy.Spec)
	}
	return policy
}

func TestShippedPolicy(t *testing.T) {
	t.Parallel()
	type spec = admissionregistrationv1.ValidatingAdmissionPolicySpec
	for file, of := range map[string]AgentPolicy{podPolicyFile: PodPolicy(), leasePolicyFile: LeasePolicy()} {
		shipped := policyAsShipped(t, file)
		if got := fingerprintOf(&shipped.Spec); got != of.fingerprint {
			t.Fatalf("P56, P153: %s has the fingerprint %s; set it in agent_policy_shipped.go, and raise the revision", file, got)
		}
		if got, want := shipped.Labels[constants.AgentPolicyRevisionKey], strconv.Itoa(of.revision); got != want || shipped.Name != of.Name {
			t.Errorf("P56, P153: %s is %s of revision %q, want %s of %s", file, shipped.Name, got, of.Name, want)
		}
	}
	tests := map[string]struct {
		change func(*spec)
		same   bool
	}{
		"P56: with the defaults of the API server": {same: true, change: func(s *spec) {
			s.MatchConstraints.MatchPolicy = ptr.To(admissionregistrationv1.Equivalent)
			s.MatchConstraints.NamespaceSelector, s.MatchConstraints.ObjectSelector = &metav1.LabelSelector{}, &metav1.LabelSelector{}
			s.MatchConstraints.ResourceRules[0].Scope = ptr.To(admissionregistrationv1.AllScopes)
		}},
		"P56: with lines that kubectl apply -k has broken elsewhere": {same: true, change: func(s *spec) {
			for i := range s.Validations {
				s.Validations[i].Expression = strings.ReplaceAll(s.Validations[i].Expression, "&& ", "&&\n\n  ") + "\n"
			}
			s.Variables[0].Expression += "\n"
		}},
		"P56: with other messages":                {same: true, change: func(s *spec) { s.Validations[0].Message = "no" }},
		"P56: with an audit annotation":           {same: true, change: func(s *spec) { s.AuditAnnotations = []admissionregistrationv1.AuditAnnotation{{Key: "a"}} }},
		"P56: without one of its validations":     {change: func(s *spec) { s.Validations = s.Validations[1:] }},
		"P56: with a validation that lets all by": {change: func(s *spec) { s.Validations[0].Expression = "true" }},
		"P56: with one more match condition": {change: func(s *spec) {
			s.MatchConditions = append(s.MatchConditions, admissionregistrationv1.MatchCondition{Name: "never", Expression: "false"})
		}},
		"P56: for some namespaces only": {change: func(s *spec) {
			s.MatchConstraints.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		}},
		"P56: for creates only": {change: func(s *spec) {
			s.MatchConstraints.ResourceRules[0].Operations = []admissionregistrationv1.OperationType{admissionregistrationv1.Create}
		}},
		"P56: that lets by what it cannot evaluate": {change: func(s *spec) { s.FailurePolicy = ptr.To(admissionregistrationv1.Ignore) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if same := fingerprintOf(&policyAsShipped(t, podPolicyFile, tc.change).Spec) == shippedPodPolicy; same != tc.same {
				t.Errorf("taken for ours: %v, want %v", same, tc.same)
			}
		})
	}
}

func TestAgentPolicyGap(t *testing.T) {
	t.Parallel()
	policy := policyAsShipped(t, podPolicyFile)
	ofSome := func(change func(*admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec)) *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
		b := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
		b.Spec.PolicyName, b.Spec.ValidationActions = "jobset-agent", []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny}
		change(&b.Spec)
		return b
	}
	binding := func(policy string, actions ...admissionregistrationv1.ValidationAction) *admissionregistrationv1.ValidatingAdmissionPolicyBinding {
		b := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}
		b.Spec.PolicyName, b.Spec.ValidationActions = policy, actions
		return b
	}
	revised := func(revision string, change func(*admissionregistrationv1.ValidatingAdmissionPolicySpec)) *admissionregistrationv1.ValidatingAdmissionPolicy {
		p := policyAsShipped(t, podPolicyFile, change)
		p.Labels[constants.AgentPolicyRevisionKey] = revision
		return p
	}
	another := func(s *admissionregistrationv1.ValidatingAdmissionPolicySpec) {
		s.Variables[len(s.Variables)-1].Expression = "['jobset.sigs.k8s.io/epoch', 'jobset.sigs.k8s.io/progress']"
	}
	const unknown = "ValidatingAdmissionPolicy jobset-agent is not the one that comes with this manager"
	tests := map[string]struct {
		policy  *admissionregistrationv1.ValidatingAdmissionPolicy
		binding *admissionregistrationv1.ValidatingAdmissionPolicyBinding
		want    string
	}{
		"P56: both as shipped":    {policy, binding("jobset-agent", admissionregistrationv1.Deny), ""},
		"P56: denied and audited": {policy, binding("jobset-agent", admissionregistrationv1.Audit, admissionregistrationv1.Deny), ""},
		"P56: no policy":          {nil, binding("jobset-agent", admissionregistrationv1.Deny), "ValidatingAdmissionPolicy jobset-agent is missing"},
		"P56: a policy that has been emptied": {&admissionregistrationv1.ValidatingAdmissionPolicy{}, binding("jobset-agent", admissionregistrationv1.Deny),
			"ValidatingAdmissionPolicy jobset-agent validates nothing"},
		"P56: a policy of somebody else": {policyAsShipped(t, podPolicyFile, func(s *admissionregistrationv1.ValidatingAdmissionPolicySpec) { s.Validations[0].Expression = "true" }),
			binding("jobset-agent", admissionregistrationv1.Deny), "ValidatingAdmissionPolicy jobset-agent is not the one that comes with this manager"},
		"P56: the policy of a later release, after a rollback of the manager": {revised("5", another), binding("jobset-agent", admissionregistrationv1.Deny), ""},
		"P56: a policy of this revision that was changed":                     {revised("4", another), binding("jobset-agent", admissionregistrationv1.Deny), unknown},
		"P56: the policy of an earlier release":                               {revised("1", another), binding("jobset-agent", admissionregistrationv1.Deny), unknown},
		"P56: a policy whose revision is no number":                           {revised("later", another), binding("jobset-agent", admissionregistrationv1.Deny), unknown},
		"P56: a policy of a later release that is emptied": {revised("5", func(s *admissionregistrationv1.ValidatingAdmissionPolicySpec) { s.Validations = nil }),
			binding("jobset-agent", admissionregistrationv1.Deny), "ValidatingAdmissionPolicy jobset-agent validates nothing"},
		"P56: the policy of a later release without a binding": {revised("5", another), nil, "ValidatingAdmissionPolicyBinding jobset-agent is missing"},
		"P56: no binding":                  {policy, nil, "ValidatingAdmissionPolicyBinding jobset-agent is missing"},
		"P56: a binding of something else": {policy, binding("other", admissionregistrationv1.Deny), `ValidatingAdmissionPolicyBinding jobset-agent binds the policy "other"`},
		"P56: a binding for some namespaces": {policy, ofSome(func(s *admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec) {
			s.MatchResources = &admissionregistrationv1.MatchResources{}
		}), "ValidatingAdmissionPolicyBinding jobset-agent binds the policy for some objects only"},
		"P56: a binding with parameters": {policy, ofSome(func(s *admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec) {
			s.ParamRef = &admissionregistrationv1.ParamRef{}
		}), "ValidatingAdmissionPolicyBinding jobset-agent binds the policy for some objects only"},
		"P56: a binding that only warns": {policy, binding("jobset-agent", admissionregistrationv1.Warn), "ValidatingAdmissionPolicyBinding jobset-agent does not deny"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := PodPolicy().Gap(tc.policy, tc.binding); got != tc.want {
				t.Errorf("gap is %q, want %q", got, tc.want)
			}
		})
	}
}
