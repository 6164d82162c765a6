/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package placement has the names by which programs that use JobSet v0.12 find Jobs and Pods. In this repository, use pkg/placement.
package placement

import (
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/placement"
)

// GenJobName returns the name of the Job at an index of a ReplicatedJob.
func GenJobName(jobSet, replicatedJob string, jobIndex int) string {
	return placement.JobName(jobSet, replicatedJob, jobIndex)
}

// GenPodName returns the name of a Pod without its random suffix, which is its host name, too.
func GenPodName(jobSet, replicatedJob, jobIndex, podIndex string) string {
	return jobSet + "-" + replicatedJob + "-" + jobIndex + "-" + podIndex
}

// IsLeaderPod reports whether a Pod has completion index 0.
func IsLeaderPod(pod *corev1.Pod) bool { return facts.Leads(pod) }
