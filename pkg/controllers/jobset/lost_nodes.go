/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
)

// errCameBack: the worker reported, moved or ended after it was decided on.
var errCameBack = errors.New("the worker came back")

// replaceLost ends the Pod of a worker on a lost node (P174). It is Failed before it is deleted: the Job controller waits for Pods that
// count as running, and counts its wait from when the Pod was not Ready any more. The Pod, and
// the Lease in which its agent may have reported, are read past the cache just before, and the write has the version that was read: one that came back stays.
func (r *JobSetReconciler) replaceLost(ctx context.Context, js *jobset.JobSet, op *policy.Op) error {
	pod, fresh := op.Pod, &corev1.Pod{}
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error { // the Job controller writes in between
		if err := r.live.Get(ctx, client.ObjectKeyFromObject(pod), fresh); err != nil {
			return err
		}
		back, err := r.cameBack(ctx, fresh, op)
		if err != nil {
			return err
		}
		if back {
			return errCameBack
		}
		return r.markLost(ctx, fresh, op.Since)
	})
	switch {
	case errors.Is(err, errCameBack) || apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("marking Pod %s, whose node is lost, as Failed: %w", klog.KObj(pod), err)
	}
	err = r.client.Delete(ctx, &corev1.Pod{ObjectMeta: named(pod)}, client.GracePeriodSeconds(0), client.Preconditions{UID: &pod.UID})
	if err != nil {
		return ignoreChanged(fmt.Errorf("deleting Pod %s, whose node is lost: %w", klog.KObj(pod), err))
	}
	r.memory.forJobSet(js).deleted.add(client.ObjectKeyFromObject(pod).String(), r.clock.Now())
	shared.Wrote(ctx, "Replaced a Pod", constants.WorkerOnLostNodeReason, "pod", klog.KObj(pod), "node", fresh.Spec.NodeName)
	return nil
}

// cameBack reports whether the worker is not lost any more, or is another one.
func (r *JobSetReconciler) cameBack(ctx context.Context, fresh *corev1.Pod, op *policy.Op) (bool, error) {
	pod, m := op.Pod, facts.Of(fresh)
	if fresh.UID != pod.UID || m.Ended() || m.Node != pod.Node || m.Reported.Epoch >= op.Epoch {
		return true, nil
	}
	if !r.readsLeases() {
		return false, nil
	}
	leases, err := r.leaseNamed(ctx, pod.Namespace, facts.LeaseName(pod.Name))
	if err != nil && !apierrors.IsForbidden(err) {
		return false, fmt.Errorf("reading whether it has reported in its Lease: %w", err)
	}
	return facts.Join(m, facts.InList(leases).Of(m), op.Epoch-1).Reported.Epoch >= op.Epoch, nil
}

// markLost patches the conditions by their types: a merge patch would replace all of them. The worker has not been ready since the
// break, although Kubernetes says so only once it has noticed that the node is gone, and its wait would count from then.
func (r *JobSetReconciler) markLost(ctx context.Context, pod *corev1.Pod, since time.Time) error {
	status := map[string]any{"phase": corev1.PodFailed, "reason": constants.NodeLost, "message": "its node is silent and its group waits only for it, so it is replaced by force"}
	if ready := facts.ConditionOf(pod, corev1.PodReady); ready == nil || ready.Status != corev1.ConditionFalse || ready.LastTransitionTime.After(since) {
		status["conditions"] = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: constants.NodeLost, LastTransitionTime: metav1.NewTime(since)}}
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": pod.UID, "resourceVersion": pod.ResourceVersion}, "status": status})
	if err != nil {
		return err
	}
	return r.client.Status().Patch(ctx, &corev1.Pod{ObjectMeta: named(pod)}, client.RawPatch(types.StrategicMergePatchType, patch))
}
