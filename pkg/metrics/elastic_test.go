/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/jobset/pkg/elastic"
)

func TestWhatNoJobRequestsIsNotReportedAsFree(t *testing.T) {
	ElasticPlanned(elastic.Plan{Free: elastic.Resources{"nvidia.com/gpu": 3}, Assigned: elastic.Resources{"nvidia.com/gpu": 5}})
	ElasticPlanned(elastic.Make(elastic.Input{Accelerators: []corev1.ResourceName{"nvidia.com/gpu"}}))
	want := []series{{Labels: map[string]string{"resource": "nvidia.com/gpu", "state": "assigned"}, Value: 0}}
	if diff := cmp.Diff(want, gather(t, "jobset_elastic_accelerators")); diff != "" {
		t.Errorf("P109: after the last job ended (-want +got):\n%s", diff)
	}
}

func TestPlansAreReported(t *testing.T) {
	ElasticPlanned(elastic.Plan{
		Decisions: []elastic.Decision{{State: elastic.Waits, Score: -0.5}, {State: elastic.Gives, Score: 0.75}, {State: elastic.Gives, Score: 1}},
		Free:      elastic.Resources{"nvidia.com/gpu": 3}, Assigned: elastic.Resources{"nvidia.com/gpu": 5},
	})
	ElasticResized(true)
	labelled := func(name string, values map[string]float64, order ...string) []series {
		var all []series
		for _, value := range order {
			all = append(all, series{Labels: map[string]string{name: value}, Value: values[value]})
		}
		return all
	}
	for metric, want := range map[string][]series{
		"jobset_elastic_accelerators": {
			{Labels: map[string]string{"resource": "nvidia.com/gpu", "state": "assigned"}, Value: 5},
			{Labels: map[string]string{"resource": "nvidia.com/gpu", "state": "free"}, Value: 3},
		},
		"jobset_elastic_jobs": labelled("state", map[string]float64{"Gives": 2, "Waits": 1},
			"Cools", "Fits", "Gives", "Grows", "Keeps", "Overcommits", "Refused", "Shrinks", "Stuck", "Waits"),
		"jobset_elastic_jobs_by_score": labelled("le", map[string]float64{"0": 1, "0.25": 1, "0.5": 1, "0.75": 2, "1": 3},
			"0", "0.25", "0.5", "0.75", "1"),
		"jobset_elastic_resizes_total": labelled("direction", map[string]float64{"up": 1}, "down", "up"),
	} {
		if diff := cmp.Diff(want, gather(t, metric)); diff != "" {
			t.Errorf("P109: %s (-want +got):\n%s", metric, diff)
		}
	}
}
