/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/metrics"
	"sigs.k8s.io/jobset/pkg/policy"
)

// refusals are the reasons to tell of ops that a quota or an admission webhook may refuse.
var refusals = map[policy.OpKind]string{
	policy.CreateClaim: constants.PVCCreationFailedReason,
	policy.CreateJob:   constants.JobCreationFailedReason,
	policy.ResumeJob:   constants.JobResumeFailedReason,
}

// errResize: the API server has no such gate, or it is off there.
var errResize = errors.New("the API server refuses other requests and limits of a suspended Job: turn on its feature gate MutablePodResourcesForSuspendedJobs " +
	"(alpha in Kubernetes 1.35, on by default from 1.36), or restore those that the Job has")

// execute makes the changes of a plan, in the order of its ops. It stops at the first that fails or runs out of time; the
// next pass decides again from what exists then.
func (r *JobSetReconciler) execute(ctx context.Context, js *jobset.JobSet, plan *policy.Plan) error {
	c := shared.Changes{Clock: r.clock, Until: r.clock.Now().Add(changesFor), Slots: r.slots}
	deleted := &r.memory.forJobSet(js).deleted
	for left := plan.Ops; len(left) > 0; {
		first := &left[0]
		together := 1
		for together < len(left) && left[together].Together(first) {
			together++
		}
		before := deleted.count()
		err := shared.Each(c, left[:together], func(op policy.Op) error { return r.do(ctx, js, plan, &op) })
		reason, refusable := refusals[first.Kind]
		if errors.Is(err, errResize) {
			reason = constants.FailedResourcePropagationReason
		}
		switch {
		case err != nil && refusable:
			return r.refused(ctx, js, reason, err)
		case err != nil:
			return err
		case first.Kind&(policy.DeletePod|policy.ReplaceLost) != 0 && deleted.count() == before: // each changed since it was read
		case first.Because != nil:
			r.tell(js, *first.Because)
		}
		left = left[together:]
	}
	return nil
}

// do makes one change.
func (r *JobSetReconciler) do(ctx context.Context, js *jobset.JobSet, plan *policy.Plan, op *policy.Op) error {
	switch op.Kind {
	case policy.DeleteJob:
		return r.deleteJob(ctx, op.Job, whyDeleted(plan, op))
	case policy.DeletePod:
		return r.deletePod(ctx, js, op)
	case policy.ReplaceLost:
		return r.replaceLost(ctx, js, op)
	case policy.ForceJob:
		return r.forceJob(ctx, op.Job)
	case policy.CountForced:
		metrics.FaultTolerated(policy.DeletedByForce)
	case policy.SuspendJob:
		return r.suspendJob(ctx, op.Job)
	case policy.CreateService:
		return r.createService(ctx, js, op.Service)
	case policy.CreateClaim:
		return r.createClaim(ctx, op.Claim)
	case policy.GrantAccess:
		return r.grant(ctx, js, plan, op.Grant)
	case policy.ScaleJob:
		return r.scaleJob(ctx, op)
	case policy.CreateJob:
		return r.createJob(ctx, js, op.Job)
	case policy.ResumeJob:
		return r.resumeJob(ctx, op)
	case policy.DeleteJobSet:
		return r.deleteJobSet(ctx, js)
	}
	return nil
}

func (r *JobSetReconciler) deleteJob(ctx context.Context, job *batchv1.Job, reason string) error {
	err := r.client.Delete(ctx, &batchv1.Job{ObjectMeta: named(job)},
		client.PropagationPolicy(metav1.DeletePropagationForeground),
		client.Preconditions{UID: &job.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting Job %s: %w", klog.KObj(job), err)
	}
	shared.Wrote(ctx, "Deleted a Job", reason, "job", klog.KObj(job))
	return nil
}

// deletePod deletes a worker Pod that keeps its group waiting, unless it changed
// since it was read: it may have reported. One that is deleted by force is Failed first: a Job with
// podReplacementPolicy Failed leaves its finalizer on a Pod that counts as running, indefinitely if its node is dead.
func (r *JobSetReconciler) deletePod(ctx context.Context, js *jobset.JobSet, op *policy.Op) error {
	pod := op.Pod
	seen := &corev1.Pod{ObjectMeta: named(pod)}
	seen.ResourceVersion = pod.ResourceVersion
	var options []client.DeleteOption
	if op.Force {
		options = append(options, client.GracePeriodSeconds(0))
		if err := r.failPod(ctx, pod, seen); err != nil {
			return ignoreChanged(fmt.Errorf("marking Pod %s, which is to be deleted by force, as Failed: %w", klog.KObj(pod), err))
		}
	}
	options = append(options, client.Preconditions{UID: &pod.UID, ResourceVersion: &seen.ResourceVersion})
	if err := r.client.Delete(ctx, seen, options...); err != nil {
		return ignoreChanged(fmt.Errorf("deleting Pod %s, which keeps its JobSet waiting: %w", klog.KObj(pod), err))
	}
	r.memory.forJobSet(js).deleted.add(client.ObjectKeyFromObject(pod).String(), r.clock.Now())
	shared.Wrote(ctx, "Deleted a Pod", op.Because.Reason, "pod", klog.KObj(pod), "node", pod.Node, "force", op.Force)
	return nil
}

// failPod sets the phase of a Pod that has not ended. Seen becomes the Pod after that.
func (r *JobSetReconciler) failPod(ctx context.Context, pod *facts.Member, seen *corev1.Pod) error {
	if pod.Ended() {
		return nil
	}
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"resourceVersion":%q},"status":{"phase":"Failed","reason":%q,"message":"it should have stopped long ago and is deleted by force"}}`,
		pod.UID, pod.ResourceVersion, constants.ForcefulDeletionReason)
	return r.client.Status().Patch(ctx, seen, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// ignoreChanged drops the error about a Pod that is gone or has changed since it was looked at.
func ignoreChanged(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

func (r *JobSetReconciler) deleteJobSet(ctx context.Context, js *jobset.JobSet) error {
	err := r.client.Delete(ctx, &jobset.JobSet{ObjectMeta: named(js)},
		client.PropagationPolicy(metav1.DeletePropagationForeground),
		client.Preconditions{UID: &js.UID})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting JobSet %s, whose TTL has expired: %w", klog.KObj(js), err)
	}
	shared.Wrote(ctx, "Deleted the JobSet", "its TTL has expired")
	return nil
}

func (r *JobSetReconciler) createService(ctx context.Context, js *jobset.JobSet, service *corev1.Service) error {
	err := r.client.Create(ctx, service)
	switch {
	case err == nil:
		shared.Wrote(ctx, "Created the Service", "missing", "service", klog.KObj(service))
		return nil
	case apierrors.IsAlreadyExists(err):
		return nil // a Service of that name is left alone, whoever created it
	}
	return fmt.Errorf("creating Service %s: %w", klog.KObj(service), r.refused(ctx, js, constants.HeadlessServiceCreationFailedReason, err))
}

// createClaim creates a PersistentVolumeClaim. One of that name is left alone, whoever created it.
func (r *JobSetReconciler) createClaim(ctx context.Context, claim *corev1.PersistentVolumeClaim) error {
	switch err := r.client.Create(ctx, claim); {
	case err == nil:
		shared.Wrote(ctx, "Created a PersistentVolumeClaim", "missing", "claim", klog.KObj(claim))
	case !apierrors.IsAlreadyExists(err):
		return fmt.Errorf("creating PersistentVolumeClaim %s: %w", klog.KObj(claim), err)
	}
	return nil
}

func (r *JobSetReconciler) scaleJob(ctx context.Context, op *policy.Op) error {
	err := r.patchJob(ctx, op.Job, fmt.Sprintf(`"spec":{"parallelism":%d,"completions":%d}`, op.Workers, op.Workers), false)
	if err != nil {
		return fmt.Errorf("scaling Job %s to %d Pods: %w", klog.KObj(op.Job), op.Workers, err)
	}
	shared.Wrote(ctx, "Scaled a Job", "the JobSet asks for another size", "job", klog.KObj(op.Job), "pods", op.Workers)
	return nil
}

// createJob creates a Job. If this JobSet's Job exists already, the cache had
// not shown it yet, and that is fine.
func (r *JobSetReconciler) createJob(ctx context.Context, js *jobset.JobSet, job *batchv1.Job) error {
	err := r.client.Create(ctx, job)
	if apierrors.IsAlreadyExists(err) && r.isOwn(ctx, js, job) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("job %q creation failed with error: %w", job.Name, err)
	}
	shared.Wrote(ctx, "Created a Job", "missing in attempt "+job.Labels[constants.RestartsKey], "job", klog.KObj(job))
	r.memory.forJobSet(js).unseen.add(client.ObjectKeyFromObject(job).String(), r.clock.Now())
	return nil
}

func (r *JobSetReconciler) isOwn(ctx context.Context, js *jobset.JobSet, job *batchv1.Job) bool {
	existing := &batchv1.Job{}
	return r.live.Get(ctx, client.ObjectKeyFromObject(job), existing) == nil && metav1.IsControlledBy(existing, js)
}

func (r *JobSetReconciler) suspendJob(ctx context.Context, job *batchv1.Job) error {
	if err := r.patchJob(ctx, job, `"spec":{"suspend":true}`, false); err != nil {
		return fmt.Errorf("suspending Job %s: %w", klog.KObj(job), err)
	}
	shared.Wrote(ctx, "Suspended a Job", "the JobSet is suspended", "job", klog.KObj(job))
	return nil
}

// resumeJob resumes a Job. Its template may change only while the Job has no
// start time, so the start time is reset first if the template changes.
func (r *JobSetReconciler) resumeJob(ctx context.Context, op *policy.Op) error {
	if op.ResetStartTime {
		if err := r.patchJob(ctx, op.Job, `"status":{"startTime":null}`, true); err != nil {
			return fmt.Errorf("resetting the start time of Job %s to resume it: %w", klog.KObj(op.Job), err)
		}
	}
	from := *op.Job
	from.UID = "" // so that the patch contains the UID
	switch err := r.client.Patch(ctx, op.Resumed, client.MergeFrom(&from)); {
	case err == nil, isGone(err):
	case apierrors.IsInvalid(err) && children.Resized(op.Resumed, op.Job):
		return fmt.Errorf("resuming Job %s: %w: %w", klog.KObj(op.Job), errResize, err)
	default:
		return fmt.Errorf("resuming Job %s: %w", klog.KObj(op.Job), err)
	}
	shared.Wrote(ctx, "Resumed a Job", "the JobSet runs", "job", klog.KObj(op.Job))
	return nil
}

// patchJob patches the Job that was decided on, and not another that has its name by
// now. If it is gone, that is fine: the next pass sees what exists.
func (r *JobSetReconciler) patchJob(ctx context.Context, job *batchv1.Job, fields string, ofStatus bool) error {
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"uid":%q},%s}`, job.UID, fields))
	var err error
	if patched := (&batchv1.Job{ObjectMeta: named(job)}); ofStatus {
		err = r.client.Status().Patch(ctx, patched, patch)
	} else {
		err = r.client.Patch(ctx, patched, patch)
	}
	if isGone(err) {
		return nil
	}
	return err
}

// isGone reports whether a request failed because the object is gone, or because another
// object has its name: a patch cannot change a UID, so one with another UID is invalid.
func isGone(err error) bool {
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return true
	}
	cause, isInvalid := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	return isInvalid && cause.Field == "metadata.uid"
}

// named returns the metadata that a request needs to identify an object.
func named(obj client.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: obj.GetNamespace(), Name: obj.GetName(), UID: obj.GetUID()}
}
