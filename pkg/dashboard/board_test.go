/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package dashboard

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	corefake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	jobsetfake "sigs.k8s.io/jobset/client-go/clientset/versioned/fake"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/restarts"
)

// until waits for a view of a board.
func until(t *testing.T, b *Board, what string, is func(*View) bool) *View {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		changed, v := b.Changed(), b.View()
		if is(v) {
			return v
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("%s: not within 30 seconds; notes are %q", what, v.Notes)
		}
	}
}

func TestABoardFollowsTheCluster(t *testing.T) {
	t.Parallel()
	in := input(training(2, 1, 2).Obj(), 2, 2)
	pods := &corev1.PodList{Items: in.Pods}
	core := corefake.NewClientset(pods, &in.Jobs[0])
	jobSets := jobsetfake.NewClientset(in.JobSet)
	core.PrependReactor("*", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("not allowed"))
	})
	b := NewBoard(Scope{Namespace: "research"}, time.Now)
	Watch(t.Context(), b, jobSets, core)
	until(t, b, "the JobSet", func(v *View) bool { return len(v.JobSets) == 1 && v.JobSets[0].Summary.Running == 2 })
	v := until(t, b, "nodes that may not be read", func(v *View) bool { return len(v.Notes) == 1 && strings.Contains(v.Notes[0], "not allowed") })
	if !strings.HasPrefix(v.Notes[0], "Nodes could not be read") {
		t.Errorf("notes are %q", v.Notes)
	}
	pod := in.Pods[0].DeepCopy()
	pod.Status.Phase = corev1.PodFailed
	if _, err := core.CoreV1().Pods("research").Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, b, "a Pod that failed", func(v *View) bool { return v.JobSets[0].Cells[0].State == restarts.PodFailed })
	if err := jobSets.JobsetV1alpha2().JobSets("research").Delete(t.Context(), "train", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(t, b, "a JobSet that is gone", func(v *View) bool { return len(v.JobSets) == 0 })
}

func TestABoardKeepsWhatItRead(t *testing.T) {
	t.Parallel()
	in := input(training(2, 1, 2).Obj(), 2, 2)
	started(now.Add(-time.Minute), 1)(&in)
	in.Events = append(in.Events, event(now.Add(-time.Minute), constants.JobSetSuspendedReason, ""), event(now.Add(-time.Second), constants.ResumedReason, ""))
	b := boardOf(in)
	b.Unread(Pods, errors.New("connection refused"))
	v := b.View()
	if len(v.JobSets[0].Cells) != 2 || len(v.Notes) != 1 || !strings.HasPrefix(v.Notes[0], "Pods may be out of date") {
		t.Errorf("%d cells and notes %q, want 2, and that Pods may be out of date", len(v.JobSets[0].Cells), v.Notes)
	}
	b.Unread(Pods, nil)
	b.Remove(&in.Events[0], &in.Events[1]) // as an API server does after an hour
	v = b.View()
	if len(v.Notes) != 0 || len(v.JobSets[0].Detail.Restarts) != 1 {
		t.Errorf("%d restarts and notes %q, want 1 and none", len(v.JobSets[0].Detail.Restarts), v.Notes)
	}
}

func TestABoardReadsReportsInLeases(t *testing.T) {
	t.Parallel()
	in := input(assembling(), 3, 2)
	for i := range in.Pods {
		in.Pods[i].Spec.InitContainers = []corev1.Container{{Name: "agent", Env: []corev1.EnvVar{{Name: "JOBSET_REPORTS", Value: "Lease"}}}}
	}
	epoch := func(b *Board, pod string) int32 {
		for _, cell := range b.View().JobSets[0].Cells {
			if cell.Pod == pod {
				return cell.Epoch
			}
		}
		return -1
	}
	b, pod := boardOf(in), &in.Pods[1]
	before := epoch(b, pod.Name)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Name: "jobset." + pod.Name, Namespace: pod.Namespace, Labels: map[string]string{"jobset.sigs.k8s.io/jobset-uid": string(in.JobSet.UID)},
		Annotations:     map[string]string{"jobset.sigs.k8s.io/epoch": strconv.Itoa(int(before) + 1)},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}},
	}}
	b.Put(lease)
	if got := epoch(b, pod.Name); got != before+1 {
		t.Errorf("P157: the epoch is %d, want %d", got, before+1)
	}
	b.Replace(Leases, nil)
	if got := epoch(b, pod.Name); got != before {
		t.Errorf("P157: without the Lease the epoch is %d, want %d", got, before)
	}
}

func TestAViewIsMadeAgainOnlyIfSomethingChanged(t *testing.T) {
	t.Parallel()
	in := input(assembling(), 3, 2)
	clock := now
	b := boardOf(in)
	b.now = func() time.Time { return clock }
	first := b.View()
	if b.View() != first {
		t.Error("the view was made again, and nothing had changed")
	}
	b.Put(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-9"}})
	second := b.View()
	if second == first || second.JobSets[0] != first.JobSets[0] {
		t.Error("a node changes the view, and not the JobSet")
	}
	clock = clock.Add(patience + time.Second) // how long a grace period lasts is told in words
	if third := b.View(); third.JobSets[0] == first.JobSets[0] {
		t.Error("what is said of a group that assembles got old")
	}
}

func TestABoardForgetsTheEventsOfAJobSetWithIt(t *testing.T) {
	t.Parallel()
	again := func() *jobset.JobSet { return training(2, 1, 2).UID("again").Obj() }
	ofAgain := func() *corev1.Event {
		e := event(now, constants.ResumedReason, "")
		e.InvolvedObject.UID = "again"
		return &e
	}
	for name, tc := range map[string]struct {
		change func(*Board, restarts.Input)
		want   int
	}{
		"as long as it exists they are kept":        {func(b *Board, _ restarts.Input) { b.Replace(Events, nil) }, 2},
		"it is deleted":                             {func(b *Board, in restarts.Input) { b.Remove(in.JobSet) }, 0},
		"it was deleted while nothing was read":     {func(b *Board, _ restarts.Input) { b.Replace(JobSets, nil) }, 0},
		"another of its name has its own":           {func(b *Board, _ restarts.Input) { b.Put(ofAgain(), again()) }, 1},
		"so has one that came while nothing was":    {func(b *Board, _ restarts.Input) { b.Put(ofAgain()); b.Replace(JobSets, []metav1.Object{again()}) }, 1},
		"events of nothing end with those listed":   {func(b *Board, in restarts.Input) { b.Remove(in.JobSet); b.Put(ofAgain()); b.Replace(Events, nil) }, 0},
		"those of an earlier one end in the server": {func(b *Board, in restarts.Input) { b.Put(again()); b.Put(&in.Events[0]); b.Remove(&in.Events[0]) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := input(training(2, 1, 2).Obj())
			in.Jobs, in.Events = nil, []corev1.Event{event(now.Add(-time.Minute), constants.JobSetSuspendedReason, ""), event(now.Add(-time.Second), constants.ResumedReason, "")}
			b := boardOf(in)
			b.Remove(&in.Events[0]) // as an API server does after an hour
			tc.change(b, in)
			shown, kept := len(b.View().JobSets), 0
			for _, e := range b.entries {
				kept += len(e.events)
			}
			if kept != tc.want || len(b.entries) != shown {
				t.Errorf("%d events and %d entries of %d JobSets are kept, want %d events", kept, len(b.entries), shown, tc.want)
			}
		})
	}
}

func TestAnEventOfAJobIsThatOfItsJobSet(t *testing.T) {
	t.Parallel()
	in := input(training(1, 1, 2).Obj(), 2)
	in.Pods = nil
	b := boardOf(in)
	before := b.View().JobSets[0]
	about := func(uid types.UID) *corev1.Event {
		e := event(now, "FailedCreate", "Error creating: no quota")
		e.Name, e.InvolvedObject = string(uid), corev1.ObjectReference{Kind: "Job", Namespace: "research", Name: in.Jobs[0].Name, UID: uid}
		return &e
	}
	b.Put(about("another"))
	if b.View().JobSets[0] != before {
		t.Error("an event of a Job of the same name made the JobSet again")
	}
	own := about(in.Jobs[0].UID)
	for _, step := range []struct {
		name   string
		change func()
		want   bool
	}{
		{"an event of its Job", func() { b.Put(own) }, true},
		{"an event that has expired", func() { b.Remove(own) }, false},
		{"an event before its Job", func() { b.Replace(Jobs, nil); b.Put(own); b.Put(&in.Jobs[0]) }, true},
	} {
		step.change()
		if got := strings.Contains(b.View().JobSets[0].Cells[0].Message, "no quota"); got != step.want {
			t.Errorf("%s says why there is no Pod: %t, want %t", step.name, got, step.want)
		}
	}
}
