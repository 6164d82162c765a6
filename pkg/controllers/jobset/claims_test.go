/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/children"
	"sigs.k8s.io/jobset/pkg/policy"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

func TestCreateClaims(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a")).Claims(jobset.RetentionPolicyDelete, "data", "models").Obj()
	theirs := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-js", Namespace: "ns", Labels: map[string]string{"whose": "theirs"}}}
	planned := func() *policy.Plan {
		ops := []policy.Op{{Kind: policy.CreateJob, Job: children.NewBuilder(js).Job(&js.Spec.ReplicatedJobs[0], 0)}}
		for _, claim := range children.Claims(js) {
			ops = append(ops, policy.Op{Kind: policy.CreateClaim, Claim: claim})
		}
		return planOf(ops...)
	}
	t.Run("C177, C181: a claim that exists is left alone", func(t *testing.T) {
		t.Parallel()
		s, plan := newShell(t, js, theirs), planned()
		if err := s.execute(t.Context(), js, plan); err != nil {
			t.Fatal(err)
		}
		if got := stored(t, s, theirs); got.Labels["whose"] != "theirs" || got.OwnerReferences != nil {
			t.Errorf("the claim is now %+v", got)
		}
		if got := stored(t, s, plan.Of(policy.CreateClaim)[1].Claim); !metav1.IsControlledBy(got, js) {
			t.Errorf("C179: the claim belongs to %v", got.OwnerReferences)
		}
	})
	t.Run("C180, C216: other claims are still tried, no Job is created, and it is told", func(t *testing.T) {
		t.Parallel()
		s := newShell(t, js)
		s.Fail = func(request string) error {
			if request == "create PersistentVolumeClaim data-js" {
				return errors.New("quota of 100%s is spent")
			}
			return nil
		}
		if err := s.execute(t.Context(), js, planned()); err == nil || !strings.Contains(err.Error(), "creating PersistentVolumeClaim ns/data-js") {
			t.Errorf("error %v", err)
		}
		s.Record.Sort()
		s.Record.Expect(t, "create PersistentVolumeClaim data-js", "create PersistentVolumeClaim models-js",
			"event Warning PVCCreationFailed Reconciling: creating PersistentVolumeClaim ns/data-js: quota of 100%s is spent")
	})
}

func TestClaimsOf(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").Claims(jobset.RetentionPolicyDelete, "data", "models").Obj()
	s := newShell(t, js, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "models-js", Namespace: "ns"}},
		&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-js", Namespace: "elsewhere"}})
	existing, err := s.claimsOf(t.Context(), js)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name := range existing {
		names = append(names, name)
	}
	if diff := cmp.Diff([]string{"models-js"}, names); diff != "" {
		t.Errorf("C340: claims that exist (-want +got):\n%s", diff)
	}
}

// TestCountsAreWrittenThoughAnActionFails: users can follow the other Jobs (C315).
func TestCountsAreWrittenThoughAnActionFails(t *testing.T) {
	t.Parallel()
	js := builders.MakeJobSet("js", "ns").ReplicatedJob(builders.MakeReplicatedJob("a").Replicas(2)).Obj()
	running := builders.MakeJob(js, "a", 0).Counts(1, 1, 0).Obj()
	s := newShell(t, js, running)
	if err := s.jobs.Store.Add(running); err != nil {
		t.Fatal(err)
	}
	s.Fail = func(request string) error {
		if request == "create Job js-a-1" {
			return errors.New("forbidden")
		}
		return nil
	}
	if _, err := s.pass(t.Context(), requestFor(js)); err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Errorf("C64: error %v, want the one of the creation", err)
	}
	want := jobset.JobSetStatus{
		ReplicatedJobsStatus: []jobset.ReplicatedJobStatus{{Name: "a", Ready: 1, Active: 1}},
		Conditions: []metav1.Condition{{
			Type: string(jobset.JobSetJobsBlocked), Status: metav1.ConditionTrue, Reason: "JobCreationFailed",
			Message: `job "js-a-1" creation failed with error: forbidden`, LastTransitionTime: metav1.NewTime(s.clock.Now()),
		}},
	}
	if diff := cmp.Diff(want, stored(t, s, js).Status); diff != "" {
		t.Errorf("C315: status (-want +got):\n%s", diff)
	}
	s.Record.Expect(t, "create Job js-a-1", `event Warning JobCreationFailed Reconciling: job "js-a-1" creation failed with error: forbidden`, "update status JobSet js")
}
