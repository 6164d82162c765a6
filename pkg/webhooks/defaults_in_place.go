/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"cmp"

	batchv1 "k8s.io/api/batch/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// defaultInPlace fills in what the strategy wants of every Job and can only be one way (P51).
func defaultInPlace(js *jobset.JobSet) {
	defaultMode(js)
	for i := range js.Spec.ReplicatedJobs {
		workerpod.DefaultJob(&js.Spec.ReplicatedJobs[i].Template.Spec)
	}
}

// defaultMode says what starts again in the Pods (P60), so that a later version of the manager chooses nothing else.
func defaultMode(js *jobset.JobSet) {
	setDefault(&js.Spec.FailurePolicy.InPlaceRestart, jobset.InPlaceRestartPolicy{})
	policy := js.Spec.FailurePolicy.InPlaceRestart
	if policy.Mode == "" {
		policy.Mode, _ = workerpod.DefaultMode(js)
	}
	if policy.Mode == jobset.ProcessMode {
		setDefault(&policy.StopGracePeriodSeconds, jobset.DefaultStopGracePeriodSeconds)
	}
}

// defaultProgress gives a JobSet in process mode that names no deadlines those of the configuration (P121). A stored JobSet
// gets them only if it had some: its program may give no signs.
func defaultProgress(js, old *jobset.JobSet, g gates.Set, configured *jobset.ProgressPolicy) {
	runsProcesses := workerpod.RestartsInPlace(js, g) && workerpod.ModeOf(js.Spec.FailurePolicy) == jobset.ProcessMode
	if configured != nil && runsProcesses && (old == nil || workerpod.ProgressOf(old.Spec.FailurePolicy) != nil) {
		setDefault(&js.Spec.FailurePolicy.InPlaceRestart.Progress, *configured.DeepCopy())
	}
}

// Keep gives fields that an update leaves out, and that have defaults, their
// stored values, so that a full replace from the original manifest of a JobSet
// that restarts in place changes nothing. Like Default it is pure and never rejects.
func Keep(js, old *jobset.JobSet, g gates.Set) {
	keepElastic(js, old, g)
	if !workerpod.RestartsInPlace(js, g) || !workerpod.RestartsInPlace(old, g) {
		return
	}
	is, was := &js.Spec, &old.Spec
	keep(&is.SuccessPolicy, was.SuccessPolicy)
	keep(&is.StartupPolicy, was.StartupPolicy)
	keep(&is.Network, was.Network)
	if was.Network != nil {
		keep(&is.Network.EnableDNSHostnames, was.Network.EnableDNSHostnames)
		keep(&is.Network.PublishNotReadyAddresses, was.Network.PublishNotReadyAddresses)
	}
	keepMode(is.FailurePolicy, was.FailurePolicy)
	if len(is.FailurePolicy.Rules) == len(was.FailurePolicy.Rules) {
		for i := range is.FailurePolicy.Rules {
			is.FailurePolicy.Rules[i].Name = cmp.Or(is.FailurePolicy.Rules[i].Name, was.FailurePolicy.Rules[i].Name)
		}
	}
	if len(is.VolumeClaimPolicies) == len(was.VolumeClaimPolicies) {
		for i := range is.VolumeClaimPolicies {
			keep(&is.VolumeClaimPolicies[i].RetentionPolicy, was.VolumeClaimPolicies[i].RetentionPolicy)
		}
	}
	eachStored(js, old, func(is, was *jobset.ReplicatedJob) { keepJob(&is.Template.Spec, &was.Template.Spec) })
}

// eachStored calls a function for each ReplicatedJob that is stored under its name.
func eachStored(js, old *jobset.JobSet, do func(is, was *jobset.ReplicatedJob)) {
	stored := map[string]*jobset.ReplicatedJob{}
	for i := range old.Spec.ReplicatedJobs {
		stored[old.Spec.ReplicatedJobs[i].Name] = &old.Spec.ReplicatedJobs[i]
	}
	for i := range js.Spec.ReplicatedJobs {
		if was := stored[js.Spec.ReplicatedJobs[i].Name]; was != nil {
			do(&js.Spec.ReplicatedJobs[i], was)
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

func keepJob(is, was *batchv1.JobSpec) {
	keep(&is.BackoffLimit, was.BackoffLimit)
	keep(&is.PodReplacementPolicy, was.PodReplacementPolicy)
	keep(&is.CompletionMode, was.CompletionMode)
	is.Template.Spec.RestartPolicy = cmp.Or(is.Template.Spec.RestartPolicy, was.Template.Spec.RestartPolicy)
	keepSize(is, was)
}

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
