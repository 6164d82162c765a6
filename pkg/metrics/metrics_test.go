/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/policy"
)

// series is one series of a metric.
type series struct {
	Labels map[string]string
	Value  float64
	Count  uint64
}

// collected returns the series of a collector that has one metric.
func collected(t *testing.T, from prometheus.Collector) (all []series) {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(from)
	return gatherFrom(t, registry, "")
}

func gather(t *testing.T, name string) []series {
	t.Helper()
	return gatherFrom(t, metrics.Registry, name)
}

func gatherFrom(t *testing.T, from prometheus.Gatherer, name string) []series {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var got []series
	for _, family := range families {
		if name != "" && family.GetName() != name {
			continue
		}
		for _, metric := range family.GetMetric() {
			one := series{Value: metric.GetCounter().GetValue() + metric.GetGauge().GetValue()}
			if histogram := metric.GetHistogram(); histogram != nil {
				one.Value, one.Count = histogram.GetSampleSum(), histogram.GetSampleCount()
			}
			for _, label := range metric.GetLabel() {
				if one.Labels == nil {
					one.Labels = map[string]string{}
				}
				one.Labels[label.GetName()] = label.GetValue()
			}
			got = append(got, one)
		}
	}
	return got
}

// metricsOfJobSets are the metrics in the table below.
var metricsOfJobSets = []string{
	"jobset_failed_total", "jobset_completed_total",
	"jobset_restarts_total", "jobset_in_place_restarts_total", "jobset_in_place_restart_duration_seconds", "jobset_in_place_worker_starts_total", "jobset_replaced_workers_total", "jobset_moves_total", "jobset_lost_nodes_total", "jobset_time_seconds_total", // the last in time_test.go
	"jobset_elastic_accelerators", "jobset_elastic_jobs", "jobset_elastic_jobs_by_score", "jobset_elastic_resizes_total", // in elastic_test.go
	"jobset_in_place_assembling_seconds", "jobset_in_place_assembling", "jobset_fault_tolerance_steps_total", "jobset_restart_budget_nearly_spent", // in collector_test.go
}

func TestOutcomesAreCounted(t *testing.T) {
	one := types.NamespacedName{Namespace: "ns", Name: "one"}
	JobSetFailed(one)
	JobSetFailed(one)
	JobSetCompleted(types.NamespacedName{Namespace: "ns", Name: "two"})
	for _, action := range []jobset.FailurePolicyAction{
		jobset.RestartJobSet, jobset.RestartJobSet, jobset.RestartJobAndIgnoreMaxRestarts, jobset.FailJobSet, "Unknown",
	} {
		Restarted(action)
	}
	InPlaceRestartStarted()
	InPlaceRestartCompleted(1500 * time.Millisecond)
	InPlaceRestartCompleted(3 * time.Second)
	WorkersStarted(policy.WarmStarts{Epoch: 4, Warm: 3, Cold: 1})
	WorkersStarted(policy.WarmStarts{})
	WorkerReplaced("ProcessStuck")
	WorkerReplaced("what a stranger wrote")
	FaultTolerated(policy.WasReset)
	FaultTolerated(policy.Completed)
	Moved(ByReset)
	NodeLost()

	tests := map[string]struct {
		metric string
		want   []series
	}{
		"failures by JobSet (O79, C225)": {
			metric: "jobset_failed_total",
			want:   []series{{Labels: map[string]string{"jobset_name": "one", "namespace": "ns"}, Value: 2}},
		},
		"completions by JobSet (O79, C226)": {
			metric: "jobset_completed_total",
			want:   []series{{Labels: map[string]string{"jobset_name": "two", "namespace": "ns"}, Value: 1}},
		},
		"restarts by action, all actions from the start and no other label (O490, C227)": {
			metric: "jobset_restarts_total",
			want: []series{
				{Labels: map[string]string{"action": "RestartJob"}},
				{Labels: map[string]string{"action": "RestartJobAndIgnoreMaxRestarts"}, Value: 1},
				{Labels: map[string]string{"action": "RestartJobSet"}, Value: 2},
				{Labels: map[string]string{"action": "RestartJobSetAndIgnoreMaxRestarts"}},
			},
		},
		"in-place restarts, without labels (C227)": {
			metric: "jobset_in_place_restarts_total",
			want:   []series{{Value: 1}},
		},
		"starts of workers, warm and cold (P165)": {
			metric: "jobset_in_place_worker_starts_total",
			want:   []series{{Labels: map[string]string{"start": "cold"}, Value: 1}, {Labels: map[string]string{"start": "warm"}, Value: 3}},
		},
		"workers that could not restart in place, by reason (C227, P70)": {
			metric: "jobset_replaced_workers_total",
			want: []series{
				{Labels: map[string]string{"reason": "ContainerDone"}},
				{Labels: map[string]string{"reason": "ContainerLost"}},
				{Labels: map[string]string{"reason": "ProcessStuck"}, Value: 1},
				{Labels: map[string]string{"reason": "Unknown"}, Value: 1},
			},
		},
		"steps of fault tolerance, by step (C227, P89)": {
			metric: "jobset_fault_tolerance_steps_total",
			want: []series{
				{Labels: map[string]string{"step": "AvoidedNodeGivenUp"}},
				{Labels: map[string]string{"step": "ForcefulDeletion"}},
				{Labels: map[string]string{"step": "NodeAvoided"}},
				{Labels: map[string]string{"step": "Reset"}, Value: 1},
				{Labels: map[string]string{"step": "Unhealthy"}},
			},
		},
		"nodes whose workers were replaced by force, without labels (P174)": {
			metric: "jobset_lost_nodes_total",
			want:   []series{{Value: 1}},
		},
		"moves off sick nodes, all results from the start (P92)": {
			metric: "jobset_moves_total",
			want: []series{
				{Labels: map[string]string{"result": "InPlace"}},
				{Labels: map[string]string{"result": "Refused"}},
				{Labels: map[string]string{"result": "Reset"}, Value: 1},
			},
		},
		"durations of in-place restarts, in seconds (C227)": {
			metric: "jobset_in_place_restart_duration_seconds",
			want:   []series{{Value: 4.5, Count: 2}},
		},
	}
	t.Run("there are no others of JobSets (C225-C227)", func(t *testing.T) {
		families, err := metrics.Registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			if strings.HasPrefix(family.GetName(), "jobset_") && !slices.Contains(metricsOfJobSets, family.GetName()) {
				t.Errorf("%s is in no table", family.GetName())
			}
		}
	})
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, gather(t, tc.metric)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.metric, diff)
			}
		})
	}
}
