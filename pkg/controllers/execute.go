/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controllers

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/policy"
)

// execute makes the changes of a plan, in the order of its fields. The first
// step that fails ends it; the next pass starts over from what there is.
func (r *JobSetReconciler) execute(ctx context.Context, js *jobset.JobSet, plan *policy.Plan) error {
	if err := each(plan.DeleteJobs, func(job *batchv1.Job) error { return r.deleteJob(ctx, job) }); err != nil {
		return err
	}
	for _, deletion := range plan.DeletePods {
		if err := each(deletion.Pods, func(pod *corev1.Pod) error { return r.deletePod(ctx, pod, deletion.Force) }); err != nil {
			return err
		}
		r.tell(js, deletion.Event)
	}
	if plan.CreateService != nil {
		if err := r.createService(ctx, js, plan.CreateService); err != nil {
			return err
		}
	}
	if err := each(plan.CreateClaims, func(claim *corev1.PersistentVolumeClaim) error { return r.createClaim(ctx, claim) }); err != nil {
		r.tellTrouble(js, constants.PVCCreationFailedReason, err)
		return err
	}
	if err := each(plan.ScaleJobs, func(scale policy.Scale) error { return r.scaleJob(ctx, scale) }); err != nil {
		return err
	}
	for _, batch := range plan.CreateJobs {
		if err := each(batch, func(job *batchv1.Job) error { return r.createJob(ctx, js, job) }); err != nil {
			r.tellTrouble(js, constants.JobCreationFailedReason, err)
			return err
		}
	}
	if err := each(plan.SuspendJobs, func(job *batchv1.Job) error { return r.suspendJob(ctx, job) }); err != nil {
		return err
	}
	if err := each(plan.ResumeJobs, func(resume policy.Resume) error { return r.resumeJob(ctx, resume) }); err != nil {
		return err
	}
	if plan.DeleteJobSet {
		return r.deleteJobSet(ctx, js)
	}
	return nil
}

// each calls do for all items, some at a time, and joins the errors.
func each[T any](items []T, do func(T) error) error {
	errs := make([]error, len(items))
	var group errgroup.Group
	group.SetLimit(constants.MaxParallelism)
	for i, item := range items {
		group.Go(func() error {
			errs[i] = do(item)
			return nil
		})
	}
	_ = group.Wait() // the errors are in errs
	return errors.Join(errs...)
}

func (r *JobSetReconciler) deleteJob(ctx context.Context, job *batchv1.Job) error {
	err := r.client.Delete(ctx, job.DeepCopy(),
		client.PropagationPolicy(metav1.DeletePropagationForeground),
		client.Preconditions{UID: &job.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting Job %s: %w", klog.KObj(job), err)
	}
	return nil
}

// deletePod deletes a worker Pod that keeps its group waiting, unless it changed
// since it was looked at: then it may have reported.
func (r *JobSetReconciler) deletePod(ctx context.Context, pod *corev1.Pod, force bool) error {
	options := []client.DeleteOption{client.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion}}
	if force {
		options = append(options, client.GracePeriodSeconds(0))
	}
	err := r.client.Delete(ctx, pod.DeepCopy(), options...)
	if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("deleting Pod %s, for which its group waits: %w", klog.KObj(pod), err)
	}
	return nil
}

func (r *JobSetReconciler) deleteJobSet(ctx context.Context, js *jobset.JobSet) error {
	err := r.client.Delete(ctx, js.DeepCopy(),
		client.PropagationPolicy(metav1.DeletePropagationForeground),
		client.Preconditions{UID: &js.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting JobSet %s, whose time to live is over: %w", klog.KObj(js), err)
	}
	return nil
}

func (r *JobSetReconciler) createService(ctx context.Context, js *jobset.JobSet, service *corev1.Service) error {
	err := r.client.Create(ctx, service)
	if err == nil || apierrors.IsAlreadyExists(err) {
		return nil // whoever made it, a Service of that name is left alone
	}
	r.tellTrouble(js, constants.HeadlessServiceCreationFailedReason, err)
	return fmt.Errorf("creating Service %s: %w", klog.KObj(service), err)
}

// createClaim creates a PersistentVolumeClaim, unless one of that name exists, whoever made it.
func (r *JobSetReconciler) createClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	if err := r.client.Create(ctx, claim); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating PersistentVolumeClaim %s: %w", klog.KObj(claim), err)
	}
	return nil
}

func (r *JobSetReconciler) scaleJob(ctx context.Context, scale policy.Scale) error {
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"spec":{"parallelism":%d,"completions":%d}}`, scale.Workers, scale.Workers))
	if err := r.client.Patch(ctx, scale.Job.DeepCopy(), patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("scaling Job %s to %d Pods: %w", klog.KObj(scale.Job), scale.Workers, err)
	}
	return nil
}

// createJob creates a Job. That it exists already is fine if it is this
// JobSet's: the cache had not shown it yet.
func (r *JobSetReconciler) createJob(ctx context.Context, js *jobset.JobSet, job *batchv1.Job) error {
	err := r.client.Create(ctx, job)
	if apierrors.IsAlreadyExists(err) && r.isOwn(ctx, js, job) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("job %q creation failed with error: %w", job.Name, err)
	}
	return nil
}

func (r *JobSetReconciler) isOwn(ctx context.Context, js *jobset.JobSet, job *batchv1.Job) bool {
	existing := &batchv1.Job{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(job), existing); err != nil {
		return false
	}
	return metav1.IsControlledBy(existing, js)
}

func (r *JobSetReconciler) suspendJob(ctx context.Context, job *batchv1.Job) error {
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":true}}`))
	if err := r.client.Patch(ctx, job.DeepCopy(), patch); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("suspending Job %s: %w", klog.KObj(job), err)
	}
	return nil
}

// resumeJob lets a Job run. A template may change only while the Job has no
// start time, so that is reset first where it has to be.
func (r *JobSetReconciler) resumeJob(ctx context.Context, resume policy.Resume) error {
	if resume.ResetStartTime {
		patch := client.RawPatch(types.MergePatchType, []byte(`{"status":{"startTime":null}}`))
		if err := r.client.Status().Patch(ctx, resume.From.DeepCopy(), patch); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("resetting the start time of Job %s to resume it: %w", klog.KObj(resume.From), err)
		}
	}
	if err := r.client.Patch(ctx, resume.Job, client.MergeFrom(resume.From)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("resuming Job %s: %w", klog.KObj(resume.From), err)
	}
	return nil
}
