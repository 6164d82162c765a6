/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// defaulted is what an empty spec becomes.
func defaulted() jobset.JobSetSpec {
	return jobset.JobSetSpec{
		SuccessPolicy: &jobset.SuccessPolicy{Operator: jobset.OperatorAll},
		StartupPolicy: &jobset.StartupPolicy{StartupPolicyOrder: jobset.AnyOrder},
		Network:       &jobset.Network{EnableDNSHostnames: ptr.To(true), PublishNotReadyAddresses: ptr.To(true)},
	}
}

func replicatedJob(mode *batchv1.CompletionMode, policy corev1.RestartPolicy) jobset.ReplicatedJob {
	rj := jobset.ReplicatedJob{Name: "workers"}
	rj.Template.Spec.CompletionMode = mode
	rj.Template.Spec.Template.Spec.RestartPolicy = policy
	return rj
}

func TestDefault(t *testing.T) {
	nonIndexed, indexed := batchv1.NonIndexedCompletion, batchv1.IndexedCompletion
	cases := map[string]struct {
		in   jobset.JobSetSpec
		want func(s *jobset.JobSetSpec)
	}{
		"W10, W11, W14, W15, W16, W19: an empty spec": {},
		"W10, W11: present policies are left alone": {
			in: jobset.JobSetSpec{
				SuccessPolicy: &jobset.SuccessPolicy{Operator: jobset.OperatorAny},
				StartupPolicy: &jobset.StartupPolicy{StartupPolicyOrder: jobset.InOrder},
			},
			want: func(s *jobset.JobSetSpec) {
				s.SuccessPolicy.Operator = jobset.OperatorAny
				s.StartupPolicy.StartupPolicyOrder = jobset.InOrder
			},
		},
		"W12, W13: every ReplicatedJob": {
			in: jobset.JobSetSpec{ReplicatedJobs: []jobset.ReplicatedJob{replicatedJob(nil, ""), replicatedJob(nil, "")}},
			want: func(s *jobset.JobSetSpec) {
				s.ReplicatedJobs = []jobset.ReplicatedJob{replicatedJob(&indexed, "OnFailure"), replicatedJob(&indexed, "OnFailure")}
			},
		},
		"W12, W13: present values are kept, Always too": {
			in: jobset.JobSetSpec{ReplicatedJobs: []jobset.ReplicatedJob{replicatedJob(&nonIndexed, "Always")}},
			want: func(s *jobset.JobSetSpec) {
				s.ReplicatedJobs = []jobset.ReplicatedJob{replicatedJob(&nonIndexed, "Always")}
			},
		},
		"W15, W16: present values are kept": {
			in: jobset.JobSetSpec{Network: &jobset.Network{EnableDNSHostnames: ptr.To(false), Subdomain: "x"}},
			want: func(s *jobset.JobSetSpec) {
				s.Network = &jobset.Network{EnableDNSHostnames: ptr.To(false), Subdomain: "x", PublishNotReadyAddresses: ptr.To(true)}
			},
		},
		"W17: rules are named after their position": {
			in: jobset.JobSetSpec{FailurePolicy: &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{{}, {Name: "mine"}, {}}}},
			want: func(s *jobset.JobSetSpec) {
				s.FailurePolicy = &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{
					{Name: "failurePolicyRule0"}, {Name: "mine"}, {Name: "failurePolicyRule2"}}}
			},
		},
		"W17, Q28: a name that a user gave away is not given twice, and the others keep their position": {
			in: jobset.JobSetSpec{FailurePolicy: &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{
				{}, {Name: "failurePolicyRule0"}, {}, {Name: "failurePolicyRule2"}, {Name: "failurePolicyRule5"}, {}}}},
			want: func(s *jobset.JobSetSpec) {
				s.FailurePolicy = &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{
					{Name: "failurePolicyRule6"}, {Name: "failurePolicyRule0"}, {Name: "failurePolicyRule7"},
					{Name: "failurePolicyRule2"}, {Name: "failurePolicyRule5"}, {Name: "failurePolicyRule8"}}}
			},
		},
		"W18: claims are deleted unless said otherwise": {
			in: jobset.JobSetSpec{VolumeClaimPolicies: []jobset.VolumeClaimPolicy{{}, {RetentionPolicy: &jobset.VolumeRetentionPolicy{}}}},
			want: func(s *jobset.JobSetSpec) {
				s.VolumeClaimPolicies = []jobset.VolumeClaimPolicy{
					{RetentionPolicy: &jobset.VolumeRetentionPolicy{WhenDeleted: ptr.To(jobset.RetentionPolicyDelete)}},
					{RetentionPolicy: &jobset.VolumeRetentionPolicy{}},
				}
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			js, want := &jobset.JobSet{Spec: tc.in}, defaulted()
			if tc.want != nil {
				tc.want(&want)
			}
			Default(js, gates.Set{InPlaceRestart: true})
			if diff := cmp.Diff(want, js.Spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
			again := js.DeepCopy()
			Default(again, gates.Set{InPlaceRestart: true})
			if diff := cmp.Diff(js, again); diff != "" {
				t.Errorf("defaulting twice (-once +twice):\n%s", diff)
			}
		})
	}
}
