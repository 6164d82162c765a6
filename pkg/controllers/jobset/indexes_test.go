/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestControllerKey(t *testing.T) {
	t.Parallel()
	owner := metav1.OwnerReference{APIVersion: "jobset.x-k8s.io/v1alpha2", Kind: "JobSet", Name: "js", UID: "u", Controller: ptr.To(true)}
	with := func(change func(*metav1.OwnerReference)) []metav1.OwnerReference {
		changed := *owner.DeepCopy()
		change(&changed)
		return []metav1.OwnerReference{changed}
	}
	tests := map[string]struct {
		owners []metav1.OwnerReference
		want   []string
	}{
		"C14: by its namespace and the UID of the controller": {[]metav1.OwnerReference{owner}, []string{"ns/u"}},
		"C14: an owner that is not the controller":            {with(func(o *metav1.OwnerReference) { o.Controller = nil }), nil},
		"C14: another kind":                                   {with(func(o *metav1.OwnerReference) { o.Kind = "CronJob" }), nil},
		"C14: another group":                                  {with(func(o *metav1.OwnerReference) { o.APIVersion = "other/v1alpha2" }), nil},
		"C14: another owner beside the controller":            {append(with(func(o *metav1.OwnerReference) { o.UID, o.Controller = "x", nil }), owner), []string{"ns/u"}},
		"C14: nobody owns it":                                 {nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", OwnerReferences: tc.owners}}
			if diff := cmp.Diff(tc.want, shared.ControllerKey(job, "jobset.x-k8s.io/v1alpha2", "JobSet")); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOwned(t *testing.T) {
	t.Parallel()
	js, job := workers()
	s := newShell(t)
	mine := builders.MakePod(job, 0).Obj()
	foreign := builders.MakePod(job, 0).Name("foreign").Change(func(pod *corev1.Pod) { pod.OwnerReferences[0].UID = "another" }).Obj()
	for _, pod := range []*corev1.Pod{mine, foreign} {
		if err := s.pods.Store.Add(facts.Of(pod)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.jobs.Store.Add(job); err != nil {
		t.Fatal(err)
	}
	t.Run("C15, P23: Pods by the UID of their Job, whatever their labels say", func(t *testing.T) {
		t.Parallel()
		if diff := cmp.Diff(mine.Labels, foreign.Labels); diff != "" {
			t.Fatalf("the labels tell them apart (-mine +foreign):\n%s", diff)
		}
		pods, err := s.podsOf([]*batchv1.Job{job})
		if err != nil {
			t.Fatal(err)
		}
		if got := pods[job.UID]; len(got) != 1 || got[0] != s.pods.Named("ns", mine.Name) {
			t.Errorf("got %v, want the one Pod of the Job, not copied", got)
		}
	})
	t.Run("C14, C345: Jobs by the UID of their JobSet, not copied", func(t *testing.T) {
		t.Parallel()
		if jobs, err := s.jobs.ControlledBy(js.Namespace, js.UID); err != nil || len(jobs) != 1 || jobs[0] != job {
			t.Errorf("got %v, %v, want the one Job, not copied", jobs, err)
		}
	})
	t.Run("C358: none of another JobSet", func(t *testing.T) {
		t.Parallel()
		if jobs, err := s.jobs.ControlledBy(js.Namespace, "another"); err != nil || len(jobs) != 0 {
			t.Errorf("got %v, %v, want none", jobs, err)
		}
	})
	t.Run("none of a kind that is not watched", func(t *testing.T) {
		t.Parallel()
		var unwatched shared.Indexed[*corev1.Pod]
		got, err := unwatched.ControlledBy(job.Namespace, job.UID)
		if diff := cmp.Diff([]*corev1.Pod(nil), got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Errorf("without a watch: %v, %s", err, diff)
		}
	})
}
