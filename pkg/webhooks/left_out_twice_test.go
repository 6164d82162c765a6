/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/nodehealth"
)

// TestAStoredTemplateIsKeptOnce: the schema refuses two ReplicatedJobs of one name, but only after this webhook. If each got what
// is stored under the name, a request of 3 MB would become a hundred gigabytes.
func TestAStoredTemplateIsKeptOnce(t *testing.T) {
	const times = 1_000
	stored := fmt.Sprintf(`{"spec":{"replicatedJobs":[{"name":"a","template":{"metadata":{"annotations":{"large":%q}},"spec":{}}}]}}`, strings.Repeat("x", 10_000))
	object := `{"spec":{"replicatedJobs":[` + strings.Repeat(`{"name":"a","template":{}},`, times) + `{"name":"b"}]}}`
	kept := leftOutOf([]byte(object), []byte(stored), gates.Set{})
	if most := len(object) + len(stored); len(kept.list) > most {
		t.Errorf("W20b, W140: of %d bytes that are written or stored come %d", most, len(kept.list))
	}
}

// TestAStoredAffinityIsKeptOnce does the same for what is kept in Go.
func TestAStoredAffinityIsKeptOnce(t *testing.T) {
	with := func(affinities ...*corev1.Affinity) *jobset.JobSet {
		js := &jobset.JobSet{}
		for _, affinity := range affinities {
			job := jobset.ReplicatedJob{Name: "a"}
			job.Template.Spec.Template.Spec = corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}, Affinity: affinity}
			js.Spec.ReplicatedJobs = append(js.Spec.ReplicatedJobs, job)
		}
		return js
	}
	away := nodehealth.DefaultRules().KeepAway(&corev1.PodSpec{Containers: []corev1.Container{{
		Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")}}}}})
	js := with(nil, nil)
	Keep(js, with(away))
	for i, want := range []bool{true, false} {
		if got := js.Spec.ReplicatedJobs[i].Template.Spec.Template.Spec.Affinity; (got != nil) != want {
			t.Errorf("W20a, W140: ReplicatedJob %d has affinity %v", i, got)
		}
	}
}

// TestSizesThatMayNotChange: a size that an update leaves out is kept as anything else, unless a gate lets it change (W91).
func TestSizesThatMayNotChange(t *testing.T) {
	list := func(mode, size string) []byte {
		return fmt.Appendf(nil, `{"spec":{"replicatedJobs":[{"name":"a","template":{"spec":{%s"completionMode":%q,"template":{"spec":{"containers":[{"name":"c"}]}}}}}]}}`, size, mode)
	}
	for name, tc := range map[string]struct {
		mode string
		gate bool
		kept bool
	}{
		"W20b W91: kept with the gate off":               {"Indexed", false, true},
		"W20b W91: that of an Indexed Job may change":    {"Indexed", true, false},
		"W20b W91: kept in Jobs that are not, with gate": {"NonIndexed", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			kept := leftOutOf(list(tc.mode, ""), list(tc.mode, `"parallelism":2,"completions":2,`), gates.Set{ElasticJobSet: tc.gate})
			if got := strings.Contains(string(kept.list), `"completions":2`) && strings.Contains(string(kept.list), `"parallelism":2`); got != tc.kept {
				t.Errorf("kept %s", kept.list)
			}
		})
	}
}
