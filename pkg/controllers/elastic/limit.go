/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"slices"
	"strings"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/policy"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// limitOf returns what the status is to say about what keeps a ReplicatedJob from one more Pod (P113). All agents see each write,
// so it stays as it was while the group assembles, and as long as only amounts and nodes differ.
func limitOf(js *jobset.JobSet, was *jobset.ElasticLimit, d *elastic.Decision) *jobset.ElasticLimit {
	if workerpod.WantsInPlace(js) && !policy.Runs(js) {
		return was
	}
	l := d.Limit
	if l != nil && l.Reason == elastic.LimitFixed {
		l = whyFixed(js, d)
	}
	switch {
	case l == nil:
		return nil
	case was != nil && was.Reason == l.Reason && strings.HasPrefix(was.Message, l.Subject):
		return was
	}
	return &jobset.ElasticLimit{Reason: l.Reason, Message: l.Message}
}

// whyFixed says why nothing changes a size that is not the maximum.
func whyFixed(js *jobset.JobSet, d *elastic.Decision) *elastic.Limit {
	at := slices.IndexFunc(js.Spec.ReplicatedJobs, func(r jobset.ReplicatedJob) bool { return r.Name == d.ReplicatedJob })
	bounds := js.Spec.ReplicatedJobs[at].Elastic
	switch {
	case bounds == nil || d.Size >= bounds.MaxInstances:
		return nil
	case isHeld(js):
		const why = "the annotation jobset.sigs.k8s.io/elastic-hold keeps its size"
		return &elastic.Limit{Reason: "Held", Subject: why, Message: why}
	}
	const why = "a worker of the group has finished, and a change of size would start it again"
	return &elastic.Limit{Reason: "Finished", Subject: why, Message: why}
}
