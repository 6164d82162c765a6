/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package compare is the pure part of `kubectl jobset compare` (P128): what is run, when it runs again, and what that
// took. The command does the rest.
package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// Strategy is a way to restart a group.
type Strategy struct {
	Restart jobset.JobSetRestartStrategy
	// Mode is empty unless Restart is InPlaceRestart.
	Mode jobset.InPlaceRestartMode
}

// Strategies are compared in this order.
var Strategies = []Strategy{{jobset.InPlaceRestart, jobset.ProcessMode}, {jobset.InPlaceRestart, jobset.ContainerMode}, {Restart: jobset.Recreate}}

func (s Strategy) String() string {
	return strings.TrimSpace(string(s.Restart) + " " + string(s.Mode))
}

func (s Strategy) inPlace() bool { return s.Restart == jobset.InPlaceRestart }

// Copy returns the JobSet of a manifest under another name and with this strategy, and with enough restarts for this many
// failures and as many unplanned ones. With Recreate the first failure of a Pod fails its Job: else the kubelet or
// the Job controller would start that worker alone, and the group would not restart.
func (s Strategy) Copy(js *jobset.JobSet, name string, failures int32) *jobset.JobSet {
	c := js.DeepCopy()
	c.Status = jobset.JobSetStatus{}
	c.ObjectMeta = metav1.ObjectMeta{Name: name, Namespace: js.Namespace, Labels: c.Labels, Annotations: c.Annotations}
	delete(c.Annotations, corev1.LastAppliedConfigAnnotation)
	c.Spec.Suspend = nil
	if c.Spec.FailurePolicy == nil {
		c.Spec.FailurePolicy = &jobset.FailurePolicy{}
		if c.Spec.FaultTolerance != nil {
			c.Spec.FaultTolerance.RetryLimit = nil // the same limit under another name, which admission refuses beside it
		}
	}
	policy := c.Spec.FailurePolicy
	policy.RestartStrategy, policy.MaxRestarts = s.Restart, max(policy.MaxRestarts, 2*failures)
	if !s.inPlace() {
		policy.InPlaceRestart = nil
	} else {
		if policy.InPlaceRestart == nil {
			policy.InPlaceRestart = &jobset.InPlaceRestartPolicy{}
		}
		if written := policy.InPlaceRestart; s.Mode == jobset.ContainerMode { // the rest is refused there
			policy.InPlaceRestart = &jobset.InPlaceRestartPolicy{RecreatePodOnExitCodes: written.RecreatePodOnExitCodes, Environment: written.Environment}
		}
		policy.InPlaceRestart.Mode = s.Mode
	}
	for i := range c.Spec.ReplicatedJobs {
		job := &c.Spec.ReplicatedJobs[i].Template.Spec
		if job.BackoffLimit = nil; !s.inPlace() { // admission fills in what restarts in place need
			recreated(job)
		}
	}
	return c
}

// recreated changes a Job that may have been written for restarts in place, of which admission completes what is left out.
func recreated(job *batchv1.JobSpec) {
	job.BackoffLimit = ptr.To[int32](0)
	job.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	indexed := ptr.Deref(job.CompletionMode, batchv1.IndexedCompletion) == batchv1.IndexedCompletion
	if job.Completions == nil && job.Parallelism != nil && indexed {
		job.Completions = ptr.To(*job.Parallelism)
	}
}

// Allow is what a user lets copies share with the original.
type Allow struct{ Queue, Claims bool }

// Refusals say why a JobSet is not compared, each with the flag that allows it.
func Refusals(js *jobset.JobSet, allow Allow) []string {
	var refusals []string
	if by := ptr.Deref(js.Spec.ManagedBy, jobset.JobSetControllerName); by != jobset.JobSetControllerName {
		refusals = append(refusals, fmt.Sprintf("spec.managedBy is %s: another controller restarts it, by its own rules", by))
	}
	if queue := js.Labels[constants.QueueNameKey]; queue != "" && !allow.Queue {
		refusals = append(refusals, fmt.Sprintf("label %s is %s: its copies would wait in that queue and use its quota; --allow-queue allows it", constants.QueueNameKey, queue))
	}
	if claims := claimsOf(js); len(claims) > 0 && !allow.Claims {
		refusals = append(refusals, fmt.Sprintf("it uses claims (%s): its copies would write to the same volumes, or leave claims behind; --allow-claims allows it", strings.Join(claims, ", ")))
	}
	return refusals
}

// claimsOf names the claims that Pods of a copy would use.
func claimsOf(js *jobset.JobSet) []string {
	claims := map[string]bool{}
	for i := range js.Spec.ReplicatedJobs {
		pod := &js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec
		for j := range pod.Volumes {
			if claim := pod.Volumes[j].PersistentVolumeClaim; claim != nil {
				claims["PersistentVolumeClaim "+claim.ClaimName] = true
			}
		}
		for _, claim := range pod.ResourceClaims {
			if claim.ResourceClaimName != nil {
				claims["ResourceClaim "+*claim.ResourceClaimName] = true
			}
		}
	}
	for i := range js.Spec.VolumeClaimPolicies {
		for j := range js.Spec.VolumeClaimPolicies[i].Templates {
			claims["template "+js.Spec.VolumeClaimPolicies[i].Templates[j].Name] = true
		}
	}
	return slices.Sorted(maps.Keys(claims))
}

// Warnings say what may be different in a copy: a program that was told the names of Pods or Services by hand looks
// for those of the original.
func Warnings(js *jobset.JobSet) []string {
	var warnings []string
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		for j := range rjob.Template.Spec.Template.Spec.Containers {
			container := &rjob.Template.Spec.Template.Spec.Containers[j]
			texts := slices.Concat(container.Command, container.Args)
			for _, variable := range container.Env {
				texts = append(texts, variable.Value)
			}
			if js.Name != "" && slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, js.Name+"-"+rjob.Name) }) {
				warnings = append(warnings, fmt.Sprintf("container %s of ReplicatedJob %s gets a name that begins with %s-%s; Pods of the copies have other names",
					container.Name, rjob.Name, js.Name, rjob.Name))
			}
		}
	}
	return warnings
}
