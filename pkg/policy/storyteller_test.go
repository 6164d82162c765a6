/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
)

// moment is a step of a story: what happens, what the Pods show then (see
// inPlace), and what the status says once the controller has nothing left to do.
type moment struct {
	what, pods string
	// status is "D/S", and what is not zero: "1/2, 1 in place, 2 restarts, 1 counted, Failed";
	// and Pods that are to be deleted: "0/0, deletes js-w-0-1".
	status string
	// happens changes the world before the Pods are looked at.
	happens func(*Input)
}

// story is how something that can go wrong ends.
type story struct {
	// given changes the JobSet, maxRestarts 3 and no epochs, before the story begins.
	given   []func(*Input)
	moments []moment
}

// tell makes passes as the shell does, and does to the Jobs what the plans say.
// Jobs that are deleted stay until a moment says that they are gone.
func (s story) tell(t *testing.T) {
	t.Helper()
	in := inPlace(0, 0, s.moments[0].pods, s.given...)
	for i, m := range s.moments {
		jobs := len(in.Jobs)
		if m.happens != nil {
			m.happens(&in)
		}
		if len(in.Jobs) < jobs {
			settle(t, &in) // before new Pods can be seen, there have to be new Jobs
		}
		if i > 0 {
			show(&in, m.pods)
		}
		last := settle(t, &in)
		if got := strings.Join(append(inWords(&in.JobSet.Status), deletes(last)...), ", "); got != m.status {
			t.Fatalf("moment %d, %s, Pods %q: status %q, want %q", i, m.what, m.pods, got, m.status)
		}
	}
}

// show makes the Pods of the Jobs look like the picture.
func show(in *Input, picture string) {
	in.Pods = map[types.UID][]*facts.Member{}
	for j, words := range strings.Split(picture, "|") {
		for i, word := range strings.Fields(words) {
			if word != "." {
				pod := worker(in.Jobs[j], i, word)
				edit(pod, func(pod *corev1.Pod) { pod.Spec.NodeName, pod.CreationTimestamp = "node", metav1.NewTime(past) })
				in.Pods[in.Jobs[j].UID] = append(in.Pods[in.Jobs[j].UID], pod)
			}
		}
	}
}

// settle makes passes until one changes neither status nor Jobs, and returns the plan of that.
func settle(t *testing.T, in *Input) Plan {
	t.Helper()
	for range 20 {
		in.Confirmed = nil
		plan := decideOnce(t, *in)
		if plan.Confirm != nil { // the cache was right
			in.Confirmed = plan.Confirm
			plan = decideOnce(t, *in)
		}
		if !plan.Does(pass.ChangeJobs) && apiequality.Semantic.DeepEqual(plan.Status, in.JobSet.Status) {
			return plan
		}
		in.JobSet = in.JobSet.DeepCopy()
		in.JobSet.Status = plan.Status
		act(in, &plan)
	}
	t.Fatalf("the controller does not come to rest: %s", inWords(&in.JobSet.Status))
	return Plan{}
}

func deletes(plan Plan) (words []string) {
	for _, op := range plan.Of(DeletePod) {
		words = append(words, "deletes "+op.Pod.Name)
	}
	return words
}

// act does to the Jobs what a plan says, at once.
func act(in *Input, plan *Plan) {
	change := func(job *batchv1.Job, how func(*batchv1.Job)) {
		changed := job.DeepCopy()
		how(changed)
		in.Jobs[slices.IndexFunc(in.Jobs, func(j *batchv1.Job) bool { return j.UID == job.UID })] = changed
	}
	for _, op := range plan.Ops {
		switch op.Kind {
		case DeleteJob:
			change(op.Job, func(job *batchv1.Job) { job.DeletionTimestamp = ptr.To(metav1.NewTime(now)) })
		case SuspendJob:
			change(op.Job, func(job *batchv1.Job) { job.Spec.Suspend = ptr.To(true) })
		case ResumeJob:
			change(op.Job, func(job *batchv1.Job) { *job = *op.Resumed.DeepCopy() })
		case ScaleJob:
			change(op.Job, func(job *batchv1.Job) {
				job.Spec.Parallelism, job.Spec.Completions = ptr.To(op.Workers), ptr.To(op.Workers)
			})
		case CreateJob:
			op.Job.UID = types.UID(fmt.Sprintf("%s-of-%d", op.Job.Name, in.JobSet.Status.Restarts))
			in.Jobs = append(in.Jobs, op.Job)
		}
	}
	slices.SortFunc(in.Jobs, func(a, b *batchv1.Job) int { return cmp.Compare(a.Name, b.Name) })
}

func inWords(status *jobset.JobSetStatus) []string {
	words := []string{fmt.Sprintf("%d/%d", ptr.Deref(status.DeprecatedEpoch, 0), ptr.Deref(status.SyncedEpoch, 0))}
	for _, count := range []struct {
		n    int32
		what string
	}{
		{status.InPlaceRestarts, "in place"}, {status.Restarts, "restarts"}, {status.RestartsCountTowardsMax, "counted"},
	} {
		if count.n != 0 {
			words = append(words, fmt.Sprintf("%d %s", count.n, count.what))
		}
	}
	if status.TerminalState != "" {
		words = append(words, status.TerminalState)
	}
	return words
}

// tellAll tells stories, each by itself.
func tellAll(t *testing.T, stories map[string]story) {
	t.Helper()
	for name, s := range stories {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.tell(t)
		})
	}
}
