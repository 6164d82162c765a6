/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"sigs.k8s.io/jobset/pkg/elastic"
)

// The names of accelerators come from the configuration, so the label has few values.
var (
	elasticAccelerators = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "jobset_elastic_accelerators",
		Help: "Accelerators on usable nodes that no Pod uses (free), and those that elastic jobs have (assigned), by the last plan",
	}, []string{"resource", "state"})

	elasticJobs = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "jobset_elastic_jobs",
		Help: "Elastic jobs by their state in the last plan",
	}, []string{"state"})

	elasticScore = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "jobset_elastic_jobs_by_score",
		Help: "Elastic jobs by their score before the last plan, cumulative: those with a score of at most le",
	}, []string{"le"})

	elasticResizesTotal = newCounters("jobset_elastic_resizes_total", "The total number of sizes of elastic jobs that the manager changed, by direction",
		"direction", "up", "down")
)

// elasticStates are all that a plan may say of a job.
var elasticStates = []elastic.State{elastic.Keeps, elastic.Grows, elastic.Gives, elastic.Fits, elastic.Shrinks, elastic.Refused, elastic.Stuck, elastic.Cools, elastic.Waits, elastic.Overcommits}

// scores are the upper bounds of the distribution.
var scores = []struct {
	name string
	most float64
}{{"0", 0}, {"0.25", 0.25}, {"0.5", 0.5}, {"0.75", 0.75}, {"1", 1}}

func init() {
	for _, state := range elasticStates {
		elasticJobs.WithLabelValues(string(state))
	}
	for _, score := range scores {
		elasticScore.WithLabelValues(score.name)
	}
	for _, state := range []string{"free", "assigned"} { // of the default
		elasticAccelerators.WithLabelValues("nvidia.com/gpu", state)
	}
	metrics.Registry.MustRegister(elasticAccelerators, elasticJobs, elasticScore, elasticResizesTotal)
}

// ElasticPlanned reports a plan.
func ElasticPlanned(plan elastic.Plan) {
	elasticAccelerators.Reset() // what is free of a resource that no job requests is not known
	for resource, amount := range plan.Free {
		elasticAccelerators.WithLabelValues(string(resource), "free").Set(float64(amount))
	}
	for resource, amount := range plan.Assigned {
		elasticAccelerators.WithLabelValues(string(resource), "assigned").Set(float64(amount))
	}
	states := map[elastic.State]int{}
	for _, d := range plan.Decisions {
		states[d.State]++
	}
	for _, state := range elasticStates {
		elasticJobs.WithLabelValues(string(state)).Set(float64(states[state]))
	}
	for _, score := range scores {
		count := 0
		for _, d := range plan.Decisions {
			if d.Score <= score.most {
				count++
			}
		}
		elasticScore.WithLabelValues(score.name).Set(float64(count))
	}
}

// ElasticResized counts a change of size, once it is written.
func ElasticResized(up bool) {
	direction := map[bool]string{true: "up", false: "down"}[up]
	elasticResizesTotal.WithLabelValues(direction).Inc()
}
