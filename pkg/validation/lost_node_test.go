/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// withLostNode sets after how many seconds a lost worker is replaced, and the deadline for signs of life, 0 for none.
func withLostNode(after *int32, stall int32) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		if js.Spec.FailurePolicy.InPlaceRestart == nil {
			js.Spec.FailurePolicy.InPlaceRestart = &jobset.InPlaceRestartPolicy{Mode: jobset.ProcessMode}
		}
		policy := js.Spec.FailurePolicy.InPlaceRestart
		policy.LostNode, policy.Progress = &jobset.LostNodePolicy{ReplaceAfterSeconds: after}, nil
		if stall > 0 {
			policy.Progress = &jobset.ProgressPolicy{StallSeconds: ptr.To(stall), MaxExtensionSeconds: ptr.To[int32](0)}
		}
	}
}

func TestLostNode(t *testing.T) {
	const path = policyPath + ".lostNode.replaceAfterSeconds"
	const times = "must be a number of seconds from 1 to 3600, or 0 to leave lost workers to Kubernetes"
	process := func(change func(js *jobset.JobSet)) func(*jobset.JobSet) { return withMode(jobset.ProcessMode, change) }
	runCreate(t, processJobSet, map[string]createCase{
		"P171: a time":                   {gates: gateOn, mut: process(withLostNode(ptr.To[int32](30), 0))},
		"P171: the time of the deadline": {gates: gateOn, mut: process(withLostNode(nil, 10))},
		"P171: never":                    {gates: gateOn, mut: process(withLostNode(ptr.To[int32](0), 0))},
		"P171: neither a time nor a deadline": {
			gates: gateOn, mut: process(withLostNode(nil, 0)),
			want: []violation{required(path, "is needed where spec.failurePolicy.inPlaceRestart.progress.stallSeconds is not set")},
		},
		"P171 W142: a time that has passed": {
			gates: gateOn, mut: process(withLostNode(ptr.To[int32](-1), 10)), want: []violation{invalid(path, times)},
		},
		"P171 W142: a time longer than anybody waits": {
			gates: gateOn, mut: process(withLostNode(ptr.To[int32](3601), 10)), want: []violation{invalid(path, times)},
		},
	})
	runUpdate(t, processJobSet, map[string]updateCase{
		"P171: it may be added":   {gates: gateOn, old: withMode(jobset.ProcessMode), mut: withLostNode(ptr.To[int32](30), 0)},
		"P171: it may be removed": {gates: gateOn, old: withLostNode(ptr.To[int32](30), 0), mut: func(js *jobset.JobSet) { js.Spec.FailurePolicy.InPlaceRestart.LostNode = nil }},
		"P171: the deadline that it needs may not be removed alone": {
			gates: gateOn, old: withLostNode(nil, 10), mut: func(js *jobset.JobSet) { js.Spec.FailurePolicy.InPlaceRestart.Progress = nil },
			want: []violation{required(path, "is needed where spec.failurePolicy.inPlaceRestart.progress.stallSeconds is not set")},
		},
	})
}

func TestWarningsOfLostNode(t *testing.T) {
	const path = policyPath + ".lostNode.replaceAfterSeconds"
	const promise = "setting it is a promise that a worker that is cut off from its peers stops, or computes nothing that counts, within this time"
	extension := func(most int32) func(*jobset.JobSet) {
		return func(js *jobset.JobSet) {
			withLostNode(nil, 10)(js)
			js.Spec.FailurePolicy.InPlaceRestart.Progress.MaxExtensionSeconds = ptr.To(most)
		}
	}
	for name, tc := range map[string]struct {
		change func(js *jobset.JobSet)
		want   []string
	}{
		"P171: the time of the deadline gives none": {change: withLostNode(nil, 10)},
		"P171: nor does a longer one":               {change: withLostNode(ptr.To[int32](26), 10)},
		"P171: nor one that is off":                 {change: withLostNode(ptr.To[int32](0), 0)},
		"P171: a shorter one": {
			change: withLostNode(ptr.To[int32](24), 10),
			want:   []string{path + ": is 24, less than the 25 seconds in which stallSeconds ends a worker that is cut off (stallSeconds, dumpSeconds and 15): " + promise},
		},
		"P171: one without a deadline": {
			change: withLostNode(ptr.To[int32](60), 0),
			want:   []string{path + ": is 60 without spec.failurePolicy.inPlaceRestart.progress.stallSeconds, so JobSet does not stop a worker that has lost its peers: " + promise},
		},
		"P171: an extension that ends in time": {change: extension(25)},
		"P171: an extension that does not": {
			change: extension(26),
			want: []string{policyPath + ".progress.maxExtensionSeconds: is 26, more than the 25 seconds after which a worker on a lost node is replaced: " +
				"one that extends its deadline, for a checkpoint for example, may still write when its successor starts; set at most 25"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			js := processJobSet()
			withMode(jobset.ProcessMode, tc.change)(js)
			if diff := cmp.Diff(tc.want, lostNodeWarnings(js)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
