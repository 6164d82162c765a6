/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestLimits: users read what keeps a job from its maximum, the first thing that does (P113).
func TestLimits(t *testing.T) {
	start := time.Unix(1_000_000, 0).UTC()
	job := func(size int32, nodes ...int) Job { return on(gpuJob("a", 2, 8, size), nodes...) }
	with := func(j Job, change func(*Job)) Job { change(&j); return j }
	short := nodesOf(2, 1)
	for i := range short {
		short[i].Allocatable[corev1.ResourceCPU] = 2500
	}
	reserved := planOf(nodesOf(4), job(2, 0, 0))
	reserved.ReservePercent = 50
	cooling := planOf(nodesOf(8), with(job(2, 0, 0), func(j *Job) { j.Resized, j.JobSetResized = start.Add(-time.Minute), start.Add(-time.Minute) }))
	cooling.Now, cooling.CooldownUp = start, 5*time.Minute
	ceiling := &Ceiling{Size: 2, Refusals: 1, Nodes: 1, Until: start.Add(time.Minute), Message: "too spread"}
	capped := planOf(nodesOf(8), with(job(2, 0, 0), func(j *Job) { j.Ceiling = ceiling }))
	capped.Now = start
	quotaed := planOf(nodesOf(8), job(2, 0, 0))
	quotaed.Jobs[0].Exist, quotaed.Quotas = 2, map[string]Headroom{"ns": {Request: Resources{gpu: 0, corev1.ResourcePods: 9}}}
	for name, tc := range map[string]struct {
		in              Input
		reason, message string
	}{
		"P113: nothing at its maximum":          {planOf(nodesOf(8), job(8, 0, 0, 0, 0, 0, 0, 0, 0)), "", ""},
		"P113: nor when it gets there":          {planOf(nodesOf(8), job(2, 0, 0)), "", ""},
		"P113: the resource, and the node":      {planOf(nodesOf(1, 2), job(3, 0, 1, 1)), LimitNoRoom, "nvidia.com/gpu: none of 2 nodes has room; the closest, node-0, has 0 left of the 1 that one more needs"},
		"P113: the node that is closest":        {planOf(short, job(3, 0, 0, 1)), LimitNoRoom, "nvidia.com/gpu: none of 2 nodes has room; the closest, node-1, has 0 left of the 1 that one more needs"},
		"P113: a resource that no node has":     {planOf(nodesOf(8), asks(job(2), Resources{gpu: 1, "example.com/none": 1})), LimitNoRoom, "it requests a resource that no node has"},
		"P113: no node is admitted":             {planOf(nodesOf(8), with(job(2), func(j *Job) { j.Where.NodeSelector = map[string]string{"zone": "x"} })), LimitNoNode, "no node is ready, not cordoned, and admitted by node selector, required affinity and tolerations"},
		"P112 P113: a quota":                    {quotaed, LimitQuota, "the quota of the namespace for requests.nvidia.com/gpu: 0 left of the 1 that one more needs"},
		"P113: the reserve":                     {reserved, LimitShare, "what its nodes have together, less the reserve and what all elastic jobs may use there by their limits, is used"},
		"P113: the cooldown, and until when":    {cooling, LimitCooldown, "its size was changed at 1970-01-12T13:45:40Z, and changes again after 1970-01-12T13:50:40Z"},
		"P113: the ceiling, and until when":     {capped, LimitCeiling, "more than 2 Pods were refused (too spread), and more are tried after 1970-01-12T13:47:40Z, or when a node comes"},
		"P113: a size that is fixed":            {planOf(nodesOf(8), with(job(2, 0, 0), func(j *Job) { j.Max = 2 })), LimitFixed, "its size is not to change"},
		"P113: what a job waits for":            {planOf(nodesOf(1), isNew(job(2))), LimitWaits, "its minimum of 2 does not fit, nor would it if all others were at their minimums"},
		"P113: what a node has left in its CPU": {planOf(short, asks(job(2, 0, 1), Resources{gpu: 1, corev1.ResourceCPU: 2000})), LimitNoRoom, "cpu: none of 2 nodes has room; the closest, node-0, has 500m left of the 2000m that one more needs"},
	} {
		t.Run(name, func(t *testing.T) {
			var reason, message string
			if limit := Make(tc.in).Decisions[0].Limit; limit != nil {
				reason, message = limit.Reason, limit.Message
			}
			if diff := cmp.Diff([2]string{tc.reason, tc.message}, [2]string{reason, message}); diff != "" {
				t.Errorf("limit (-want +got):\n%s", diff)
			}
		})
	}
}
