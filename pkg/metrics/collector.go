/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
)

// The gauges are computed when somebody asks, from the cache. Every manager has it, and so reports
// the same: max() is their value, not sum(). They have no labels, since the cache says which
// JobSets there are and a label would make a series of each.
var (
	assemblingSeconds = prometheus.NewDesc("jobset_in_place_assembling_seconds",
		"How long the group that has been assembling for the longest time has done so, 0 if none is. "+
			"JobSets that are suspended, finished or being deleted, and those for which in-place restart is disabled, do not count. Take the max() of all managers", nil, nil)

	assembling = prometheus.NewDesc("jobset_in_place_assembling",
		"The number of groups that are assembling: they start, or restart in place, and wait for workers. Take the max() of all managers", nil, nil)

	budgetNearlySpent = prometheus.NewDesc("jobset_restart_budget_nearly_spent",
		"The number of JobSets, neither finished nor being deleted, with maxRestarts of at least 1 that have used at least 80 % of it: "+
			"restarts that count towards it and in-place restarts. Take the max() of all managers", nil, nil)
)

// JobSets returns the JobSets that there are, to be read and never changed. False means that this
// is not known, because the cache is not complete yet.
type JobSets func() ([]*jobset.JobSet, bool)

// collector is registered once in the process; which JobSets it looks at is set later.
type collector struct {
	source atomic.Pointer[source]
	now    func() time.Time
}

type source struct {
	jobSets JobSets
	gates   gates.Set
}

var jobSetCollector = &collector{now: time.Now}

// ObserveJobSets says what the gauges about JobSets are computed from. The last call counts:
// tests run several managers in a process, and a process has one registry.
func ObserveJobSets(jobSets JobSets, gates gates.Set) {
	jobSetCollector.source.Store(&source{jobSets: jobSets, gates: gates})
}

// WatchJobSets adds to a manager what computes the gauges from its cache, leading or not.
func WatchJobSets(mgr manager.Manager, gates gates.Set) error {
	if err := mgr.Add(&jobSetWatch{cache: mgr.GetCache(), gates: gates, retry: 5 * time.Second}); err != nil {
		return fmt.Errorf("setting up the metrics of JobSets: %w", err)
	}
	return nil
}

// jobSetWatch gets the informer of JobSets, which the JobSet controller shares. Managers that wait
// to lead watch JobSets by it already.
type jobSetWatch struct {
	cache cache.Cache
	gates gates.Set
	retry time.Duration
}

// NeedLeaderElection says that every manager reports: each has a cache, and a scraper finds any.
func (w *jobSetWatch) NeedLeaderElection() bool { return false }

// Start ends when the watch has begun. It tries until then, for the CRD may come after the manager.
func (w *jobSetWatch) Start(ctx context.Context) error {
	var last string
	err := wait.PollUntilContextCancel(ctx, w.retry, true, func(ctx context.Context) (bool, error) {
		err := w.observe(ctx)
		if err != nil && err.Error() != last {
			last = err.Error()
			log.FromContext(ctx).Error(err, "There are no metrics of JobSets yet")
		}
		return err == nil, nil
	})
	if ctx.Err() != nil {
		return nil // stopped
	}
	return err
}

// observe makes the cache what the gauges are computed from. Nothing is copied: a scrape only
// reads what the cache holds.
func (w *jobSetWatch) observe(ctx context.Context) error {
	informer, err := w.cache.GetInformer(ctx, &jobset.JobSet{}, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("getting the informer of JobSets: %w", err)
	}
	indexed, ok := informer.(interface{ GetIndexer() toolscache.Indexer })
	if !ok {
		return fmt.Errorf("the informer of JobSets is a %T, which has no indexer", informer)
	}
	store := indexed.GetIndexer()
	ObserveJobSets(func() ([]*jobset.JobSet, bool) {
		if !informer.HasSynced() || informer.IsStopped() {
			return nil, false
		}
		cached := store.List()
		jobSets := make([]*jobset.JobSet, len(cached))
		for i, obj := range cached {
			jobSets[i] = obj.(*jobset.JobSet)
		}
		return jobSets, true
	}, w.gates)
	return nil
}

// Describe lists the gauges.
func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	descs <- assemblingSeconds
	descs <- assembling
	descs <- budgetNearlySpent
}

// Collect computes the gauges. Until it is known which JobSets there are it reports nothing: it
// neither waits for the cache nor says 0, which would read as all is well.
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	from := c.source.Load()
	if from == nil {
		return
	}
	jobSets, known := from.jobSets()
	if !known {
		return
	}
	s := summarize(jobSets, from.gates, c.now())
	gauge := func(desc *prometheus.Desc, value float64) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	gauge(assemblingSeconds, s.longest.Seconds())
	gauge(assembling, float64(s.assembling))
	gauge(budgetNearlySpent, float64(s.nearlySpent))
}
