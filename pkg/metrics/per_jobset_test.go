/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"strconv"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

func TestSeriesOfJobSetsAreBounded(t *testing.T) {
	t.Parallel()
	counted := newPerJobSet("test_total", "help")
	old := types.NamespacedName{Namespace: "ns", Name: "old"}
	counted.count(old)
	for i := range maxSeries - 1 {
		counted.count(types.NamespacedName{Namespace: "ns", Name: strconv.Itoa(i)})
	}
	counted.count(old) // which is not the oldest any more
	counted.count(types.NamespacedName{Namespace: "other", Name: "new"})
	series := map[string]float64{}
	for _, one := range collected(t, counted) {
		series[one.Labels["namespace"]+"/"+one.Labels["jobset_name"]] = one.Value
	}
	if _, found := series["ns/0"]; found || len(series) != maxSeries || series["ns/old"] != 2 || series["other/new"] != 1 {
		t.Errorf("C225a: %d series, the oldest kept: %t, counted %v and %v", len(series), found, series["ns/old"], series["other/new"])
	}
}
