/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

func coordinator(js *jobset.JobSet, _ gates.Set) field.ErrorList {
	c := js.Spec.Coordinator
	if c == nil {
		return nil
	}
	var errs field.ErrorList
	for _, message := range []string{coordinatorPod(js, c), coordinatorAddress(js, c)} {
		if message != "" {
			errs = append(errs, plain(message))
		}
	}
	return errs
}

// coordinatorPod checks that the Pod exists. Each check needs the one before.
func coordinatorPod(js *jobset.JobSet, c *jobset.Coordinator) string {
	rj := findReplicatedJob(js, c.ReplicatedJob)
	if rj == nil {
		return fmt.Sprintf("coordinator replicatedJob %s does not exist", c.ReplicatedJob)
	}
	if c.JobIndex < 0 || c.JobIndex >= int(rj.Replicas) {
		return fmt.Sprintf("coordinator job index %d is invalid for replicatedJob %s", c.JobIndex, c.ReplicatedJob)
	}
	job := &rj.Template.Spec
	if !isIndexed(job) || job.Completions == nil {
		return "job for coordinator pod must be indexed completion mode, and completions number must be set"
	}
	if c.PodIndex < 0 || c.PodIndex >= int(*job.Completions) {
		return fmt.Sprintf("coordinator pod index %d is invalid for replicatedJob %s job index %d", c.PodIndex, c.ReplicatedJob, c.JobIndex)
	}
	return ""
}

// coordinatorAddress checks that the address is a valid label value: every Pod has it as a label.
func coordinatorAddress(js *jobset.JobSet, c *jobset.Coordinator) string {
	name := nameOf(js)
	domain := name
	if js.Spec.Network != nil && js.Spec.Network.Subdomain != "" {
		domain = js.Spec.Network.Subdomain
	}
	address := fmt.Sprintf("%s-%s-%d-%d.%s", name, c.ReplicatedJob, c.JobIndex, c.PodIndex, domain)
	if messages := validation.IsValidLabelValue(address); len(messages) > 0 {
		return fmt.Sprintf("spec will lead to invalid label value %q for label %q: %s", address, jobset.CoordinatorKey, strings.Join(messages, ", "))
	}
	return ""
}
