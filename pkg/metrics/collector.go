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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/gates"
)

// The gauges are computed at each scrape, from the cache. Every replica has the same cache and so
// reports the same values: use max(), not sum(). They have no labels, since a label would make one
// series per JobSet.
var (
	assemblingSeconds = prometheus.NewDesc("jobset_in_place_assembling_seconds",
		"The longest time that a group has been assembling, 0 if none is. "+
			"JobSets that are suspended, finished or being deleted, and those for which in-place restart is disabled, do not count. Take the max() of all managers", nil, nil)

	assembling = prometheus.NewDesc("jobset_in_place_assembling",
		"The number of groups that are assembling: they start, or restart in place, and wait for workers. Take the max() of all managers", nil, nil)

	budgetNearlySpent = prometheus.NewDesc("jobset_restart_budget_nearly_spent",
		"The number of JobSets, neither finished nor being deleted, with maxRestarts, or retryLimit of faultTolerance, of at least 1 that have used at least 80 % of it: "+
			"restarts that count towards it and in-place restarts. Take the max() of all managers", nil, nil)

	workersNotReady = prometheus.NewDesc("jobset_in_place_workers_not_ready",
		"The number of workers of running groups that do not run: a container waits and shows why, as for an image; or the node has stopped reporting; "+
			"or the worker has been starting, or has not been ready, for five minutes. Take the max() of all managers", nil, nil)

	workersNotReadySeconds = prometheus.NewDesc("jobset_in_place_workers_not_ready_seconds",
		"The longest time that a worker counted in jobset_in_place_workers_not_ready has not been ready, counted at the earliest from the lift of its group, 0 if there is none. "+
			"Take the max() of all managers", nil, nil)

	podStuckSeconds = prometheus.NewDesc("jobset_in_place_pod_stuck_seconds",
		"The longest time since the end of its termination grace period that a worker Pod still exists, 0 if there is none. "+
			"Its group waits for it, or for its replacement. Take the max() of all managers", nil, nil)

	unhealthySeconds = prometheus.NewDesc("jobset_unhealthy_seconds",
		"The longest time that a JobSet with spec.faultTolerance has been unhealthy, or in resets that did not make it run, 0 if none is. Take the max() of all managers", nil, nil)

	notReleasedSeconds = prometheus.NewDesc("jobset_not_released_seconds",
		"The longest time since Jobs or Pods of a JobSet with spec.faultTolerance should have been gone that still exist, 0 if there are none: "+
			"a reset waits for them, or the JobSet has ended or is suspended and keeps its quota. Take the max() of all managers", nil, nil)

	onSickNodes = prometheus.NewDesc("jobset_on_sick_nodes",
		"The number of JobSets with Pods on nodes with a label of effect NoExecute that are not moved because maxRestarts is used up. Take the max() of all managers", nil, nil)

	avoidedNodes = prometheus.NewDesc("jobset_avoided_nodes",
		"The number of nodes that JobSets with faultTolerance.avoidNodes avoid, because restarts kept beginning there; one that several avoid counts once. "+
			"Take the max() of all managers", nil, nil)

	unguarded = prometheus.NewDesc("jobset_in_place_unguarded",
		"The number of JobSets with restartStrategy InPlaceRestart, neither finished nor being deleted, if the ValidatingAdmissionPolicy jobset-agent or "+
			"its binding is missing or does not deny: programs in their Pods may patch every Pod of the namespace. 0 if the policy is in force. "+
			"Take the max() of all managers", nil, nil)
)

// Objects returns all JobSets and, with in-place restart, the Pods of JobSets, which must not be
// modified. It returns false if the cache is not complete yet.
type Objects func() ([]*jobset.JobSet, []*facts.Member, bool)

// collector is registered once in the process; the source of its objects is set later.
type collector struct {
	source atomic.Pointer[source]
	policy atomic.Pointer[PolicyGap]
	now    func() time.Time
}

type source struct {
	objects   Objects
	gates     gates.Set
	reporting facts.Leases
}

var jobSetCollector = &collector{now: time.Now}

// ObserveJobSets sets the objects that the gauges about JobSets are computed from, and the Leases in which agents report. The last call wins:
// tests run several managers in one process, and a process has one registry.
func ObserveJobSets(objects Objects, gates gates.Set, reporting facts.Leases) {
	jobSetCollector.source.Store(&source{objects, gates, reporting})
}

// PolicyGap returns why nothing restricts what agents may patch, "" if the policy does. It returns false
// if that is not known.
type PolicyGap func() (string, bool)

// ObserveAgentPolicy sets where to learn about the admission policy of agents. Without it there are no agents.
func ObserveAgentPolicy(gap PolicyGap) {
	jobSetCollector.policy.Store(&gap)
}

// WatchJobSets makes a manager compute the gauges from its cache, whether it leads or not.
func WatchJobSets(mgr manager.Manager, gates gates.Set, reporting facts.Leases) error {
	if err := mgr.Add(&jobSetWatch{cache: mgr.GetCache(), gates: gates, reporting: reporting, retry: 5 * time.Second}); err != nil {
		return fmt.Errorf("setting up the metrics of JobSets: %w", err)
	}
	return nil
}

// jobSetWatch gets the informers of JobSets and Pods, which it shares with the JobSet controller. Managers
// that do not lead have them for the gauges alone.
type jobSetWatch struct {
	cache     cache.Cache
	gates     gates.Set
	reporting facts.Leases
	retry     time.Duration
}

// NeedLeaderElection returns false: every replica reports, since a scraper may reach any of them.
func (w *jobSetWatch) NeedLeaderElection() bool { return false }

// Start returns once the watch has started. It retries until then: the CRD may be installed after the manager.
func (w *jobSetWatch) Start(ctx context.Context) error {
	var last string
	err := wait.PollUntilContextCancel(ctx, w.retry, true, func(ctx context.Context) (bool, error) {
		err := w.observe(ctx)
		if err != nil && err.Error() != last {
			last = err.Error()
			log.FromContext(ctx).Error(err, "Cannot compute the metrics of JobSets yet")
		}
		return err == nil, nil
	})
	if ctx.Err() != nil {
		return nil // stopped
	}
	return err
}

// observe makes the gauges use the cache. A scrape reads the objects of the cache without copying
// them.
func (w *jobSetWatch) observe(ctx context.Context) error {
	jobSets, err := listed[*jobset.JobSet](ctx, w.cache, &jobset.JobSet{}, "JobSets")
	if err != nil {
		return err
	}
	pods := func() ([]*facts.Member, bool) { return nil, true }
	if w.gates.InPlaceRestart {
		if pods, err = listed[*facts.Member](ctx, w.cache, &corev1.Pod{}, "Pods"); err != nil {
			return err
		}
	}
	ObserveJobSets(func() ([]*jobset.JobSet, []*facts.Member, bool) {
		jobSets, haveJobSets := jobSets()
		pods, havePods := pods()
		return jobSets, pods, haveJobSets && havePods
	}, w.gates, w.reporting)
	return nil
}

// listed returns a function that lists all cached objects of a kind, or returns false if the cache has not synced.
func listed[T client.Object](ctx context.Context, from cache.Cache, kind client.Object, name string) (func() ([]T, bool), error) {
	informer, err := from.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("getting the informer of %s: %w", name, err)
	}
	indexed, ok := informer.(interface{ GetIndexer() toolscache.Indexer })
	if !ok {
		return nil, fmt.Errorf("the informer of %s is a %T, which has no indexer", name, informer)
	}
	store := indexed.GetIndexer()
	return func() ([]T, bool) {
		if !informer.HasSynced() || informer.IsStopped() {
			return nil, false
		}
		cached := store.List()
		objects := make([]T, len(cached))
		for i, obj := range cached {
			objects[i] = obj.(T)
		}
		return objects, true
	}, nil
}

// Describe lists the gauges.
func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	descs <- assemblingSeconds
	descs <- assembling
	descs <- budgetNearlySpent
	descs <- workersNotReady
	descs <- workersNotReadySeconds
	descs <- podStuckSeconds
	descs <- unhealthySeconds
	descs <- notReleasedSeconds
	descs <- onSickNodes
	descs <- avoidedNodes
	descs <- unguarded
}

// Collect computes the gauges. Until the cache is complete it reports nothing: it does not wait
// for the cache, and does not report 0, which would mean that all is well.
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	from := c.source.Load()
	if from == nil {
		return
	}
	jobSets, pods, complete := from.objects()
	if !complete {
		return
	}
	s := summarize(jobSets, pods, from.reporting, from.gates, c.now())
	gauge := func(desc *prometheus.Desc, value float64) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value)
	}
	gauge(assemblingSeconds, s.longest.Seconds())
	gauge(assembling, float64(s.assembling))
	gauge(budgetNearlySpent, float64(s.nearlySpent))
	gauge(workersNotReady, float64(s.notReady))
	gauge(workersNotReadySeconds, s.notReadyFor.Seconds())
	gauge(podStuckSeconds, s.stuckFor.Seconds())
	gauge(unhealthySeconds, s.unhealthyFor.Seconds())
	gauge(notReleasedSeconds, s.heldFor.Seconds())
	gauge(onSickNodes, float64(s.onSickNodes))
	gauge(avoidedNodes, float64(len(s.avoided)))
	if gap, known := c.policyGap(); known && gap != "" {
		gauge(unguarded, float64(withAgents(jobSets)))
	} else if known {
		gauge(unguarded, 0)
	}
}

func (c *collector) policyGap() (string, bool) {
	if gap := c.policy.Load(); gap != nil {
		return (*gap)()
	}
	return "", true
}
