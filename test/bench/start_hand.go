/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/placement"
	"sigs.k8s.io/jobset/pkg/webhooks"
)

const (
	benchNamespace = "bench"
	replicatedJob  = "workers"
)

// newJobSet is a JobSet as the defaulting webhook, which does not run here, would leave it.
func newJobSet(jobs int) *jobset.JobSet {
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	js := &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Name: "bench", Namespace: benchNamespace},
		Spec: jobset.JobSetSpec{ReplicatedJobs: []jobset.ReplicatedJob{{
			Name:     replicatedJob,
			Replicas: int32(jobs),
			Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
				Parallelism: ptr.To[int32](1),
				Completions: ptr.To[int32](1),
				Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name:      "worker",
					Image:     "worker",
					Args:      []string{"train"},
					Env:       []corev1.EnvVar{{Name: "LEVEL", Value: "info"}},
					Resources: corev1.ResourceRequirements{Requests: limits, Limits: limits},
				}}}},
			}},
		}}},
	}
	webhooks.Default(js, gates.Set{InPlaceRestart: true})
	return js
}

// What becomes of a Job, as the Job controller would write it.
const (
	activeState = "active"
	readyState  = "ready"
)

// hand plays the Job controller, one status update at each tick.
type hand struct {
	client client.Client
	tick   *time.Ticker
}

// writes the status of one Job as soon as the Job exists.
func (h *hand) writes(ctx context.Context, js *jobset.JobSet, index int, state string) error {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: js.Namespace, Name: placement.JobName(js.Name, replicatedJob, index)}}
	status := fmt.Sprintf(`{"status":{"active":1,"ready":0,"startTime":%q}}`, time.Now().UTC().Format(time.RFC3339))
	if state == readyState {
		status = `{"status":{"ready":1}}`
	}
	deadline := time.Now().Add(saysReady)
	for {
		select {
		case <-h.tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
		err := h.client.Status().Patch(ctx, job, client.RawPatch(types.MergePatchType, []byte(status)))
		if err == nil {
			return nil
		}
		if !apierrors.IsNotFound(err) || time.Now().After(deadline) {
			return fmt.Errorf("playing the Job controller: making Job %s %s: %w", job.Name, state, err)
		}
	}
}
