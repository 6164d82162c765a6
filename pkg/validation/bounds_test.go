/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

func podOf(js *jobset.JobSet, i int) *corev1.PodSpec { return &job(js, i).Template.Spec }

func setSize(js *jobset.JobSet, i int, size int32) {
	job(js, i).Parallelism, job(js, i).Completions = ptr.To(size), ptr.To(size)
}

// copies appends ReplicatedJobs like the first, up to a number.
func copies(js *jobset.JobSet, count int) {
	for i := len(js.Spec.ReplicatedJobs); i < count; i++ {
		other := js.Spec.ReplicatedJobs[0].DeepCopy()
		other.Name, other.DependsOn = fmt.Sprintf("w%d", i), nil
		js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, *other)
	}
}

// maximum is of something: set makes so many of it in a valid JobSet.
type maximum struct {
	most int
	path string
	what string
	set  func(js *jobset.JobSet, count int)
}

var maxima = map[string]maximum{
	"ReplicatedJobs": {1000, "spec.replicatedJobs", "ReplicatedJobs", copies},
	"workers of all ReplicatedJobs": {1_000_000, "spec.replicatedJobs", "workers", func(js *jobset.JobSet, count int) {
		js.Spec.ReplicatedJobs[0].Replicas, js.Spec.ReplicatedJobs[1].Replicas = 2, 1
		setSize(js, 0, 100_000)
		setSize(js, 1, int32(count-200_000))
	}},
	"Jobs without Pods": {1_000_000, "spec.replicatedJobs", "workers", func(js *jobset.JobSet, count int) {
		js.Spec.ReplicatedJobs = js.Spec.ReplicatedJobs[:1]
		js.Spec.ReplicatedJobs[0].Replicas = int32(count)
		setSize(js, 0, 0)
	}},
	"elastic instances": {1_000_000, "spec.replicatedJobs", "workers", func(js *jobset.JobSet, count int) {
		js.Spec.ReplicatedJobs = js.Spec.ReplicatedJobs[:1]
		js.Spec.ReplicatedJobs[0].Replicas = 1
		js.Spec.ReplicatedJobs[0].Elastic = &jobset.ElasticBounds{MinInstances: 1, MaxInstances: int32(count)}
		setSize(js, 0, 1)
	}},
	"containers of a Pod": {100, "spec.replicatedJobs[0].template.spec.template.spec.containers", "containers", func(js *jobset.JobSet, count int) {
		pod := podOf(js, 0)
		pod.InitContainers = make([]corev1.Container, 50)
		pod.Containers = make([]corev1.Container, count-50)
	}},
	"containers of all Pods": {10_000, "spec.replicatedJobs", "containers in all Pod templates", func(js *jobset.JobSet, count int) {
		copies(js, 200)
		for i := range js.Spec.ReplicatedJobs {
			podOf(js, i).InitContainers, podOf(js, i).Containers = nil, make([]corev1.Container, 50)
		}
		podOf(js, 0).Containers = make([]corev1.Container, 50+count-10_000)
	}},
	"names of resources": {64, "spec.replicatedJobs[0].template.spec.template.spec", "names of resources", func(js *jobset.JobSet, count int) {
		limits := corev1.ResourceList{}
		for i := range count {
			limits[corev1.ResourceName(fmt.Sprintf("example.com/r%d", i))] = resource.MustParse("1")
		}
		podOf(js, 0).Containers = []corev1.Container{{Name: "a", Resources: corev1.ResourceRequirements{Limits: limits, Requests: limits}}}
	}},
	"tolerations": {1000, "spec.replicatedJobs[0].template.spec.template.spec.tolerations", "tolerations", func(js *jobset.JobSet, count int) {
		podOf(js, 0).Tolerations = slices.Repeat([]corev1.Toleration{{Operator: corev1.TolerationOpExists}}, count)
	}},
	"terms of node affinity": {1000, "spec.replicatedJobs[0].template.spec.template.spec.affinity.nodeAffinity", "required node selector terms", func(js *jobset.JobSet, count int) {
		podOf(js, 0).Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: make([]corev1.NodeSelectorRequirement, count-1)}},
		}}}
	}},
	"rules of podFailurePolicy": {20, "spec.replicatedJobs[0].template.spec.podFailurePolicy.rules", "rules", func(js *jobset.JobSet, count int) {
		job(js, 0).PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: make([]batchv1.PodFailurePolicyRule, count)}
		podOf(js, 0).RestartPolicy = corev1.RestartPolicyNever
	}},
	"exit codes of podFailurePolicy": {255, "spec.replicatedJobs[0].template.spec.podFailurePolicy.rules[0].onExitCodes.values", "exit codes", func(js *jobset.JobSet, count int) {
		job(js, 0).PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{
			{OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{Values: make([]int32, count)}}}}
		podOf(js, 0).RestartPolicy = corev1.RestartPolicyNever
	}},
	"restart rules of a container": {20, "spec.replicatedJobs[0].template.spec.template.spec.initContainers[0].restartPolicyRules", "rules", func(js *jobset.JobSet, count int) {
		podOf(js, 0).InitContainers = []corev1.Container{{Name: "i", RestartPolicy: ptr.To(corev1.ContainerRestartPolicyNever), RestartPolicyRules: make([]corev1.ContainerRestartRule, count)}}
	}},
	"failure policy rules": {100, "spec.failurePolicy.rules", "rules", func(js *jobset.JobSet, count int) {
		js.Spec.FailurePolicy = &jobset.FailurePolicy{}
		for i := range count {
			js.Spec.FailurePolicy.Rules = append(js.Spec.FailurePolicy.Rules, jobset.FailurePolicyRule{Name: fmt.Sprintf("r%d", i), Action: jobset.FailJobSet})
		}
	}},
	"patterns of a rule": {50, "spec.failurePolicy.rules[0].onJobFailureMessagePatterns", "entries", func(js *jobset.JobSet, count int) {
		js.Spec.FailurePolicy = &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{{Name: "r", Action: jobset.FailJobSet,
			OnJobFailureMessagePatterns: slices.Repeat([]string{"a"}, count)}}}
	}},
	"patterns in all rules": {10_000, "spec.failurePolicy.rules", "characters in all patterns", func(js *jobset.JobSet, count int) {
		rule := func(name, pattern string) jobset.FailurePolicyRule {
			return jobset.FailurePolicyRule{Name: name, Action: jobset.FailJobSet, OnJobFailureMessagePatterns: []string{pattern}}
		}
		js.Spec.FailurePolicy = &jobset.FailurePolicy{Rules: []jobset.FailurePolicyRule{
			rule("a", "(?:ab){500}|c"), rule("b", strings.Repeat("d", count-1502))}}
	}},
	"targets of the success policy": {1000, "spec.successPolicy.targetReplicatedJobs", "names", func(js *jobset.JobSet, count int) {
		js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAll, TargetReplicatedJobs: slices.Repeat([]string{js.Spec.ReplicatedJobs[0].Name}, count)}
	}},
}

func TestMaxima(t *testing.T) {
	cases := map[string]createCase{}
	for name, b := range maxima {
		cases["W140: as many as allowed: "+name] = createCase{gates: elastic, mut: func(js *jobset.JobSet) { b.set(js, b.most) }}
		cases["W140: one more than allowed: "+name] = createCase{gates: elastic, mut: func(js *jobset.JobSet) { b.set(js, b.most+1) },
			want: []violation{invalid(b.path, fmt.Sprintf("must be at most %d %s", b.most, b.what))}}
	}
	cases["W140: all violations are told at once"] = createCase{mut: func(js *jobset.JobSet) {
		maxima["failure policy rules"].set(js, 101)
		maxima["tolerations"].set(js, 2000)
	}, want: []violation{invalid("spec.failurePolicy.rules", "must be at most 100 rules, and there are 101: let one rule have several"),
		invalid(maxima["tolerations"].path, "must be at most 1000 tolerations, and there are 2000: operator Exists")}}
	cases["W2 W140: what is above a maximum is said alone"] = createCase{mut: func(js *jobset.JobSet) {
		podOf(js, 0).RestartPolicy = corev1.RestartPolicyAlways
		copies(js, 1001)
	}, want: []violation{invalid("spec.replicatedJobs", "must be at most 1000 ReplicatedJobs")}}
	negative := func(js *jobset.JobSet) { setSize(js, 1, -1) }
	cases["W141: sizes below 0"] = createCase{mut: negative, want: []violation{
		invalid("spec.replicatedJobs[1].template.spec.parallelism", "must be >= 0"), invalid("spec.replicatedJobs[1].template.spec.completions", "must be >= 0")}}
	cases["W141: sizes below 0 beside a dependency"] = createCase{mut: func(js *jobset.JobSet) {
		negative(js)
		js.Spec.ReplicatedJobs[1].DependsOn = []jobset.DependsOn{{Name: js.Spec.ReplicatedJobs[0].Name, Status: jobset.DependencyReady}}
	}, want: []violation{
		invalid("spec.replicatedJobs[1].template.spec.parallelism", "must be >= 0"), invalid("spec.replicatedJobs[1].template.spec.completions", "must be >= 0")}}
	cases["W141: 0 is a size"] = createCase{mut: func(js *jobset.JobSet) { setSize(js, 1, 0) }}
	runCreate(t, plainJobSet, cases)
}

func TestMaximaOfStoredJobSets(t *testing.T) {
	cases := map[string]updateCase{}
	for name, b := range maxima {
		cases["W140: another field may change with more than allowed: "+name] = updateCase{gates: gates.Set{ElasticJobSet: true},
			old: func(js *jobset.JobSet) { b.set(js, b.most+1) },
			mut: func(js *jobset.JobSet) {
				js.Spec.Suspend = ptr.To(true)
				js.Finalizers, js.Labels = nil, map[string]string{"a": "b"}
			}}
	}
	large := func(js *jobset.JobSet) { maxima["workers of all ReplicatedJobs"].set(js, 1_500_000) }
	to := func(size int32) func(*jobset.JobSet) { return func(js *jobset.JobSet) { setSize(js, 1, size) } }
	grows := []violation{invalid("spec.replicatedJobs", "must be at most 1000000 workers")}
	cases["W140: more than allowed may shrink"] = updateCase{gates: elastic, old: large, mut: to(1_200_000)}
	cases["W140: more than allowed may not grow"] = updateCase{gates: elastic, old: large, mut: to(1_300_001), want: grows}
	cases["W140: what was allowed may not grow beyond"] = updateCase{gates: elastic, old: func(js *jobset.JobSet) { setSize(js, 1, 1) }, mut: to(1_000_001), want: grows}
	tolerated := func(count int) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) {
			js.Spec.Suspend = ptr.To(true)
			maxima["tolerations"].set(js, count)
		}
	}
	cases["W140: tolerations may become fewer"] = updateCase{old: tolerated(3000), mut: tolerated(2000)}
	cases["W140: tolerations may not become more"] = updateCase{old: tolerated(2000), mut: tolerated(2001),
		want: []violation{invalid(maxima["tolerations"].path, "must be at most 1000 tolerations, and there are 2001")}}
	runUpdate(t, plainJobSet, cases)
}
