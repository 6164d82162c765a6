/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package access

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// These are the fingerprints of the policies in config/components/agent-access/cluster. A test compares them, and says what
// they have to be.
const (
	shippedPodPolicy   = "be3a3d3bb839312d3079a1a792230d0043c469621711e0178c91846f8c8d1f26"
	shippedLeasePolicy = "028c9119a8cc7c83e353b82261d143c00c2c80d7a54579cc73ab8f9cf7b9203d"
)

// These are their numbers, the label constants.AgentPolicyRevisionKey. Raise one with each new fingerprint: a manager
// that is rolled back knows by it that the policy is later than its own.
const (
	shippedPodRevision   = 4
	shippedLeaseRevision = 2
)

// fingerprintOf is the same for policies that admit the same: defaults are filled in, and what they
// say when they refuse is left out. So are line breaks, which kubectl apply -k moves.
func fingerprintOf(spec *admissionregistrationv1.ValidatingAdmissionPolicySpec) string {
	s := spec.DeepCopy()
	s.AuditAnnotations = nil
	s.FailurePolicy = ptr.To(ptr.Deref(s.FailurePolicy, admissionregistrationv1.Fail))
	for i := range s.Validations {
		s.Validations[i] = admissionregistrationv1.Validation{Expression: inOneLine(s.Validations[i].Expression)}
	}
	for i := range s.Variables {
		s.Variables[i].Expression = inOneLine(s.Variables[i].Expression)
	}
	for i := range s.MatchConditions {
		s.MatchConditions[i].Expression = inOneLine(s.MatchConditions[i].Expression)
	}
	if match := s.MatchConstraints; match != nil {
		match.MatchPolicy = ptr.To(ptr.Deref(match.MatchPolicy, admissionregistrationv1.Equivalent))
		match.NamespaceSelector = ptr.To(ptr.Deref(match.NamespaceSelector, metav1.LabelSelector{}))
		match.ObjectSelector = ptr.To(ptr.Deref(match.ObjectSelector, metav1.LabelSelector{}))
		for i := range match.ResourceRules {
			rule := &match.ResourceRules[i]
			rule.Scope = ptr.To(ptr.Deref(rule.Scope, admissionregistrationv1.AllScopes))
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		return "" // strings and lists of strings can be marshalled
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func inOneLine(expression string) string { return strings.Join(strings.Fields(expression), " ") }
