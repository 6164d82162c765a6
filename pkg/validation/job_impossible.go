/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// The rules of this file are about what makes every Job of a template invalid, so that a JobSet would run
// without one (W13a). They are those of the mistakes that people make; the others the API server finds when a Job is created.

// jobSelector refuses selectors and labels that the API server sets on each Job itself.
func jobSelector(js *jobset.JobSet, i int) field.ErrorList {
	job, path := jobSpec(js, i), jobPath(i)
	if ptr.Deref(job.ManualSelector, false) {
		return manualSelector(job, path)
	}
	var errs field.ErrorList
	if own, err := metav1.LabelSelectorAsSelector(job.Selector); job.Selector != nil && (err != nil || !own.Matches(labels.Set{batchv1.ControllerUidLabel: "uid"})) {
		errs = append(errs, field.Invalid(path.Child("selector"), noValue,
			"Kubernetes gives each Job a selector of its own and refuses every Job with another: remove it; the labels of the Pod template stay"))
	}
	set := path.Child("template", "metadata", "labels")
	only := placement.JobName(js.Name, js.Spec.ReplicatedJobs[i].Name, 0)
	for _, key := range slices.Sorted(maps.Keys(job.Template.Labels)) {
		switch value := job.Template.Labels[key]; key {
		case batchv1.ControllerUidLabel, "controller-uid":
			errs = append(errs, field.Invalid(set.Key(key), value, "Kubernetes sets this label to the UID of each Job: remove it"))
		case batchv1.JobNameLabel, "job-name":
			if value != only || js.Spec.ReplicatedJobs[i].Replicas > 1 {
				errs = append(errs, field.Invalid(set.Key(key), value, "Kubernetes sets this label to the name of each Job: remove it"))
			}
		}
	}
	return errs
}

func manualSelector(job *batchv1.JobSpec, path *field.Path) field.ErrorList {
	if job.Selector == nil {
		return field.ErrorList{field.Required(path.Child("selector"), "a Job with manualSelector needs one: remove manualSelector")}
	}
	if own, err := metav1.LabelSelectorAsSelector(job.Selector); err != nil || !own.Matches(labels.Set(job.Template.Labels)) {
		return field.ErrorList{field.Invalid(path.Child("selector"), noValue,
			"must select the labels of the Pod template: remove selector and manualSelector, and Kubernetes sets both")}
	}
	return nil
}

// jobNumbers refuses numbers below their minimum (W13a, W141), and numbers without what they are about.
func jobNumbers(js *jobset.JobSet, i int) field.ErrorList {
	job, path := jobSpec(js, i), jobPath(i)
	var errs field.ErrorList
	atLeast := func(path *field.Path, value *int64, least int64) {
		if value != nil && *value < least {
			errs = append(errs, field.Invalid(path, *value, fmt.Sprintf("must be >= %d", least)))
		}
	}
	if js.Spec.ReplicatedJobs[i].Elastic == nil { // whose size has rules of its own
		atLeast(path.Child("parallelism"), wide(job.Parallelism), 0)
		atLeast(path.Child("completions"), wide(job.Completions), 0)
	}
	if !workerpod.WantsInPlace(js) { // which demands one value (W48)
		atLeast(path.Child("backoffLimit"), wide(job.BackoffLimit), 0)
		atLeast(path.Child("backoffLimitPerIndex"), wide(job.BackoffLimitPerIndex), 0)
		atLeast(path.Child("ttlSecondsAfterFinished"), wide(job.TTLSecondsAfterFinished), 0)
	}
	atLeast(path.Child("maxFailedIndexes"), wide(job.MaxFailedIndexes), 0)
	atLeast(path.Child("activeDeadlineSeconds"), job.ActiveDeadlineSeconds, 0)
	atLeast(podPath(i).Child("activeDeadlineSeconds"), job.Template.Spec.ActiveDeadlineSeconds, 1)
	atLeast(podPath(i).Child("terminationGracePeriodSeconds"), job.Template.Spec.TerminationGracePeriodSeconds, 0)
	if job.MaxFailedIndexes != nil && job.BackoffLimitPerIndex == nil && !workerpod.WantsInPlace(js) { // which takes neither (P41)
		errs = append(errs, field.Required(path.Child("backoffLimitPerIndex"), "a Job with maxFailedIndexes needs it: set it, or remove maxFailedIndexes"))
	}
	if job.BackoffLimitPerIndex != nil && !isIndexed(job) {
		errs = append(errs, field.Invalid(path.Child("backoffLimitPerIndex"), *job.BackoffLimitPerIndex, "needs completionMode Indexed: set it, or use backoffLimit"))
	}
	return errs
}

func wide(n *int32) *int64 {
	if n == nil {
		return nil
	}
	return ptr.To(int64(*n))
}

// podParts refuses a Pod template with mounts without a volume, and with requests above their limit. Volumes that are made from
// claims, or added where workers restart in place, are not known here: there the API server finds such mounts.
func podParts(js *jobset.JobSet, i int) field.ErrorList {
	spec := podSpec(js, i)
	known := len(js.Spec.VolumeClaimPolicies) == 0 && !workerpod.WantsInPlace(js)
	volumes := sets.New[string]()
	for k := range spec.Volumes {
		volumes.Insert(spec.Volumes[k].Name)
	}
	var errs field.ErrorList
	for at, c := range containersOf(js, i) {
		if known {
			errs = append(errs, mounts(at().Child("volumeMounts"), c, volumes)...)
		}
		errs = append(errs, requests(at().Child("resources", "requests"), c)...)
		if len(errs) >= mostOfAList {
			return errs[:mostOfAList]
		}
	}
	return errs
}

func mounts(path *field.Path, c *corev1.Container, volumes sets.Set[string]) field.ErrorList {
	var errs field.ErrorList
	for k := range c.VolumeMounts {
		if name := c.VolumeMounts[k].Name; !volumes.Has(name) {
			errs = append(errs, field.Invalid(path.Index(k).Child("name"), name, "the Pod template has no such volume: add it to volumes, or remove the mount"))
		}
	}
	return errs
}

func requests(path *field.Path, c *corev1.Container) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(c.Resources.Requests)) {
		request := c.Resources.Requests[name]
		if limit, limited := c.Resources.Limits[name]; limited && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)), request.String(), fmt.Sprintf("must not be above the limit of %s", limit.String())))
		} else if request.Sign() < 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)), request.String(), "must not be negative"))
		}
	}
	return errs
}
