/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package testing builds objects for tests, and for tests only.
package testing

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// JobSetWrapper builds a JobSet.
type JobSetWrapper struct{ js jobset.JobSet }

// MakeJobSet starts a JobSet with UID "<name>-uid".
func MakeJobSet(name, ns string) *JobSetWrapper {
	return &JobSetWrapper{jobset.JobSet{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns, UID: types.UID(name + "-uid")}}}
}

// Obj returns a JobSet that shares nothing with the wrapper.
func (w *JobSetWrapper) Obj() *jobset.JobSet { return w.js.DeepCopy() }

// UID sets the UID.
func (w *JobSetWrapper) UID(uid string) *JobSetWrapper {
	w.js.UID = types.UID(uid)
	return w
}

// Annotation adds an annotation.
func (w *JobSetWrapper) Annotation(key, value string) *JobSetWrapper {
	metav1.SetMetaDataAnnotation(&w.js.ObjectMeta, key, value)
	return w
}

// ReplicatedJob adds ReplicatedJobs.
func (w *JobSetWrapper) ReplicatedJob(rjobs ...*ReplicatedJobWrapper) *JobSetWrapper {
	for _, rjob := range rjobs {
		w.js.Spec.ReplicatedJobs = append(w.js.Spec.ReplicatedJobs, rjob.Obj())
	}
	return w
}

// Suspend sets spec.suspend.
func (w *JobSetWrapper) Suspend(suspend bool) *JobSetWrapper {
	w.js.Spec.Suspend = ptr.To(suspend)
	return w
}

// Network sets spec.network.
func (w *JobSetWrapper) Network(network jobset.Network) *JobSetWrapper {
	w.js.Spec.Network = &network
	return w
}

// Coordinator sets spec.coordinator.
func (w *JobSetWrapper) Coordinator(rjob string, jobIndex, podIndex int) *JobSetWrapper {
	w.js.Spec.Coordinator = &jobset.Coordinator{ReplicatedJob: rjob, JobIndex: jobIndex, PodIndex: podIndex}
	return w
}

// TTL sets spec.ttlSecondsAfterFinished.
func (w *JobSetWrapper) TTL(seconds int32) *JobSetWrapper {
	w.js.Spec.TTLSecondsAfterFinished = &seconds
	return w
}

// SuccessPolicy sets spec.successPolicy.
func (w *JobSetWrapper) SuccessPolicy(operator jobset.Operator, targets ...string) *JobSetWrapper {
	w.js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: operator, TargetReplicatedJobs: targets}
	return w
}

// FailurePolicy sets spec.failurePolicy.
func (w *JobSetWrapper) FailurePolicy(strategy jobset.JobSetRestartStrategy, maxRestarts int32, rules ...jobset.FailurePolicyRule) *JobSetWrapper {
	w.js.Spec.FailurePolicy = &jobset.FailurePolicy{RestartStrategy: strategy, MaxRestarts: maxRestarts, Rules: rules}
	return w
}

// StartupPolicy sets spec.startupPolicy.
func (w *JobSetWrapper) StartupPolicy(order jobset.StartupPolicyOptions) *JobSetWrapper {
	w.js.Spec.StartupPolicy = &jobset.StartupPolicy{StartupPolicyOrder: order}
	return w
}

// Claims adds a volume claim policy with a template of each name.
func (w *JobSetWrapper) Claims(whenDeleted jobset.RetentionPolicyType, names ...string) *JobSetWrapper {
	policy := jobset.VolumeClaimPolicy{RetentionPolicy: &jobset.VolumeRetentionPolicy{WhenDeleted: &whenDeleted}}
	for _, name := range names {
		policy.Templates = append(policy.Templates, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	w.js.Spec.VolumeClaimPolicies = append(w.js.Spec.VolumeClaimPolicies, policy)
	return w
}

// JobRestarts sets how often each Job of a ReplicatedJob was restarted on its own, and how many of them count.
func (w *JobSetWrapper) JobRestarts(rjob string, all, counted []int32) *JobSetWrapper {
	w.js.Status.ReplicatedJobsStatus = append(w.js.Status.ReplicatedJobsStatus, jobset.ReplicatedJobStatus{
		Name: rjob, JobRestarts: all, JobRestartsCountTowardsMax: counted,
	})
	return w
}

// ManagedBy sets spec.managedBy.
func (w *JobSetWrapper) ManagedBy(name string) *JobSetWrapper {
	w.js.Spec.ManagedBy = &name
	return w
}

// Restarts sets status.restarts and how many of them count.
func (w *JobSetWrapper) Restarts(all, counted int32) *JobSetWrapper {
	w.js.Status.Restarts, w.js.Status.RestartsCountTowardsMax = all, counted
	return w
}

// Epochs sets status.deprecatedEpoch and status.syncedEpoch.
func (w *JobSetWrapper) Epochs(deprecated, synced int32) *JobSetWrapper {
	w.js.Status.DeprecatedEpoch, w.js.Status.SyncedEpoch = &deprecated, &synced
	return w
}

// InPlaceRestarts sets status.inPlaceRestarts.
func (w *JobSetWrapper) InPlaceRestarts(n int32) *JobSetWrapper {
	w.js.Status.InPlaceRestarts = n
	return w
}

// Condition adds a condition to the status.
func (w *JobSetWrapper) Condition(conditionType jobset.JobSetConditionType, status bool, reason, message string, since time.Time) *JobSetWrapper {
	w.js.Status.Conditions = append(w.js.Status.Conditions, Condition(conditionType, status, reason, message, since))
	return w
}

// TerminalState sets status.terminalState.
func (w *JobSetWrapper) TerminalState(state jobset.JobSetConditionType) *JobSetWrapper {
	w.js.Status.TerminalState = string(state)
	return w
}

// Condition is a condition of a JobSet.
func Condition(conditionType jobset.JobSetConditionType, status bool, reason, message string, since time.Time) metav1.Condition {
	c := metav1.Condition{Type: string(conditionType), Status: metav1.ConditionFalse, Reason: reason, Message: message, LastTransitionTime: metav1.NewTime(since)}
	if status {
		c.Status = metav1.ConditionTrue
	}
	return c
}

// JobTemplateWrapper builds a Job template. It is for other projects (P125a); our tests change that of a ReplicatedJob.
type JobTemplateWrapper struct{ template batchv1.JobTemplateSpec }

// MakeJobTemplate starts a Job template.
func MakeJobTemplate(name, ns string) *JobTemplateWrapper {
	return &JobTemplateWrapper{batchv1.JobTemplateSpec{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ns}}}
}

// Obj returns a Job template that shares nothing with the wrapper.
func (w *JobTemplateWrapper) Obj() batchv1.JobTemplateSpec { return *w.template.DeepCopy() }

// SetLabels replaces the labels of the Job.
func (w *JobTemplateWrapper) SetLabels(labels map[string]string) *JobTemplateWrapper {
	w.template.Labels = labels
	return w
}

// SetAnnotations replaces the annotations of the Job.
func (w *JobTemplateWrapper) SetAnnotations(annotations map[string]string) *JobTemplateWrapper {
	w.template.Annotations = annotations
	return w
}

// PodSpec sets the spec of the Pods.
func (w *JobTemplateWrapper) PodSpec(spec corev1.PodSpec) *JobTemplateWrapper {
	w.template.Spec.Template.Spec = spec
	return w
}

// ReplicatedJobWrapper builds a ReplicatedJob.
type ReplicatedJobWrapper struct{ rjob jobset.ReplicatedJob }

// MakeReplicatedJob starts a ReplicatedJob of one Job in group "default".
func MakeReplicatedJob(name string) *ReplicatedJobWrapper {
	return &ReplicatedJobWrapper{jobset.ReplicatedJob{Name: name, GroupName: "default", Replicas: 1}}
}

// Obj returns a ReplicatedJob that shares nothing with the wrapper.
func (w *ReplicatedJobWrapper) Obj() jobset.ReplicatedJob { return *w.rjob.DeepCopy() }

// Job sets the template of the Jobs.
func (w *ReplicatedJobWrapper) Job(template batchv1.JobTemplateSpec) *ReplicatedJobWrapper {
	template.DeepCopyInto(&w.rjob.Template)
	return w
}

// Replicas sets how many Jobs there are.
func (w *ReplicatedJobWrapper) Replicas(n int32) *ReplicatedJobWrapper {
	w.rjob.Replicas = n
	return w
}

// Group sets the group name.
func (w *ReplicatedJobWrapper) Group(name string) *ReplicatedJobWrapper {
	w.rjob.GroupName = name
	return w
}

// Workers makes each Job an Indexed one of n Pods that run together.
func (w *ReplicatedJobWrapper) Workers(n int32) *ReplicatedJobWrapper {
	w.rjob.Template.Spec.Completions, w.rjob.Template.Spec.Parallelism = ptr.To(n), ptr.To(n)
	w.rjob.Template.Spec.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	return w
}

// DependsOn makes the ReplicatedJob wait for another.
func (w *ReplicatedJobWrapper) DependsOn(name string, status jobset.DependsOnStatus) *ReplicatedJobWrapper {
	w.rjob.DependsOn = append(w.rjob.DependsOn, jobset.DependsOn{Name: name, Status: status})
	return w
}

// JobMeta adds a label and an annotation to the Job template.
func (w *ReplicatedJobWrapper) JobMeta(key, value string) *ReplicatedJobWrapper {
	metav1.SetMetaDataLabel(&w.rjob.Template.ObjectMeta, key, value)
	metav1.SetMetaDataAnnotation(&w.rjob.Template.ObjectMeta, key, value)
	return w
}

// JobAnnotation adds an annotation to the Job template.
func (w *ReplicatedJobWrapper) JobAnnotation(key, value string) *ReplicatedJobWrapper {
	metav1.SetMetaDataAnnotation(&w.rjob.Template.ObjectMeta, key, value)
	return w
}

// PodMeta adds a label and an annotation to the Pod template.
func (w *ReplicatedJobWrapper) PodMeta(key, value string) *ReplicatedJobWrapper {
	metav1.SetMetaDataLabel(&w.rjob.Template.Spec.Template.ObjectMeta, key, value)
	metav1.SetMetaDataAnnotation(&w.rjob.Template.Spec.Template.ObjectMeta, key, value)
	return w
}

// PodSpec changes the spec of the Pod template.
func (w *ReplicatedJobWrapper) PodSpec(change func(*corev1.PodSpec)) *ReplicatedJobWrapper {
	change(&w.rjob.Template.Spec.Template.Spec)
	return w
}

// JobSpec changes the spec of the Job template.
func (w *ReplicatedJobWrapper) JobSpec(change func(*batchv1.JobSpec)) *ReplicatedJobWrapper {
	change(&w.rjob.Template.Spec)
	return w
}
