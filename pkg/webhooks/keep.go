/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Keep fills in what an update leaves out and a new JobSet gets from Default, so that what was applied can be applied again
// (W20a): kubectl apply and GitOps tools send lists of custom resources as they were written, without what was filled in.
//
// What a ReplicatedJob or the restart in place leaves out keeps its stored value. Other policies get their default again: taking
// one away that has another value remains a change, which is refused (W76). Stored JobSets of older versions that lack a default
// stay without. Gates do not matter: turning one off must not make a stored JobSet unlike its manifest. Keep is pure and never rejects.
func Keep(js, old *jobset.JobSet) {
	keepPolicies(&js.Spec, &old.Spec)
	inPlace := workerpod.WantsInPlace(js) && workerpod.WantsInPlace(old)
	if inPlace {
		keepMode(js.Spec.FailurePolicy, old.Spec.FailurePolicy)
	}
	eachStored(js, old, func(is, was *jobset.ReplicatedJob) {
		keepJob(&is.Template.Spec, &was.Template.Spec)
		keepAffinity(&is.Template.Spec.Template.Spec, &was.Template.Spec.Template.Spec)
		if inPlace {
			keep(&is.Template.Spec.BackoffLimit, was.Template.Spec.BackoffLimit)
			keep(&is.Template.Spec.PodReplacementPolicy, was.Template.Spec.PodReplacementPolicy)
		}
		if inPlace || is.Elastic != nil && was.Elastic != nil {
			keepSize(&is.Template.Spec, &was.Template.Spec)
		}
	})
}

func keepPolicies(is, was *jobset.JobSetSpec) {
	refill(&is.SuccessPolicy, was.SuccessPolicy, jobset.SuccessPolicy{Operator: jobset.DefaultSuccessPolicyOperator})
	refill(&is.StartupPolicy, was.StartupPolicy, jobset.StartupPolicy{StartupPolicyOrder: jobset.DefaultStartupPolicyOrder})
	refill(&is.Network, was.Network, jobset.Network{})
	if was.Network != nil {
		refill(&is.Network.EnableDNSHostnames, was.Network.EnableDNSHostnames, jobset.DefaultEnableDNSHostnames)
		refill(&is.Network.PublishNotReadyAddresses, was.Network.PublishNotReadyAddresses, jobset.DefaultPublishNotReadyAddresses)
	}
	if is.FailurePolicy != nil && was.FailurePolicy != nil && len(is.FailurePolicy.Rules) == len(was.FailurePolicy.Rules) {
		for i := range is.FailurePolicy.Rules {
			is.FailurePolicy.Rules[i].Name = cmp.Or(is.FailurePolicy.Rules[i].Name, was.FailurePolicy.Rules[i].Name)
		}
	}
	for i := range min(len(is.VolumeClaimPolicies), len(was.VolumeClaimPolicies)) {
		refill(&is.VolumeClaimPolicies[i].RetentionPolicy, was.VolumeClaimPolicies[i].RetentionPolicy,
			jobset.VolumeRetentionPolicy{WhenDeleted: ptr.To(jobset.DefaultRetentionPolicy)})
	}
}

// eachStored calls a function for each ReplicatedJob that is stored under its name; once, since the schema has yet to refuse two
// of one name, and copies of what is stored would have no bound (W140).
func eachStored(js, old *jobset.JobSet, do func(is, was *jobset.ReplicatedJob)) {
	stored := map[string]*jobset.ReplicatedJob{}
	for i := range old.Spec.ReplicatedJobs {
		stored[old.Spec.ReplicatedJobs[i].Name] = &old.Spec.ReplicatedJobs[i]
	}
	for i := range js.Spec.ReplicatedJobs {
		if was := stored[js.Spec.ReplicatedJobs[i].Name]; was != nil {
			do(&js.Spec.ReplicatedJobs[i], was)
			delete(stored, was.Name)
		}
	}
}

// keepMode leaves alone JobSets of older versions, which name no mode (P59).
func keepMode(is, was *jobset.FailurePolicy) {
	if was.InPlaceRestart == nil || was.InPlaceRestart.Mode == "" {
		return
	}
	setDefault(&is.InPlaceRestart, jobset.InPlaceRestartPolicy{})
	is.InPlaceRestart.Mode = cmp.Or(is.InPlaceRestart.Mode, was.InPlaceRestart.Mode)
	keep(&is.InPlaceRestart.StopGracePeriodSeconds, was.InPlaceRestart.StopGracePeriodSeconds)
}

// keepJob leaves a template without containers, which most likely is missing, for the schema to refuse (W31).
func keepJob(is, was *batchv1.JobSpec) {
	if len(is.Template.Spec.Containers) == 0 {
		return
	}
	keep(&is.CompletionMode, was.CompletionMode)
	is.Template.Spec.RestartPolicy = cmp.Or(is.Template.Spec.RestartPolicy, was.Template.Spec.RestartPolicy)
}

// keepSize gives a Job whose size an update leaves out the size that it has: whoever replaces a JobSet with its manifest takes
// nothing back that was given since.
func keepSize(is, was *batchv1.JobSpec) {
	if is.Completions == nil && is.Parallelism == nil {
		keep(&is.Completions, was.Completions)
		keep(&is.Parallelism, was.Parallelism)
	} else {
		workerpod.DefaultSize(is, 1) // one of the two says how many workers there are to be
	}
}

// keep gives an absent field its stored value.
func keep[T any](field **T, stored *T) {
	if stored != nil {
		setDefault(field, *stored)
	}
}

// refill gives an absent field its default, if the stored JobSet has a value.
func refill[T any](field **T, stored *T, value T) {
	if stored != nil {
		setDefault(field, value)
	}
}
