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

// Defaults of avoidNodes, as in the markers of the API.
const (
	DefaultNodeFailures = 3
	DefaultNodeWithin   = 24 * time.Hour
)

// Avoidance returns after how many failures within how long a node is avoided, for an object that never passed the API
// server, too.
func Avoidance(asked *jobset.AvoidNodes) (failures int, within time.Duration) {
	failures = cmp.Or(int(asked.Failures), DefaultNodeFailures)
	return failures, cmp.Or(time.Duration(asked.WithinSeconds)*time.Second, DefaultNodeWithin)
}
