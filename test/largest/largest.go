/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package largest makes JobSets that are as large as admission allows, for tests.
package largest

import (
	"fmt"
	"math"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// JobSets returns JobSets that are as large as admission allows, each in another way, and as etcd allows: 1.5 MiB of JSON.
// Their authors wrote them like this: defaults are missing.
func JobSets() map[string]*jobset.JobSet {
	return map[string]*jobset.JobSet{
		"1000 ReplicatedJobs, elastic":                         largestElastic(),
		"10000 containers, in 100 Pods":                        largestContainers(100, 100, 0),
		"50 Pods of 100 containers, rules of podFailurePolicy": largestContainers(50, 100, 20),
		"2500 claims, mounted by 10000 containers":             largestClaims(),
		"100 rules with 1000 targets each":                     largestRules(),
	}
}

func largestJob(name string, containers int) jobset.ReplicatedJob {
	rj := jobset.ReplicatedJob{Name: name, GroupName: "g", Replicas: 1}
	rj.Template.Spec.Parallelism, rj.Template.Spec.Completions = ptr.To[int32](1), ptr.To[int32](1)
	for i := range containers {
		rj.Template.Spec.Template.Spec.Containers = append(rj.Template.Spec.Template.Spec.Containers,
			corev1.Container{Name: fmt.Sprintf("c%d", i), Image: "i", Command: []string{"c"}})
	}
	return rj
}

func largestInPlace() *jobset.JobSet {
	js := builders.MakeJobSet("js", "ns").Obj()
	js.Spec.FailurePolicy = &jobset.FailurePolicy{RestartStrategy: jobset.InPlaceRestart, MaxRestarts: 3}
	return js
}

func largestElastic() *jobset.JobSet {
	js := largestInPlace()
	for i := range 1000 {
		rj := largestJob(fmt.Sprintf("w%d", i), 2)
		rj.Elastic = &jobset.ElasticBounds{MinInstances: 1, MaxInstances: 1000}
		rj.Template.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, rj)
	}
	js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: "w999"}
	return js
}

// largestContainers have exit codes for new Pods, and as many rules of podFailurePolicy, half of them for one container.
func largestContainers(jobs, containers, rules int) *jobset.JobSet {
	js := largestInPlace()
	js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{}
	for code := int32(1); code <= 100; code++ {
		js.Spec.FailurePolicy.InPlaceRestart.RecreatePodOnExitCodes = append(js.Spec.FailurePolicy.InPlaceRestart.RecreatePodOnExitCodes, code)
	}
	for i := range jobs {
		rj := largestJob(fmt.Sprintf("w%d", i), containers)
		if rules > 0 {
			rj.Template.Spec.PodFailurePolicy = &batchv1.PodFailurePolicy{}
			rj.Template.Spec.BackoffLimit = ptr.To[int32](math.MaxInt32)
			rj.Template.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		}
		for r := range rules {
			when := &batchv1.PodFailurePolicyOnExitCodesRequirement{Operator: batchv1.PodFailurePolicyOnExitCodesOpIn}
			for code := int32(101); code <= 255; code++ {
				if int(code)%rules != r || code > 111 {
					when.Values = append(when.Values, code)
				}
			}
			if r%2 == 1 {
				when.ContainerName = ptr.To(fmt.Sprintf("c%d", r))
			}
			rj.Template.Spec.PodFailurePolicy.Rules = append(rj.Template.Spec.PodFailurePolicy.Rules,
				batchv1.PodFailurePolicyRule{Action: batchv1.PodFailurePolicyActionFailJob, OnExitCodes: when})
		}
		js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, rj)
	}
	return js
}

func largestClaims() *jobset.JobSet {
	js := largestContainers(100, 100, 0)
	for i := range 50 {
		policy := jobset.VolumeClaimPolicy{}
		for k := range 50 {
			claim := corev1.PersistentVolumeClaim{}
			claim.Name = fmt.Sprintf("v%d", i*50+k)
			policy.Templates = append(policy.Templates, claim)
		}
		js.Spec.VolumeClaimPolicies = append(js.Spec.VolumeClaimPolicies, policy)
	}
	for i := range js.Spec.ReplicatedJobs {
		containers := js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec.Containers
		for k := range containers {
			containers[k].VolumeMounts = []corev1.VolumeMount{{Name: fmt.Sprintf("v%d", (i*100+k)%2500), MountPath: "/v"}}
		}
	}
	return js
}

func largestRules() *jobset.JobSet {
	js := largestInPlace()
	js.Spec.FailurePolicy.RestartStrategy = jobset.Recreate
	for i := range 1000 {
		js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, largestJob(fmt.Sprintf("w%d", i), 1))
	}
	for r := range 100 {
		rule := jobset.FailurePolicyRule{Name: fmt.Sprintf("r%d", r), Action: jobset.RestartJob}
		for i := range 1000 {
			rule.TargetReplicatedJobs = append(rule.TargetReplicatedJobs, fmt.Sprintf("w%d", i))
		}
		js.Spec.FailurePolicy.Rules = append(js.Spec.FailurePolicy.Rules, rule)
	}
	return js
}
