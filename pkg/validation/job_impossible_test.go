/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// TestCreateImpossibleJobs: what the API server would refuse in every Job.
func TestCreateImpossibleJobs(t *testing.T) {
	const (
		atJob       = "spec.replicatedJobs[0].template.spec"
		atPod       = atJob + ".template.spec"
		atContainer = atPod + ".containers[0]"
	)
	ofJob := func(change func(job *batchv1.JobSpec)) func(js *jobset.JobSet) {
		return func(js *jobset.JobSet) { change(job(js, 0)) }
	}
	ofContainer := func(change func(c *corev1.Container)) func(js *jobset.JobSet) {
		return func(js *jobset.JobSet) { change(&pod(js, 0).Containers[0]) }
	}
	red := map[string]string{"team": "red"}
	list := func(cpu string) corev1.ResourceList {
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	runCreate(t, plainJobSet, map[string]createCase{
		"W13a: a selector": {
			mut: ofJob(func(j *batchv1.JobSpec) {
				j.Selector, j.Template.Labels = &metav1.LabelSelector{MatchLabels: red}, red
			}),
			want: []violation{invalid(atJob+".selector", "refuses every Job with another: remove it")},
		},
		"W13a: a selector that says nothing": {mut: ofJob(func(j *batchv1.JobSpec) { j.Selector = &metav1.LabelSelector{} })},
		"W13a: a selector that cannot be read": {
			mut: ofJob(func(j *batchv1.JobSpec) {
				j.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "Like"}}}
			}),
			want: []violation{invalid(atJob+".selector", "remove it")},
		},
		"W13a: a selector by hand, of its own Pods": {mut: ofJob(func(j *batchv1.JobSpec) {
			j.ManualSelector, j.Selector, j.Template.Labels = ptr.To(true), &metav1.LabelSelector{MatchLabels: red}, red
		})},
		"W13a: a selector by hand, of others": {
			mut: ofJob(func(j *batchv1.JobSpec) {
				j.ManualSelector, j.Selector = ptr.To(true), &metav1.LabelSelector{MatchLabels: red}
			}),
			want: []violation{invalid(atJob+".selector", "must select the labels of the Pod template")},
		},
		"W13a: by hand, without a selector": {
			mut:  ofJob(func(j *batchv1.JobSpec) { j.ManualSelector = ptr.To(true) }),
			want: []violation{required(atJob+".selector", "remove manualSelector")},
		},
		"W13a: labels that Kubernetes sets": {
			mut: ofJob(func(j *batchv1.JobSpec) {
				j.Template.Labels = map[string]string{"controller-uid": "x", "batch.kubernetes.io/job-name": "other", "job-name": "js-leader-0"}
			}),
			want: []violation{
				invalid(atJob+".template.metadata.labels[batch.kubernetes.io/job-name]", "to the name of each Job: remove it"),
				invalid(atJob+".template.metadata.labels[controller-uid]", "to the UID of each Job: remove it"),
			},
		},
		"W13a: numbers below their minimum": {
			mut: ofJob(func(j *batchv1.JobSpec) {
				j.BackoffLimit, j.BackoffLimitPerIndex, j.MaxFailedIndexes = ptr.To[int32](-1), ptr.To[int32](-2), ptr.To[int32](-3)
				j.TTLSecondsAfterFinished, j.ActiveDeadlineSeconds = ptr.To[int32](-4), ptr.To[int64](-5)
				j.Template.Spec.ActiveDeadlineSeconds, j.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](0), ptr.To[int64](-6)
			}),
			want: []violation{
				invalid(atJob+".backoffLimit", "must be >= 0"), invalid(atJob+".backoffLimitPerIndex", "must be >= 0"),
				invalid(atJob+".ttlSecondsAfterFinished", "must be >= 0"), invalid(atJob+".maxFailedIndexes", "must be >= 0"),
				invalid(atJob+".activeDeadlineSeconds", "must be >= 0"), invalid(atPod+".activeDeadlineSeconds", "must be >= 1"),
				invalid(atPod+".terminationGracePeriodSeconds", "must be >= 0"),
			},
		},
		"W13a: zeros": {mut: ofJob(func(j *batchv1.JobSpec) {
			j.BackoffLimit, j.BackoffLimitPerIndex, j.MaxFailedIndexes = ptr.To[int32](0), ptr.To[int32](0), ptr.To[int32](0)
			j.ActiveDeadlineSeconds, j.Template.Spec.TerminationGracePeriodSeconds = ptr.To[int64](0), ptr.To[int64](0)
		})},
		"W13a: failed indexes without a limit of each": {
			mut:  ofJob(func(j *batchv1.JobSpec) { j.MaxFailedIndexes = ptr.To[int32](1) }),
			want: []violation{required(atJob+".backoffLimitPerIndex", "a Job with maxFailedIndexes needs it")},
		},
		"W13a: a limit of each index without indexes": {
			mut: ofJob(func(j *batchv1.JobSpec) {
				j.BackoffLimitPerIndex, j.CompletionMode = ptr.To[int32](1), ptr.To(batchv1.NonIndexedCompletion)
			}),
			want: []violation{invalid(atJob+".backoffLimitPerIndex", "needs completionMode Indexed")},
		},
		"W13a: a mount without a volume": {
			mut: ofContainer(func(c *corev1.Container) {
				c.VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
			}),
			want: []violation{invalid(atContainer+".volumeMounts[0].name", "the Pod template has no such volume")},
		},
		"W13a W2: of many mounts without a volume, ten": {
			mut: ofContainer(func(c *corev1.Container) {
				c.VolumeMounts = slices.Repeat([]corev1.VolumeMount{{Name: "data", MountPath: "/data"}}, 10_000)
			}),
			want: func() (ten []violation) {
				for k := range 10 {
					ten = append(ten, invalid(fmt.Sprintf("%s.volumeMounts[%d].name", atContainer, k), "the Pod template has no such volume"))
				}
				return ten
			}(),
		},
		"W13a: a mount with a volume": {mut: func(js *jobset.JobSet) {
			pod(js, 0).Volumes = []corev1.Volume{{Name: "data"}}
			pod(js, 0).Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
		}},
		"W13a: a request above its limit": {
			mut:  ofContainer(func(c *corev1.Container) { c.Resources.Requests, c.Resources.Limits = list("2"), list("1500m") }),
			want: []violation{invalid(atContainer+".resources.requests[cpu]", "must not be above the limit of 1500m")},
		},
		"W13a: a request below its limit": {mut: ofContainer(func(c *corev1.Container) { c.Resources.Requests, c.Resources.Limits = list("1"), list("1500m") })},
		"W13a: a negative request": {
			mut:  ofContainer(func(c *corev1.Container) { c.Resources.Requests = list("-1") }),
			want: []violation{invalid(atContainer+".resources.requests[cpu]", "must not be negative")},
		},
	})
}
