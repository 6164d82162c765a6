/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// TestBlockedJobsAreReported: whoever looks at the JobSet reads what it waits for (C388).
func TestBlockedJobsAreReported(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").FailurePolicy(jobset.Recreate, 3).ReplicatedJob(builders.MakeReplicatedJob("w").Workers(2)).Obj()
	long := metav1.NewTime(now.Add(-time.Minute))
	leaves := &facts.Member{ObjectMeta: metav1.ObjectMeta{Name: "js-w-0-1"}, Node: "n1", Standing: facts.Standing{Deadline: long.Time}}
	runs := &facts.Member{ObjectMeta: metav1.ObjectMeta{Name: "js-w-0-0"}}
	counted := &facts.Member{ObjectMeta: metav1.ObjectMeta{Name: "js-w-0-2"}, Standing: facts.Standing{Phase: corev1.PodFailed}}
	uncounted := &facts.Member{ObjectMeta: metav1.ObjectMeta{Name: "js-w-0-3"}, Standing: facts.Standing{Phase: corev1.PodFailed, Tracked: true}}
	ended := func(since metav1.Time, of batchv1.JobConditionType) *batchv1.Job {
		job := builders.MakeJob(js, "w", 0).Workers(2).Obj()
		job.Status.Conditions = []batchv1.JobCondition{{Type: of, Status: corev1.ConditionTrue, LastTransitionTime: since}}
		return job
	}
	deleted := builders.MakeJob(js, "w", 0).Workers(2).Obj()
	deleted.DeletionTimestamp = &long
	tests := map[string]struct {
		job  *batchv1.Job
		pods []*facts.Member
		was  *metav1.Condition
		want string
		look time.Duration
	}{
		"C388: a Job that fails names the Pods that it waits for, and since when": {ended(long, batchv1.JobFailureTarget), []*facts.Member{leaves, runs}, nil,
			"True PodsNotGone Job js-w-0 has been failing since 2026-03-14T11:59:00Z and waits for Pods js-w-0-0 (not being deleted), " +
				"js-w-0-1 (node n1, should have been gone at 2026-03-14T11:59:00Z)", time.Minute},
		"C388: but not those that the Job controller has counted": {ended(long, batchv1.JobFailureTarget), []*facts.Member{leaves, counted, uncounted}, nil,
			"True PodsNotGone Job js-w-0 has been failing since 2026-03-14T11:59:00Z and waits for Pods js-w-0-1 (node n1, should have been gone at 2026-03-14T11:59:00Z), " +
				"js-w-0-3 (not being deleted)", time.Minute},
		"C388: one whose Pods are all counted waits for the Job controller": {ended(long, batchv1.JobFailureTarget), []*facts.Member{counted}, nil,
			"True PodsNotGone Job js-w-0 has been failing since 2026-03-14T11:59:00Z, and all of its Pods have ended: check the Job controller, which has not marked the Job as failed", time.Minute},
		"C388: one that is deleted waits for those, too": {deleted, []*facts.Member{counted}, nil,
			"True PodsNotGone Job js-w-0 has been terminating since 2026-03-14T11:59:00Z and waits for Pods js-w-0-2 (not being deleted)", time.Minute},
		"C388: a Job that is deleted does, too": {deleted, []*facts.Member{leaves}, nil,
			"True PodsNotGone Job js-w-0 has been terminating since 2026-03-14T11:59:00Z and waits for Pods js-w-0-1 (node n1, should have been gone at 2026-03-14T11:59:00Z)", time.Minute},
		"C388: one without Pods is held by a finalizer": {deleted, nil, nil,
			"True PodsNotGone Job js-w-0 has been terminating since 2026-03-14T11:59:00Z, and no Pod of it is left: check its finalizers and the controller that removes them", time.Minute},
		"C388: for half a minute that is usual":       {ended(metav1.NewTime(now.Add(-10*time.Second)), batchv1.JobFailureTarget), []*facts.Member{leaves}, nil, "", 20 * time.Second},
		"C388: a Job that runs is not blocked":        {builders.MakeJob(js, "w", 0).Workers(2).Obj(), nil, nil, "", 0},
		"C388: what could not be created exists":      {builders.MakeJob(js, "w", 0).Workers(2).Obj(), nil, refusedBefore(), "False JobsNotBlocked " + constants.JobsNotBlockedMessage, 0},
		"C388: what cannot be created is still to be": {nil, nil, refusedBefore(), "True JobCreationFailed no", 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := Input{JobSet: js.DeepCopy(), Now: now}
			if tc.was != nil {
				in.JobSet.Status.Conditions = []metav1.Condition{*tc.was}
			}
			if tc.job != nil {
				in.Jobs, in.Lingering = []*batchv1.Job{tc.job}, map[types.UID][]*facts.Member{tc.job.UID: tc.pods}
			}
			plan := decideOnce(t, in)
			var got string
			if c := apimeta.FindStatusCondition(plan.Status.Conditions, string(jobset.JobSetJobsBlocked)); c != nil {
				got = string(c.Status) + " " + c.Reason + " " + c.Message
			}
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if plan.RequeueAfter != tc.look {
				t.Errorf("looks again after %s, want %s", plan.RequeueAfter, tc.look)
			}
		})
	}
}

func TestFiveBlockedJobsAreNamed(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("w").Replicas(6)).Obj()
	var jobs []*batchv1.Job
	for i := range 6 {
		job := builders.MakeJob(js, "w", 5-i).Obj()
		job.DeletionTimestamp = &metav1.Time{Time: now.Add(-time.Minute)}
		jobs = append(jobs, job)
	}
	plan := decideOnce(t, Input{JobSet: js, Jobs: jobs, Now: now})
	message := apimeta.FindStatusCondition(plan.Status.Conditions, string(jobset.JobSetJobsBlocked)).Message
	texts := strings.Split(message, "; ")
	for i, want := range []string{"Job js-w-0 ", "Job js-w-1 ", "Job js-w-2 ", "Job js-w-3 ", "Job js-w-4 ", "and 1 more Jobs"} {
		if i >= len(texts) || !strings.HasPrefix(texts[i], want) {
			t.Fatalf("C388: %q is not number %d of %q", want, i, texts)
		}
	}
}

func refusedBefore() *metav1.Condition {
	return &metav1.Condition{Type: string(jobset.JobSetJobsBlocked), Status: metav1.ConditionTrue, Reason: constants.JobCreationFailedReason, Message: "no"}
}

// TestTheEndOfAJobSetEndsItsStart: nothing is in progress of a JobSet that has ended (C389).
func TestTheEndOfAJobSetEndsItsStart(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]batchv1.JobConditionType{"C389: completed": batchv1.JobComplete, "C389: failed": batchv1.JobFailed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("w")).Obj()
			js.Status.Conditions = []metav1.Condition{{Type: string(jobset.JobSetStartupPolicyInProgress), Status: metav1.ConditionTrue, Reason: "r"}}
			job := builders.MakeJob(js, "w", 0).Obj()
			job.Status.Conditions = []batchv1.JobCondition{{Type: end, Status: corev1.ConditionTrue}}
			plan := decideOnce(t, Input{JobSet: js, Jobs: []*batchv1.Job{job}, Now: now})
			if plan.Status.TerminalState == "" || apimeta.IsStatusConditionTrue(plan.Status.Conditions, string(jobset.JobSetStartupPolicyInProgress)) {
				t.Errorf("terminal state %q, conditions %v", plan.Status.TerminalState, plan.Status.Conditions)
			}
		})
	}
}
