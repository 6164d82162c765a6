/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package view

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

// roundSuccess is what shows that a worker succeeded in this round, so that the next would lack it (P17):
//
//	pod    a Pod that succeeded in a Job that is not complete, whatever epoch it shows (P45b)
//	index  an index that is done in a Job that is not complete: the Pod may be gone, or the cache may show it running
//	job    a Job that completed after the last lift: the same of a whole Job
//
// Pods and done indexes need no epoch: a group that breaks while an index of it is done is
// recreated, so what is done now was done in this round. Of a Job that is complete only the time of its
// completion counts.
type roundSuccess struct {
	pod   *facts.Member
	index *batchv1.Job
	at    int64
	job   *batchv1.Job
}

// clockSkew is how far the clock of the Job controller may be behind the manager's. Allowing for it
// is safe: a Job that completed before the last lift would have had the group recreated. If others joined
// the group at that lift, it would not, and a failure recreates more Jobs than it has to.
const clockSkew = 10 * time.Second

func (s *roundSuccess) Any() bool { return s.pod != nil || s.index != nil || s.job != nil }

func (s *roundSuccess) addPod(pod *facts.Member) {
	if pod.Phase == corev1.PodSucceeded && (s.pod == nil || pod.Name < s.pod.Name) {
		s.pod = pod
	}
}

func (s *roundSuccess) addIndex(job *batchv1.Job, index int64) {
	if s.index == nil || cmp.Or(cmp.Compare(job.Name, s.index.Name), cmp.Compare(index, s.at)) < 0 {
		s.index, s.at = job, index
	}
}

// addComplete looks at a complete Job that is no target of dependsOn. Jobs come in the order of their names.
func (s *roundSuccess) addComplete(job *batchv1.Job, began *metav1.Time) {
	if s.job == nil && began != nil && !completionTime(job).Add(clockSkew).Before(began.Time) {
		s.job = job
	}
}

func completionTime(job *batchv1.Job) time.Time {
	if job.Status.CompletionTime != nil {
		return job.Status.CompletionTime.Time
	}
	ended, _ := FinishedCondition(job)
	return ended.LastTransitionTime.Time
}

// joinedAsPlanned reports whether the group assembles only because others join it, who waited for one of its ReplicatedJobs
// to complete. Nothing failed then, so whole Jobs that completed by themselves stay out (P17): recreating them would recreate
// those that the others waited for, too, and end in the same place again. It is not so after a break, and not if the JobSet was
// suspended since the last lift: workers that are told to stop may exit with 0 (C285).
func (v *View) joinedAsPlanned(done map[string]bool) bool {
	if v.Running() || v.Synced == 0 || v.JobSet.Status.BreakTime != nil || v.RestartingInPlace() || v.sleptSinceLift() {
		return false
	}
	ran := v.SyncedWorkers()
	return slices.ContainsFunc(v.JobSet.Spec.ReplicatedJobs, func(rjob jobset.ReplicatedJob) bool {
		return ran[rjob.Name] == 0 && slices.ContainsFunc(rjob.DependsOn, func(first jobset.DependsOn) bool { return done[first.Name] })
	})
}

// sleptSinceLift reports whether the JobSet was suspended or resumed after the last lift. Both times are whole seconds.
func (v *View) sleptSinceLift() bool {
	slept, lifted := apimeta.FindStatusCondition(v.JobSet.Status.Conditions, string(jobset.JobSetSuspended)), v.JobSet.Status.LastSyncTime
	return slept != nil && lifted != nil && !slept.LastTransitionTime.Before(lifted)
}

// Words says which worker succeeded.
func (s *roundSuccess) Words(synced int32) string {
	switch {
	case s.pod != nil:
		if s.pod.Reported.Epoch != synced {
			return fmt.Sprintf("worker pod %s succeeded", s.pod.Name)
		}
		return fmt.Sprintf("worker pod %s succeeded in epoch %d", s.pod.Name, synced)
	case s.index != nil:
		return fmt.Sprintf("index %d of Job %s is done", s.at, s.index.Name)
	default:
		return fmt.Sprintf("Job %s completed after the last lift of the group", s.job.Name)
	}
}

// BypassEnded returns when the last bypass ended, zero if there was none.
func (v *View) BypassEnded() time.Time {
	c := apimeta.FindStatusCondition(v.JobSet.Status.Conditions, string(jobset.JobSetInPlaceRestartDisabled))
	if c == nil || c.Status == metav1.ConditionTrue {
		return time.Time{}
	}
	return c.LastTransitionTime.Time
}

// StoppedAt returns when the group last stopped running with all of its workers: it broke, or a bypass ended, during which they ran
// (P34b); zero if neither is known.
func (v *View) StoppedAt() time.Time {
	broken, ended := v.BrokenAt(), v.BypassEnded()
	if ended.After(broken) {
		return ended
	}
	return broken
}

// roundBegan returns when the last round began, whose workers may have succeeded (P17), nil if that is not known: with the last lift;
// if there was none, a bypass let the workers run (P34b).
func (v *View) roundBegan() *metav1.Time {
	if lifted := v.JobSet.Status.LastSyncTime; lifted != nil || v.BypassEnded().IsZero() {
		return lifted
	}
	return &metav1.Time{}
}
