/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// driven splits the Jobs of a picture: the first is the driver's, and its success is the JobSet's. Its Pods keep their names.
func driven(in *Input) {
	driver := builders.MakeReplicatedJob("driver").Replicas(1).Workers(*in.Jobs[0].Spec.Completions).Obj()
	in.JobSet.Spec.ReplicatedJobs = append(in.JobSet.Spec.ReplicatedJobs, driver)
	in.JobSet.Spec.ReplicatedJobs[0].Replicas = int32(len(in.Jobs) - 1)
	in.JobSet.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAll, TargetReplicatedJobs: []string{"driver"}}
	for i, job := range in.Jobs {
		pods := in.Pods[job.UID]
		delete(in.Pods, job.UID)
		fresh := builders.MakeJob(in.JobSet, "driver", 0).Workers(*job.Spec.Completions).Obj()
		if i > 0 {
			fresh = builders.MakeJob(in.JobSet, "w", i-1).Workers(*job.Spec.Completions).Obj()
		}
		fresh.Status = job.Status
		in.Jobs[i], in.Pods[fresh.UID] = fresh, pods
	}
}

// ended: the regular containers of a Pod have ended with these codes.
func ended(job, i int, codes ...int32) func(*Input) {
	return onPod(job, i, func(pod *corev1.Pod) {
		pod.Spec.Containers, pod.Status.ContainerStatuses = nil, nil
		for _, code := range codes {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "c"})
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses,
				corev1.ContainerStatus{Name: "c", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code}}})
		}
	})
}

func noMoreRestarts(in *Input) { in.JobSet.Spec.FailurePolicy.MaxRestarts = 0 }

func heldFor(d time.Duration) func(*Input) {
	return func(in *Input) {
		in.HeldSince = time.Time{}
		if d > 0 {
			in.HeldSince = in.Now.Add(-d)
		}
	}
}

// jobSucceedsBy gives the first Job a success policy of its own.
func jobSucceedsBy(indexes *string, count *int32) func(*Input) {
	return onJob(0, func(job *batchv1.Job) {
		job.Spec.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededIndexes: indexes, SucceededCount: count}}}
	})
}

// TestASuccessThatIsNotCountedDelaysABreak (P45): each picture has a break in it.
func TestASuccessThatIsNotCountedDelaysABreak(t *testing.T) {
	t.Parallel()
	const cause = "worker pod js-w-1-0 restarted, its exit code was not seen"
	const incompleteBy = restarting + "(worker pod js-w-0-0 succeeded in epoch 1, so the group cannot restart in place): " + cause
	breaks := broken(1, cause)
	breaksAll := func(message string) func(*summary) { return restarted(1, 1, message) }
	any := onJobSet(func(js *jobset.JobSet) { js.Spec.SuccessPolicy.Operator = jobset.OperatorAny })
	stops := func(in *Input) {
		edit(in.Pods[in.Jobs[0].UID][0], func(pod *corev1.Pod) { pod.DeletionTimestamp = ptr.To(metav1.NewTime(now.Add(10 * time.Second))) })
	}
	stopped := func(in *Input) {
		edit(in.Pods[in.Jobs[0].UID][0], func(pod *corev1.Pod) { pod.DeletionTimestamp = ptr.To(metav1.NewTime(now)) })
	}
	bothTargets := onJobSet(func(js *jobset.JobSet) { js.Spec.SuccessPolicy = nil })
	tests := map[string]struct {
		in   Input
		want func(*summary)
	}{
		"P45: the driver's Pod succeeded, its Job does not know yet":         {inPlace(0, 1, "ok1|2", driven), nil},
		"P45: so it is without a budget":                                     {inPlace(0, 1, "ok1|2", driven, noMoreRestarts), nil},
		"P45: the driver's container ended with 0, its Pod shows it running": {inPlace(0, 1, "1|2", driven, ended(0, 0, 0)), looksAgain(90 * time.Second)},
		"P45: all of its containers did":                                     {inPlace(0, 1, "1|2", driven, ended(0, 0, 0, 0)), looksAgain(90 * time.Second)},
		"P45: a loss is not even confirmed":                                  {inPlace(0, 1, "ok1|.", driven), nil},
		"P45: the driver's Pod is told to stop: until its grace is over":     {inPlace(0, 1, "ok1|2", driven, stops), looksAgain(10 * time.Second)},
		"P45: the Job has counted it and is not complete yet":                {inPlace(0, 1, ".|2", driven, onJob(0, completed("0"))), nil},
		"P45: the Job met its success criteria, its other Pods still stop":   {inPlace(0, 1, "ok1 1|2 1", driven, onJob(0, withCondition(batchv1.JobSuccessCriteriaMet))), nil},
		"P45: one is counted, the other not":                                 {inPlace(0, 1, "ok1 ok1|2 1", driven, onJob(0, completed("1"))), nil},
		"P45: any of the targets is enough":                                  {inPlace(0, 1, "ok1|2", driven, bothTargets, onJobSet(func(js *jobset.JobSet) { js.Spec.SuccessPolicy = &jobset.SuccessPolicy{Operator: jobset.OperatorAny} })), nil},
		"P45: the Job's own policy asks for an index":                        {inPlace(0, 1, "ok1 1|2 1", driven, jobSucceedsBy(ptr.To("0"), nil)), nil},
		"P45: it asks for a number of them":                                  {inPlace(0, 1, "ok1 1 1|2 1 1", driven, jobSucceedsBy(nil, ptr.To[int32](1))), nil},
		"P45: it asks for some of a range":                                   {inPlace(0, 1, ". ok1 1|2 1 1", driven, onJob(0, completed("0")), jobSucceedsBy(ptr.To("0-1"), ptr.To[int32](2))), nil},

		"P45: it asks for another index":                        {inPlace(0, 1, "ok1 1|2 1", driven, jobSucceedsBy(ptr.To("1"), nil)), breaksAll(incompleteBy)},
		"P45: it asks for more of them":                         {inPlace(0, 1, "ok1 1|2 1", driven, jobSucceedsBy(nil, ptr.To[int32](2))), breaksAll(incompleteBy)},
		"P45: one of several containers still runs":             {inPlace(0, 1, "1|2", driven, ended(0, 0, 0), onPod(0, 0, func(pod *corev1.Pod) { pod.Spec.Containers = make([]corev1.Container, 2) })), breaks},
		"P45: one of several containers failed":                 {inPlace(0, 1, "1|2", driven, ended(0, 0, 0, 3)), breaks},
		"P45: the driver's Pod should be gone and never counts": {inPlace(0, 1, "1|2", driven, ended(0, 0, 0), stopped), breaks},
		"P45: only half of what the policy asks for":            {inPlace(0, 1, "1 1|2 1", driven, ended(0, 0, 0)), breaks},
		"P45: the policy asks for all":                          {inPlace(0, 1, "1|2", driven, bothTargets, ended(0, 0, 0)), breaks},
		"P45: another Job than the targets succeeded":           {inPlace(0, 1, "1|2|1", driven, ended(2, 0, 0)), breaks},
		"P45: a worker that is no target ended, of any":         {inPlace(0, 1, "1|2|1", driven, any, ended(2, 0, 0)), breaks},

		"P45b: a late patch of a dead agent set its epoch back": {inPlace(1, 2, "ok1|3", driven), nil},
		"P45b: its Pod still shows it running":                  {inPlace(1, 2, "1|3", driven, ended(0, 0, 0)), looksAgain(90 * time.Second)},
		"P45b: it shows no epoch":                               {inPlace(1, 2, "ok0|3", driven), nil},
		"P45b: it shows what is no epoch":                       {inPlace(1, 2, "ok1|3", driven, onPod(0, 0, func(pod *corev1.Pod) { pod.Annotations[jobset.EpochKey] = "x" })), nil},
		"P45b: without a budget":                                {inPlace(1, 2, "ok1|3", driven, noMoreRestarts), nil},
		"P45b: while assembling":                                {inPlace(2, 2, "ok1|3", driven, restartingInPlace), nil},
		"P45b: its agent told that it is done":                  {inPlace(1, 2, "1|3", driven, exitReport(0, `{"container":"worker","epoch":2,"code":0,"done":true}`)), looksAgain(90 * time.Second)},
		"P45b: who is at the next epoch did not run to its end": {inPlace(0, 1, "2|2", driven, ended(0, 0, 0)), broken(1, "worker pod js-w-0-0 restarted, its exit code was not seen")},

		"P45: while assembling nothing is recreated either": {inPlace(1, 1, "ok1|2", driven, restartingInPlace), nil},
		"P45: nor lifted without the driver":                {inPlace(1, 1, "ok1|2", driven), nil},

		"P45: a break that fails the JobSet waits":         {inPlace(0, 1, "1|2", driven, noMoreRestarts, heldFor(0)), looksAgain(3 * time.Second)},
		"P45: it waits from when it was first wanted":      {inPlace(0, 1, "1|2", driven, noMoreRestarts, heldFor(2*time.Second)), looksAgain(time.Second)},
		"P45: it is waited for no longer":                  {inPlace(0, 1, "1|2", driven, noMoreRestarts, heldFor(3*time.Second)), outOfBudgetBy(cause)},
		"P45: one that recreates all Jobs waits":           {inPlace(0, 1, "1|2|ok1", driven, heldFor(0)), looksAgain(3 * time.Second)},
		"P45: so it does while assembling":                 {inPlace(1, 1, "1|2|ok1", driven, heldFor(0)), looksAgain(3 * time.Second)},
		"P45: a loss is confirmed after the wait":          {inPlace(0, 1, "1|.", driven, noMoreRestarts, heldFor(0)), looksAgain(3 * time.Second)},
		"P45: and not before it is over":                   {inPlace(0, 1, "1|.", driven, noMoreRestarts, heldFor(time.Hour)), confirms("js-w-0")},
		"P45: one in place does not wait":                  {inPlace(0, 1, "1|2", driven, heldFor(0)), breaks},
		"P45: without a break nothing waits":               {inPlace(0, 1, "1|1", driven, noMoreRestarts, heldFor(0)), nil},
		"P45: a failed Job is the failure policy's matter": {inPlace(0, 1, "ok1|2", driven, heldFor(0), onJob(1, failed)), breaksAll(restarting + "(first failed job: js-w-0)")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, tc.in, tc.want)
		})
	}
}

// TestWhatIsHeldIsRemembered: the clock runs from when a drastic break is first wanted until it is not (P45).
func TestWhatIsHeldIsRemembered(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in   Input
		want bool
	}{
		"P45: while it waits":                     {inPlace(0, 1, "1|2", driven, noMoreRestarts, heldFor(0)), true},
		"P45: while a success is pending":         {inPlace(0, 1, "ok1|2", driven, noMoreRestarts, heldFor(0)), true},
		"P45: when it acts, should that not last": {inPlace(0, 1, "1|2", driven, noMoreRestarts), true},
		"P45: not for a break in place":           {inPlace(0, 1, "1|2", driven), false},
		"P45: not once nothing is wanted":         {inPlace(0, 1, "1|1", driven, noMoreRestarts), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := decideOnce(t, tc.in).Held; got != tc.want {
				t.Errorf("held %v, want %v", got, tc.want)
			}
		})
	}
}
