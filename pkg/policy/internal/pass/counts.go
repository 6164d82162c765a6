/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package pass

import (
	"slices"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// OnlyCounts returns the counts of a status that was decided on, with the restarts of the stored status.
func OnlyCounts(decided, stored []jobset.ReplicatedJobStatus) []jobset.ReplicatedJobStatus {
	counts := slices.Clone(decided)
	for i := range counts {
		counts[i].JobRestarts, counts[i].JobRestartsCountTowardsMax, counts[i].Elastic = nil, nil, nil
		counts[i].SyncedWorkers, counts[i].Address = 0, ""
	}
	return KeepRest(counts, stored)
}

// KeepRest carries over to fresh counts what is not counted in each pass: restarts of single Jobs, sizes, and addresses.
func KeepRest(fresh, stored []jobset.ReplicatedJobStatus) []jobset.ReplicatedJobStatus {
	byName := make(map[string]*jobset.ReplicatedJobStatus, len(stored))
	for i := range stored {
		byName[stored[i].Name] = &stored[i]
	}
	for i := range fresh {
		if was := byName[fresh[i].Name]; was != nil {
			fresh[i].JobRestarts = was.JobRestarts
			fresh[i].JobRestartsCountTowardsMax = was.JobRestartsCountTowardsMax
			fresh[i].SyncedWorkers, fresh[i].Address, fresh[i].Elastic = was.SyncedWorkers, was.Address, was.Elastic
		}
	}
	return fresh
}
