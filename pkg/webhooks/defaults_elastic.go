/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package webhooks

import (
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// defaultElastic lets elastic ReplicatedJobs start with their least size (P100).
func defaultElastic(js *jobset.JobSet, g gates.Set) {
	for i := range js.Spec.ReplicatedJobs {
		if rj := &js.Spec.ReplicatedJobs[i]; g.ElasticJobSet && rj.Elastic != nil {
			workerpod.DefaultSize(&rj.Template.Spec, rj.Elastic.MinInstances)
		}
	}
}
