/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func randomPolicy(random *rand.Rand) *batchv1.PodFailurePolicy {
	policy := &batchv1.PodFailurePolicy{}
	for range random.Intn(6) {
		rule := batchv1.PodFailurePolicyRule{OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In"}}
		switch random.Intn(6) {
		case 0:
			rule.OnExitCodes.Operator = "NotIn"
		case 1:
			rule.OnExitCodes = nil
		}
		if rule.OnExitCodes != nil {
			for range random.Intn(200) {
				rule.OnExitCodes.Values = append(rule.OnExitCodes.Values, int32(random.Intn(300)))
			}
			if random.Intn(2) == 0 {
				rule.OnExitCodes.ContainerName = ptr.To([]string{"a", "b"}[random.Intn(2)])
			}
		}
		policy.Rules = append(policy.Rules, rule)
	}
	return policy
}

// firstBySearch is what ActsOn says, found by a search through all rules.
func firstBySearch(policy *batchv1.PodFailurePolicy, container string, code int32) int {
	return slices.IndexFunc(policy.Rules, func(rule batchv1.PodFailurePolicyRule) bool {
		when := rule.OnExitCodes
		return when != nil && (when.ContainerName == nil || *when.ContainerName == container) && slices.Contains(when.Values, code) == (when.Operator == "In")
	})
}

func TestRulesAreReadOnce(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewSource(1))
	for range 300 {
		policy := randomPolicy(random)
		recreate := []int32{int32(1 + random.Intn(255))}
		rules := restarts{failures: NewPodFailures(policy), action: "Restart", recreate: recreate}
		for _, container := range []string{"a", "b", "c", "d"} {
			made := rules.of(container)
			for code := int32(1); code <= maxExitCode; code++ {
				want := firstBySearch(policy, container, code)
				if got := rules.failures.ActsOn(container, code); got != want {
					t.Fatalf("C383: rule %d acts on %d of %s, want %d, of %v", got, code, container, want, policy.Rules)
				}
				restarts := want < 0 && !slices.Contains(recreate, code)
				if got := ActionOn(made, code) == "Restart"; got != restarts || Actions(made)[code] != ActionOn(made, code) {
					t.Fatalf("C383: %s restarts on %d: %t, want %t, of %v", container, code, got, restarts, policy.Rules)
				}
			}
		}
	}
}

// manyRules is a Job with so many containers and rules, of which each lists 200 exit codes.
func manyRules(containers, rules int) *batchv1.Job {
	job := &batchv1.Job{}
	for i := range containers {
		job.Spec.Template.Spec.Containers = append(job.Spec.Template.Spec.Containers, corev1.Container{Name: fmt.Sprintf("c%d", i), Command: []string{"c"}})
	}
	job.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{}
	for i := range rules {
		when := &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: "In"}
		for code := range int32(200) {
			when.Values = append(when.Values, 1000*int32(i+1)+code)
		}
		job.Spec.PodFailurePolicy.Rules = append(job.Spec.PodFailurePolicy.Rules, batchv1.PodFailurePolicyRule{OnExitCodes: when})
	}
	return job
}

// BenchmarkInject adds agents to Pods of 100 containers, the most that are admitted, and beyond.
func BenchmarkInject(b *testing.B) {
	for _, containers := range []int{1, 100, 1000} {
		for _, rules := range []int{0, 20, 200} {
			job := manyRules(containers, rules)
			b.Run(fmt.Sprintf("containers=%d/rules=%d", containers, rules), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					Inject(job, nil, Injection{Image: "agent"}, Place{})
				}
			})
		}
	}
}

func TestInjectCostsBySumAndNotByProduct(t *testing.T) {
	took := func(containers, rules int) float64 {
		job := manyRules(containers, rules)
		return float64(testing.Benchmark(func(b *testing.B) {
			for b.Loop() {
				Inject(job, nil, Injection{Image: "agent"}, Place{})
			}
		}).NsPerOp())
	}
	alone := took(1000, 1) + took(1, 200)
	if both := took(1000, 200); both > 20*alone { // their product is some hundred times the sum
		t.Errorf("C383: 1000 containers with 200 rules take %.1f times what the containers and the rules take alone", both/alone)
	}
}
