/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package metrics

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	builders "sigs.k8s.io/jobset/pkg/util/testing"
)

// tolerates returns a JobSet with faultTolerance.
func tolerates(changes ...func(*jobset.JobSet)) *jobset.JobSet {
	js := builders.MakeJobSet("js", "ns").Obj()
	js.Spec.FaultTolerance, js.Status.FaultTolerance = &jobset.FaultTolerance{}, &jobset.FaultToleranceStatus{MaxRestarts: 3}
	for _, change := range changes {
		change(js)
	}
	return js
}

// since makes a condition True some time ago.
func since(conditionType jobset.JobSetConditionType, ago time.Duration, reason string) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		js.Status.Conditions = append(js.Status.Conditions, builders.Condition(conditionType, true, reason, "", now.Add(-ago)))
	}
}

func before(ago time.Duration) metav1.Time { return metav1.NewTime(now.Add(-ago)) }

func resets(started time.Duration, gone *metav1.Time) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		js.Status.FaultTolerance.Reset = &jobset.ResetStatus{StartTime: before(started), JobsGoneTime: gone}
	}
}

// avoids makes it avoid a node for a day since some time ago; 0 is one that was given up.
func avoids(node string, ago time.Duration) func(*jobset.JobSet) {
	return func(js *jobset.JobSet) {
		failed := jobset.NodeFailures{Node: node, AvoidedSince: ptr.To(before(ago))}
		if ago == 0 {
			failed.AvoidedSince, failed.GivenUpTime = nil, ptr.To(before(ago))
		}
		js.Spec.FaultTolerance.AvoidNodes = &jobset.AvoidNodes{}
		js.Status.FaultTolerance.NodeFailures = append(js.Status.FaultTolerance.NodeFailures, failed)
	}
}

func suspend(js *jobset.JobSet) { js.Spec.Suspend = ptr.To(true) }

func TestSummarizeFaultTolerance(t *testing.T) {
	t.Parallel()
	deployed := since(jobset.JobSetResourcesDeployed, time.Hour, "ResourcesInUse")
	for name, tc := range map[string]struct {
		jobSets []*jobset.JobSet
		want    toleranceSummary
	}{
		"P89: all is well": {[]*jobset.JobSet{tolerates(deployed)}, toleranceSummary{}},
		"P80: the one that has been unhealthy for the longest time counts": {
			[]*jobset.JobSet{tolerates(since(jobset.JobSetUnhealthy, time.Second, "r")), tolerates(since(jobset.JobSetUnhealthy, time.Minute, "r"))},
			toleranceSummary{unhealthyFor: time.Minute},
		},
		"P82: over resets that did not help the time goes on": {
			[]*jobset.JobSet{tolerates(since(jobset.JobSetUnhealthy, time.Second, "r"), since(jobset.JobSetRestarting, time.Hour, "PodsNotRunning"))},
			toleranceSummary{unhealthyFor: time.Hour},
		},
		"P82: a group that restarts in place has other gauges": {
			[]*jobset.JobSet{tolerates(since(jobset.JobSetRestarting, time.Hour, "InPlaceRestart"))}, toleranceSummary{},
		},
		"P92: Pods that are not moved off a sick node count": {
			[]*jobset.JobSet{tolerates(since(jobset.JobSetOnSickNodes, time.Hour, "r")), tolerates(since(jobset.JobSetOnSickNodes, 0, "r")), tolerates()},
			toleranceSummary{onSickNodes: 2},
		},
		"P93: a node that several JobSets avoid counts once, and one that is avoided no more, or was given up, does not": {
			[]*jobset.JobSet{
				tolerates(avoids("n1", time.Hour), avoids("n2", 25*time.Hour)), tolerates(avoids("n1", time.Minute), avoids("n3", time.Minute), avoids("n4", 0)),
				tolerates(avoids("n5", time.Minute), func(js *jobset.JobSet) { js.Spec.FaultTolerance.AvoidNodes = nil }),
				tolerates(avoids("n6", time.Minute), condition(jobset.JobSetCompleted, true)),
			}, toleranceSummary{avoided: map[string]bool{"n1": true, "n3": true}},
		},
		"P82: a reset waits for Jobs": {[]*jobset.JobSet{tolerates(deployed, resets(time.Minute, nil))}, toleranceSummary{heldFor: time.Minute}},
		"P83: a reset that pauses does not": {
			[]*jobset.JobSet{tolerates(deployed, resets(time.Minute, ptr.To(before(time.Second))))}, toleranceSummary{},
		},
		"P86: one that has completed still has Pods": {
			[]*jobset.JobSet{tolerates(deployed, since(jobset.JobSetCompleted, time.Minute, "r"))}, toleranceSummary{heldFor: time.Minute},
		},
		"P86: one that has failed has none any more": {
			[]*jobset.JobSet{tolerates(condition(jobset.JobSetResourcesDeployed, false), since(jobset.JobSetFailed, time.Minute, "r"))}, toleranceSummary{},
		},
		"P87: the Pods of one that has failed are kept on purpose": {
			[]*jobset.JobSet{tolerates(deployed, since(jobset.JobSetFailed, time.Hour, "r"), func(js *jobset.JobSet) {
				js.Status.FaultTolerance.PodsKeptUntil = ptr.To(before(time.Second))
			})}, toleranceSummary{heldFor: time.Second},
		},
		"P86: one that is suspended still has Pods": {
			[]*jobset.JobSet{tolerates(deployed, suspend, since(jobset.JobSetSuspended, time.Minute, "r"))}, toleranceSummary{heldFor: time.Minute},
		},
		"P86: one that resumes has none that should be gone": {
			[]*jobset.JobSet{tolerates(deployed, since(jobset.JobSetSuspended, time.Minute, "r"))}, toleranceSummary{},
		},
		"P89: without faultTolerance, or with the gate off, nothing counts": {
			[]*jobset.JobSet{
				tolerates(since(jobset.JobSetUnhealthy, time.Hour, "r"), func(js *jobset.JobSet) { js.Spec.FaultTolerance = nil }),
				tolerates(since(jobset.JobSetOnSickNodes, time.Hour, "r"), func(js *jobset.JobSet) { js.Status.FaultTolerance = nil }),
			}, toleranceSummary{},
		},
		"P89: neither do those of another controller, and those that are being deleted": {
			[]*jobset.JobSet{tolerates(since(jobset.JobSetUnhealthy, time.Hour, "r"), managedBy("other")), tolerates(resets(time.Hour, nil), deleted)}, toleranceSummary{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := summarize(tc.jobSets, nil, nil, gates.Set{FaultTolerance: true}, now)
			if diff := cmp.Diff(tc.want, got.toleranceSummary, cmp.AllowUnexported(toleranceSummary{})); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}
