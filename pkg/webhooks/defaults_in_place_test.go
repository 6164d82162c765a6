/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/validation"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/test/ownagent"
)

var on = gates.Set{InPlaceRestart: true}

// tenLines is what a user writes.
const tenLines = `
spec:
  failurePolicy: {restartStrategy: InPlaceRestart, maxRestarts: 10, rules: [{action: FailJobSet}]}
  volumeClaimPolicies: [{}]
  replicatedJobs:
  - name: workers
    template: {spec: {parallelism: 4, template: {spec: {containers: [{name: worker, image: worker, command: [train]}]}}}}
  - name: leader
    template: {spec: {template: {spec: {containers: [{name: leader, image: leader, command: [lead]}]}}}}
`

func read(t *testing.T, text string) *jobset.JobSet {
	t.Helper()
	js := &jobset.JobSet{}
	if err := yaml.UnmarshalStrict([]byte(text), js); err != nil {
		t.Fatal(err)
	}
	return js
}

func TestDefaultInPlace(t *testing.T) {
	job := func(completions, parallelism *int32) batchv1.JobSpec {
		return batchv1.JobSpec{Completions: completions, Parallelism: parallelism}
	}
	for name, tc := range map[string]struct {
		given                    batchv1.JobSpec
		completions, parallelism int32
	}{
		"P51: nothing is one worker":        {job(nil, nil), 1, 1},
		"P51: parallelism is completions":   {job(nil, ptr.To[int32](4)), 4, 4},
		"P51: completions are parallelism":  {job(ptr.To[int32](4), nil), 4, 4},
		"P51: a contradiction stays":        {job(ptr.To[int32](4), ptr.To[int32](2)), 4, 2},
		"P51: explicit zeros are no absent": {job(ptr.To[int32](0), nil), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			js := read(t, tenLines)
			js.Spec.ReplicatedJobs[0].Template.Spec = tc.given
			Default(js, on)
			indexed := batchv1.IndexedCompletion
			want := batchv1.JobSpec{
				Completions: &tc.completions, Parallelism: &tc.parallelism, CompletionMode: &indexed,
				BackoffLimit: ptr.To[int32](2147483647), PodReplacementPolicy: ptr.To(batchv1.Failed),
			}
			want.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
			if diff := cmp.Diff(want, js.Spec.ReplicatedJobs[0].Template.Spec); diff != "" {
				t.Errorf("Job (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("P51: what is said stays, wrong or not", func(t *testing.T) {
		js := read(t, tenLines)
		job := &js.Spec.ReplicatedJobs[0].Template.Spec
		job.BackoffLimit, job.PodReplacementPolicy, job.Template.Spec.RestartPolicy = ptr.To[int32](6), ptr.To(batchv1.TerminatingOrFailed), "OnFailure"
		Default(js, on)
		if *job.BackoffLimit != 6 || *job.PodReplacementPolicy != batchv1.TerminatingOrFailed || job.Template.Spec.RestartPolicy != "OnFailure" {
			t.Errorf("got %+v", job)
		}
	})
	for name, tc := range map[string]struct {
		gates    gates.Set
		strategy jobset.JobSetRestartStrategy
	}{
		"P51: with the gate off the old defaults hold": {gates.Set{}, jobset.InPlaceRestart},
		"P51: other strategies have the old defaults":  {on, jobset.Recreate},
	} {
		t.Run(name, func(t *testing.T) {
			js := read(t, tenLines)
			js.Spec.FailurePolicy.RestartStrategy = tc.strategy
			Default(js, tc.gates)
			if job := js.Spec.ReplicatedJobs[1].Template.Spec; job.BackoffLimit != nil || job.Completions != nil || job.Template.Spec.RestartPolicy != "OnFailure" {
				t.Errorf("got %+v", job)
			}
		})
	}
}

func TestDefaultMode(t *testing.T) {
	process := func(grace int32) jobset.InPlaceRestartPolicy {
		return jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode, StopGracePeriodSeconds: &grace}
	}
	container := jobset.InPlaceRestartPolicy{Mode: jobset.ContainerMode}
	withoutCommand := func(js *jobset.JobSet) {
		js.Spec.ReplicatedJobs[1].Template.Spec.Template.Spec.Containers[0].Command = nil
	}
	withOwnAgent := func(js *jobset.JobSet) {
		template := &js.Spec.ReplicatedJobs[1].Template
		*template = *ownagent.Job(template, "", workerpod.Options{AgentImage: "agent"})
	}
	for name, tc := range map[string]struct {
		written string
		change  func(js *jobset.JobSet)
		want    jobset.InPlaceRestartPolicy
	}{
		"P60: where nothing is said, it is Process": {written: "null", want: process(2)},
		"P60: the rest of what is said stays": {written: "{recreatePodOnExitCodes: [3]}",
			want: jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode, StopGracePeriodSeconds: ptr.To[int32](2), RecreatePodOnExitCodes: []int32{3}}},
		"P60: a grace asks for nothing else":                        {written: "{stopGracePeriodSeconds: 5}", want: process(5)},
		"P60: one container that cannot makes it Container for all": {written: "null", change: withoutCommand, want: container},
		"P60: an agent of the author's makes it Container":          {written: "null", change: withOwnAgent, want: container},
		"P60: what is asked for stays, possible or not":             {written: "{mode: Process}", change: withoutCommand, want: process(2)},
		"P60: container mode has no grace":                          {written: "{mode: Container}", want: container},
		"P60: process mode has the kubelet's":                       {written: "{mode: Process}", want: process(2)},
		"P60: a grace of none is one":                               {written: "{mode: Process, stopGracePeriodSeconds: 0}", want: process(0)},
		"P60: a grace where nobody gives it, refused": {written: "{mode: Container, stopGracePeriodSeconds: 5}",
			want: jobset.InPlaceRestartPolicy{Mode: jobset.ContainerMode, StopGracePeriodSeconds: ptr.To[int32](5)}},
	} {
		t.Run(name, func(t *testing.T) {
			js := read(t, tenLines)
			apply(tc.change, js)
			if err := yaml.UnmarshalStrict([]byte(tc.written), &js.Spec.FailurePolicy.InPlaceRestart); err != nil {
				t.Fatal(err)
			}
			Default(js, on)
			if diff := cmp.Diff(&tc.want, js.Spec.FailurePolicy.InPlaceRestart); diff != "" {
				t.Errorf("policy (-want +got):\n%s", diff)
			}
		})
	}
}

func TestP57P60BelowTheVersionThatRestartsContainersTheModeIsProcessOrAnError(t *testing.T) {
	old := validation.Cluster{AgentImage: "agent", Server: version.MustParseGeneric("v1.35.9")}
	js := read(t, tenLines)
	Default(js, on)
	if errs := validation.InCluster(js, on, old); len(errs) > 0 || js.Spec.FailurePolicy.InPlaceRestart.Mode != jobset.ProcessMode {
		t.Errorf("mode %s, errors %v", js.Spec.FailurePolicy.InPlaceRestart.Mode, errs)
	}
	js = read(t, tenLines)
	js.Spec.ReplicatedJobs[1].Template.Spec.Template.Spec.Containers[0].Command = nil
	Default(js, on)
	if errs := validation.InCluster(js, on, old); len(errs) != 1 || errs[0].Field != "spec.failurePolicy.inPlaceRestart.mode" {
		t.Errorf("errors %v", errs)
	}
}

func TestKeepMode(t *testing.T) {
	for name, tc := range map[string]struct{ stored, update, want string }{
		"P59: a JobSet of an older version names none":    {stored: "null", update: "null", want: "null"},
		"P59: nor does one with codes for a new Pod":      {stored: "{recreatePodOnExitCodes: [3]}", update: "{recreatePodOnExitCodes: [3]}", want: "{recreatePodOnExitCodes: [3]}"},
		"P60: what is left out keeps its value":           {stored: "{mode: Process, stopGracePeriodSeconds: 2}", update: "null", want: "{mode: Process, stopGracePeriodSeconds: 2}"},
		"P60: so does each field":                         {stored: "{mode: Process, stopGracePeriodSeconds: 2}", update: "{mode: Process}", want: "{mode: Process, stopGracePeriodSeconds: 2}"},
		"P60: what is written is a change, to be refused": {stored: "{mode: Process, stopGracePeriodSeconds: 2}", update: "{mode: Container}", want: "{mode: Container, stopGracePeriodSeconds: 2}"},
		"P53: codes that are left out are no default":     {stored: "{mode: Container, recreatePodOnExitCodes: [3]}", update: "null", want: "{mode: Container}"},
	} {
		t.Run(name, func(t *testing.T) {
			set := func(text string) *jobset.JobSet {
				js := read(t, tenLines)
				Default(js, on)
				js.Spec.FailurePolicy.InPlaceRestart = nil
				if err := yaml.UnmarshalStrict([]byte(text), &js.Spec.FailurePolicy.InPlaceRestart); err != nil {
					t.Fatal(err)
				}
				return js
			}
			got := set(tc.update)
			Keep(got, set(tc.stored))
			if diff := cmp.Diff(set(tc.want), got); diff != "" {
				t.Errorf("JobSet (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeep(t *testing.T) {
	for name, tc := range map[string]struct {
		// change is made to the manifest that replaces the stored JobSet, want to the stored JobSet.
		change, want func(js *jobset.JobSet)
	}{
		"P51: the original manifest is no change": {},
		"P51: one that drops a resource is what it says": {
			change: func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[1].Name = "other" },
			want: func(js *jobset.JobSet) {
				rjob := read(t, tenLines).Spec.ReplicatedJobs[1]
				rjob.Name = "other"
				js.Spec.ReplicatedJobs[1] = rjob
			},
		},
		"P51: a new number of workers is the other number too": {
			change: func(js *jobset.JobSet) { js.Spec.ReplicatedJobs[0].Template.Spec.Parallelism = ptr.To[int32](8) },
			want: func(js *jobset.JobSet) {
				job := &js.Spec.ReplicatedJobs[0].Template.Spec
				job.Parallelism, job.Completions = ptr.To[int32](8), ptr.To[int32](8)
			},
		},
		"P51: fields that are there win": {
			change: func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs[0].Template.Spec.BackoffLimit = ptr.To[int32](3)
				js.Spec.Network = &jobset.Network{Subdomain: "x"}
			},
			want: func(js *jobset.JobSet) {
				js.Spec.ReplicatedJobs[0].Template.Spec.BackoffLimit = ptr.To[int32](3)
				js.Spec.Network.Subdomain = "x"
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			stored := read(t, tenLines)
			Default(stored, on)
			got := read(t, tenLines)
			apply(tc.change, got)
			want := stored.DeepCopy()
			apply(tc.want, want)
			before := stored.DeepCopy()
			Keep(got, stored)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("JobSet (-want +got):\n%s", diff)
			}
			if got.Spec.Network != nil {
				got.Spec.Network.EnableDNSHostnames = nil
			}
			if diff := cmp.Diff(before, stored); diff != "" {
				t.Errorf("Keep changed the stored JobSet, or shares it:\n%s", diff)
			}
		})
	}
}

func apply(change func(*jobset.JobSet), js *jobset.JobSet) {
	if change != nil {
		change(js)
	}
}
