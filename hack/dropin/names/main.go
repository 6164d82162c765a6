/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Command names uses what programs written for JobSet v0.12 import, beside the API and its clients, and ends with 1 if a value
// is not what they expect (P125a).
package main

import (
	"fmt"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"

	config "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/util/collections"
	"sigs.k8s.io/jobset/pkg/util/placement"
)

// Programs embed the configuration of the manager in their own.
var _ = config.Configuration{ControllerManager: config.ControllerManager{
	Webhook: config.ControllerWebhook{Host: "localhost"},
	Metrics: config.ControllerMetrics{BindAddress: ":8443"},
	Health:  config.ControllerHealth{HealthProbeBindAddress: ":8081"},
}}

func main() {
	leader := &corev1.Pod{}
	leader.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": "0"}
	schemas := jobset.GetOpenAPIDefinitions(func(path string) spec.Ref { return spec.MustCreateRef(path) })
	_, known := schemas["sigs.k8s.io/jobset/api/jobset/v1alpha2.JobSet"]
	for what, holds := range map[string]bool{
		"GenJobName":            placement.GenJobName("js", "workers", 1) == "js-workers-1",
		"GenPodName":            placement.GenPodName("js", "workers", "1", "2") == "js-workers-1-2",
		"IsLeaderPod":           placement.IsLeaderPod(leader),
		"MergeMaps":             collections.MergeMaps(map[string]int{"a": 1}, map[string]int{"a": 2})["a"] == 2,
		"MergeSlices":           len(collections.MergeSlices([]string{"a"}, []string{"a", "b"})) == 2,
		"GetOpenAPIDefinitions": known,
	} {
		if !holds {
			fmt.Fprintln(os.Stderr, what, "does not do what it did")
			defer os.Exit(1)
		}
	}
}
