/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
)

// maxSeries is how many JobSets such a counter has, each less than a kilobyte. Names are unbounded: who creates JobSets
// under new names must not fill the memory of the manager and of Prometheus (C225a).
const maxSeries = 10_000

// perJobSet counts by JobSet; dashboards rely on the labels. A series stays when its JobSet is deleted: removing it then
// would lose an increment that was not scraped yet. The one that was counted longest ago makes room.
type perJobSet struct {
	*prometheus.CounterVec

	kept *lru.Cache
}

func newPerJobSet(name, help string) perJobSet {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{"jobset_name", "namespace"})
	return perJobSet{CounterVec: vec, kept: lru.NewWithEvictionFunc(maxSeries, func(key lru.Key, _ any) {
		oldest := key.(types.NamespacedName)
		vec.DeleteLabelValues(oldest.Name, oldest.Namespace)
	})}
}

func (p perJobSet) count(jobSet types.NamespacedName) {
	p.kept.Add(jobSet, nil)
	p.WithLabelValues(jobSet.Name, jobSet.Namespace).Inc()
}
