/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

var update = flag.Bool("update", false, "write the results into testdata; read them before you commit")

// injectCase is the first document of a file in testdata/inject: a Job and its failure policy. The second
// one is the Pod template that Inject returns.
type injectCase struct {
	Why           string                       `json:"why"`
	FailurePolicy *jobset.FailurePolicy        `json:"failurePolicy,omitempty"`
	Resources     *corev1.ResourceRequirements `json:"agentResources,omitempty"`
	Server        string                       `json:"server,omitempty"`
	Before        batchv1.JobSpec              `json:"before"`
}

func TestInject(t *testing.T) {
	files, err := filepath.Glob("testdata/inject/*.yaml")
	if err != nil || len(files) < 31 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run("P50: "+strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			before, after, _ := bytes.Cut(text, []byte("\n---\n"))
			var tc injectCase
			if err := yaml.UnmarshalStrict(before, &tc); err != nil {
				t.Fatal(err)
			}
			job := &batchv1.Job{Spec: tc.Before}
			job.Name = "train-workers-0"
			original := job.DeepCopy()
			with := workerpod.Injection{Image: "agent:v1", Resources: tc.Resources}
			if tc.Server != "" {
				with.Server = version.MustParseGeneric(tc.Server)
			}
			got := workerpod.Inject(job, tc.FailurePolicy, with, workerpod.Place{})
			if *update {
				write(t, file, before, got)
				return
			}
			var want corev1.PodTemplateSpec
			if err := yaml.UnmarshalStrict(after, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Pod template (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(original, job); diff != "" {
				t.Errorf("Inject changed its argument:\n%s", diff)
			}
			job.Spec.Template = got
			if diff := cmp.Diff(got, workerpod.Inject(job, tc.FailurePolicy, with, workerpod.Place{})); diff != "" {
				t.Errorf("Inject twice (-once +twice):\n%s", diff)
			}
		})
	}
}

func write(t *testing.T, file string, before []byte, got corev1.PodTemplateSpec) {
	t.Helper()
	after, err := yaml.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.TrimRight(string(before), "\n") + "\n---\n" + string(after)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestNoWorkerWritesWhatOthersExecute: whoever may write in the root of the volume can move the supervisor away.
func TestNoWorkerWritesWhatOthersExecute(t *testing.T) {
	job := &batchv1.Job{Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "a", Command: []string{"a"}}, {Name: "b", Command: []string{"b"}}},
	}}}}
	process := &jobset.FailurePolicy{InPlaceRestart: &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}}
	spec := workerpod.Inject(job, process, workerpod.Injection{Image: "agent:v1"}, workerpod.Place{}).Spec
	if len(spec.InitContainers) != 1 {
		t.Fatalf("P75: %d init containers are added, want the agent alone", len(spec.InitContainers))
	}
	hook := spec.InitContainers[0].Lifecycle
	if want := []string{"/supervisor", "install", "/jobset"}; hook == nil || hook.PostStart == nil || !slices.Equal(hook.PostStart.Exec.Command, want) {
		t.Errorf("P75: the agent has the hook %+v, want that the kubelet waits for %v", hook, want)
	}
	at := slices.IndexFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == workerpod.SupervisorName })
	if limit := spec.Volumes[at].EmptyDir.SizeLimit; limit == nil || limit.String() != "64Mi" {
		t.Errorf("P61c: the volume of the supervisor may have %v", limit)
	}
	for _, c := range spec.Containers {
		for _, m := range c.VolumeMounts {
			if m.Name != workerpod.SupervisorName {
				continue
			}
			if m.SubPath == "" || m.SubPath != "own/"+c.Name && !m.ReadOnly {
				t.Errorf("P61 P61a: container %s has %+v", c.Name, m)
			}
		}
	}
	for _, c := range spec.Containers {
		if !strings.HasPrefix(c.Command[0], c.VolumeMounts[0].MountPath+"/") {
			t.Errorf("P61: container %s executes %s, and mounts %+v", c.Name, c.Command[0], c.VolumeMounts)
		}
	}
}

func TestEveryExitCodeIsHandledOnce(t *testing.T) {
	name := "worker"
	other := "other"
	rule := func(container *string, op batchv1.PodFailurePolicyOnExitCodesOperator, codes ...int32) batchv1.PodFailurePolicyRule {
		return batchv1.PodFailurePolicyRule{OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{ContainerName: container, Operator: op, Values: codes}}
	}
	var most []int32
	for code := int32(1); code <= 250; code++ {
		most = append(most, code)
	}
	for name, tc := range map[string]struct {
		rules    []batchv1.PodFailurePolicyRule
		recreate []int32
		// leave reports whether a code does not restart in place.
		leave func(code int32) bool
	}{
		"P53: no podFailurePolicy":          {leave: func(int32) bool { return false }},
		"P53: In":                           {rules: []batchv1.PodFailurePolicyRule{rule(nil, "In", 3, 4)}, leave: func(c int32) bool { return c == 3 || c == 4 }},
		"P53: In of this container":         {rules: []batchv1.PodFailurePolicyRule{rule(&name, "In", 3)}, leave: func(c int32) bool { return c == 3 }},
		"P53: In of another container":      {rules: []batchv1.PodFailurePolicyRule{rule(&other, "In", 3)}, leave: func(int32) bool { return false }},
		"P53: NotIn":                        {rules: []batchv1.PodFailurePolicyRule{rule(nil, "NotIn", 3, 4)}, leave: func(c int32) bool { return c != 3 && c != 4 }},
		"P53: NotIn and In":                 {rules: []batchv1.PodFailurePolicyRule{rule(nil, "In", 3), rule(nil, "NotIn", 3, 4)}, leave: func(c int32) bool { return c != 4 }},
		"P53: NotIn of another container":   {rules: []batchv1.PodFailurePolicyRule{rule(&other, "NotIn", 3)}, leave: func(int32) bool { return false }},
		"P53: every code, one way or other": {rules: []batchv1.PodFailurePolicyRule{rule(nil, "In", 3), rule(nil, "NotIn", 3)}, leave: func(int32) bool { return true }},
		"P53: a condition is no exit code":  {rules: []batchv1.PodFailurePolicyRule{{OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{}}}}, leave: func(int32) bool { return false }},
		"P53: codes for a new Pod":          {recreate: []int32{42}, rules: []batchv1.PodFailurePolicyRule{rule(nil, "In", 3)}, leave: func(c int32) bool { return c == 3 || c == 42 }},
		"P53: more codes than a rule holds": {recreate: []int32{251, 252, 253, 254}, rules: []batchv1.PodFailurePolicyRule{rule(nil, "In", most...)}, leave: func(c int32) bool { return c < 255 }},
	} {
		t.Run(name, func(t *testing.T) {
			job := &batchv1.Job{Spec: batchv1.JobSpec{PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: tc.rules}, Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "worker", Image: "worker"}}}}}}
			policy := &jobset.FailurePolicy{InPlaceRestart: &jobset.InPlaceRestartPolicy{RecreatePodOnExitCodes: tc.recreate}}
			rules := workerpod.Inject(job, policy, workerpod.Injection{}, workerpod.Place{}).Spec.Containers[0].RestartPolicyRules
			if workerpod.ActionOn(rules, 0) != "" {
				t.Error("success restarts something")
			}
			for _, rule := range rules {
				if n := len(rule.ExitCodes.Values); n == 0 || n > 255 {
					t.Errorf("a rule with %d codes, which the API refuses", n)
				}
			}
			for code := int32(1); code <= 255; code++ {
				if got := workerpod.RestartsPodOn(rules, code); got == tc.leave(code) {
					t.Errorf("exit code %d restarts in place: %t", code, got)
				}
			}
		})
	}
}

func TestVolumesThatKeepNoAutoscalerFromMovingAPod(t *testing.T) {
	const key = workerpod.EvictableVolumesKey
	for name, tc := range map[string]struct {
		volume string
		before map[string]string
		want   map[string]string
	}{
		"P61d: the volume of the supervisor":       {workerpod.SupervisorName, nil, map[string]string{key: "jobset-supervisor"}},
		"P61d: beside those of the author":         {workerpod.SupervisorName, map[string]string{key: "scratch,cache"}, map[string]string{key: "scratch,cache,jobset-supervisor"}},
		"P61d: once":                               {workerpod.SupervisorName, map[string]string{key: "jobset-supervisor,scratch"}, map[string]string{key: "jobset-supervisor,scratch"}},
		"P61d: not of a Pod that has no such one":  {"scratch", nil, nil},
		"P61d: whatever the names of others share": {workerpod.SupervisorName, map[string]string{key: "my-jobset-supervisor"}, map[string]string{key: "my-jobset-supervisor,jobset-supervisor"}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: tc.volume}}}}
			pod.Annotations = tc.before
			workerpod.AllowEviction(&pod)
			if diff := cmp.Diff(tc.want, pod.Annotations); diff != "" {
				t.Errorf("(-want, +got):\n%s", diff)
			}
		})
	}
}
