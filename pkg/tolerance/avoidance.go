/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package tolerance

import (
	"cmp"
	"time"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Avoidance returns after how many failures within how long a node is avoided, for an object that never passed the API
// server, too.
func Avoidance(asked *jobset.AvoidNodes) (failures int, within time.Duration) {
	failures = int(cmp.Or(asked.Failures, jobset.DefaultNodeFailures))
	return failures, time.Duration(cmp.Or(asked.WithinSeconds, jobset.DefaultNodeWithinSeconds)) * time.Second
}
