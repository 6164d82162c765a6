/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/test/ownagent"
)

var (
	gateOff  = gates.Set{}
	gateOn   = gates.Set{InPlaceRestart: true}
	allGates = gates.Set{InPlaceRestart: true, RestartJob: true, ElasticJobSet: true, FaultTolerance: true}
)

// violation is the part of an error that tests check: its type, its path and a part of its text.
type violation struct {
	Type   field.ErrorType
	Field  string
	Detail string
}

func invalid(path, detail string) violation  { return violation{field.ErrorTypeInvalid, path, detail} }
func required(path, detail string) violation { return violation{field.ErrorTypeRequired, path, detail} }
func forbidden(path, detail string) violation {
	return violation{field.ErrorTypeForbidden, path, detail}
}
func unpathed(detail string) violation { return violation{field.ErrorTypeInternal, "<nil>", detail} }

// expect compares the whole list. The wanted texts are substrings.
func expect(t *testing.T, want []violation, got field.ErrorList) {
	t.Helper()
	var seen []violation
	for i, err := range got {
		v := violation{err.Type, err.Field, err.Detail}
		if i < len(want) && strings.Contains(v.Detail, want[i].Detail) {
			v.Detail = want[i].Detail
		}
		seen = append(seen, v)
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

// createCase is a change of a valid JobSet, and the violations it leads to.
type createCase struct {
	gates gates.Set
	mut   func(js *jobset.JobSet)
	want  []violation
}

func runCreate(t *testing.T, base func() *jobset.JobSet, cases map[string]createCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			js := base()
			if tc.mut != nil {
				tc.mut(js)
			}
			before := js.DeepCopy()
			expect(t, tc.want, Create(js, tc.gates))
			if diff := cmp.Diff(before, js); diff != "" {
				t.Errorf("validation changed the object:\n%s", diff)
			}
		})
	}
}

// plainJobSet is valid and has defaults set: ReplicatedJobs leader (1 Pod) and workers (2 Jobs of 2 Pods).
func plainJobSet() *jobset.JobSet {
	return &jobset.JobSet{
		ObjectMeta: metav1.ObjectMeta{Name: "js", Namespace: "ns"},
		Spec: jobset.JobSetSpec{
			ReplicatedJobs: []jobset.ReplicatedJob{replicatedJob("leader", 1, 1), replicatedJob("workers", 2, 2)},
			Network:        &jobset.Network{EnableDNSHostnames: ptr.To(true), PublishNotReadyAddresses: ptr.To(true)},
			SuccessPolicy:  &jobset.SuccessPolicy{Operator: jobset.OperatorAll},
			StartupPolicy:  &jobset.StartupPolicy{StartupPolicyOrder: jobset.AnyOrder},
		},
	}
}

func replicatedJob(name string, replicas, pods int32) jobset.ReplicatedJob {
	return jobset.ReplicatedJob{
		Name: name, GroupName: "default", Replicas: replicas,
		Template: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{
			Parallelism: ptr.To(pods), Completions: ptr.To(pods),
			CompletionMode: ptr.To(batchv1.IndexedCompletion),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyOnFailure,
				Containers:    []corev1.Container{{Name: "worker", Image: "worker"}},
			}},
		}},
	}
}

// inPlaceJobSet is plainJobSet prepared for InPlaceRestart, agents included.
func inPlaceJobSet() *jobset.JobSet {
	js := plainJobSet()
	js.Spec.FailurePolicy = &jobset.FailurePolicy{MaxRestarts: 3, RestartStrategy: jobset.InPlaceRestart}
	for i := range js.Spec.ReplicatedJobs {
		template := &js.Spec.ReplicatedJobs[i].Template
		template.Spec.Template.Spec.RestartPolicy = ""
		*template = *ownagent.Job(template, "jobset-agent", workerpod.Options{AgentImage: "agent"})
	}
	return js
}

func job(js *jobset.JobSet, i int) *batchv1.JobSpec { return &js.Spec.ReplicatedJobs[i].Template.Spec }

func pod(js *jobset.JobSet, i int) *corev1.PodSpec { return &job(js, i).Template.Spec }

// leaderOnly drops the second ReplicatedJob where one violation is enough.
func leaderOnly(js *jobset.JobSet) { js.Spec.ReplicatedJobs = js.Spec.ReplicatedJobs[:1] }
