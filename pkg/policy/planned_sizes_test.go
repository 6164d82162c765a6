/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/elastic"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
)

// said is a group of 2, with bounds 1 and 9, about which the planner said this.
func said(deprecated, synced int32, was *jobset.ElasticSize, decision elastic.Decision, changes ...func(*Input)) Input {
	decision.ReplicatedJob = "w"
	return sized(deprecated, synced, "1 1", 2, 2, append(append([]func(*Input){func(in *Input) {
		in.JobSet.Status.ReplicatedJobsStatus[0].Elastic = was
	}}, changes...), func(in *Input) {
		if in.Verdict == nil {
			in.Verdict = NewVerdict(in.JobSet, []elastic.Decision{decision})
		}
	})...)
}

func TestPlannedLimits(t *testing.T) {
	t.Parallel()
	held := func(in *Input) { in.JobSet.Annotations = map[string]string{jobset.ElasticHoldKey: ""} }
	noRoom := func(rest string) *elastic.Limit {
		return &elastic.Limit{Reason: "NoRoom", Resource: "gpu", Message: "gpu: " + rest}
	}
	written := &jobset.ElasticLimit{Reason: "NoRoom", Resource: "gpu", Message: "gpu: node a has 0 left"}
	fixed := &elastic.Limit{Reason: elastic.LimitFixed}
	for name, tc := range map[string]struct {
		deprecated int32
		size       int32
		was        *jobset.ElasticLimit
		limit      *elastic.Limit
		changes    []func(*Input)
		want       *jobset.ElasticLimit
	}{
		"P113: a limit is written":                  {0, 2, nil, noRoom("node a has 0 left"), nil, written},
		"P113: another node with less is not":       {0, 2, written, noRoom("node b has 1 left"), nil, written},
		"P113: another resource is":                 {0, 2, written, &elastic.Limit{Reason: "NoRoom", Resource: "cpu", Message: "cpu: 0"}, nil, &jobset.ElasticLimit{Reason: "NoRoom", Resource: "cpu", Message: "cpu: 0"}},
		"P113: none is left at the maximum":         {0, 9, written, nil, nil, nil},
		"P113: nothing changes while it assembles":  {1, 2, written, nil, nil, written},
		"P111 P113: a size that is held says so":    {0, 2, nil, fixed, []func(*Input){held}, &jobset.ElasticLimit{Reason: "Held", Message: "the annotation jobset.sigs.k8s.io/elastic-hold keeps its size"}},
		"P101b P113: so does one of a finished run": {0, 2, nil, fixed, nil, &jobset.ElasticLimit{Reason: "Finished", Message: "a worker of the group has finished, and a change of size would start it again"}},
		"P113: one at its maximum says nothing":     {0, 9, nil, fixed, []func(*Input){held}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := said(tc.deprecated, 1, &jobset.ElasticSize{Current: 2, Desired: 2, Limit: tc.was}, elastic.Decision{Size: tc.size, Limit: tc.limit}, tc.changes...)
			plan := decideOnce(t, in)
			if diff := cmp.Diff(tc.want, plan.Status.ReplicatedJobsStatus[0].Elastic.Limit); diff != "" {
				t.Errorf("limit (-want +got):\n%s", diff)
			}
			in.JobSet.Status = plan.Status
			if diff := cmp.Diff(plan.Status, decideOnce(t, in).Status); diff != "" || !in.Verdict.IsIn(in.JobSet) {
				t.Errorf("what the status says is said again (-was +is):\n%s", diff)
			}
		})
	}
}

// TestVerdicts: what the planner says comes into the status, whatever else a pass does, as long as it is about the JobSet as it is.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	ceiling := &elastic.Ceiling{Size: 2, Refusals: 1, Since: now, Until: now, Nodes: 3, Message: "no"}
	kept := &jobset.ElasticCeiling{Size: 2, Refusals: 1, RefusedTime: metav1.NewTime(now), RetryTime: metav1.NewTime(now), Nodes: 3, Message: "no"}
	const refused = "False ElasticRefused ReplicatedJob w: more than 2 Pods were refused (no), and more are tried after 2026-03-14T12:00:00Z, or when a node comes"
	late := func(change func(*jobset.JobSet)) func(*Input) {
		return func(in *Input) {
			in.Verdict = NewVerdict(in.JobSet, []elastic.Decision{{Key: elastic.Key{ReplicatedJob: "w"}, Ceiling: ceiling}})
			change(in.JobSet)
		}
	}
	waited := func(in *Input) {
		in.JobSet.Status.Conditions = []metav1.Condition{{Type: string(jobset.JobSetElasticWaiting), Status: metav1.ConditionTrue, Reason: "r", Message: "m"}}
	}
	none := func(in *Input) { in.Verdict = &Verdict{About: pass.Subject{Generation: -1}} }
	for name, tc := range map[string]struct {
		in        Input
		ceiling   *jobset.ElasticCeiling
		condition string
	}{
		"P108a: a ceiling, also while the group assembles":    {said(1, 1, &jobset.ElasticSize{}, elastic.Decision{Ceiling: ceiling}), kept, refused},
		"P108a: also one that has no place in the status yet": {said(1, 1, nil, elastic.Decision{Ceiling: ceiling}), kept, refused},
		"P108a: one that is over is forgotten":                {said(0, 1, &jobset.ElasticSize{Ceiling: kept}, elastic.Decision{}), nil, ""},
		"P109: that it waits":                                 {said(1, 1, nil, elastic.Decision{State: elastic.Waits, Because: "it does not fit"}), nil, "True MinimumDoesNotFit ReplicatedJob w: it does not fit"},
		"P111: that it waits, and that a user keeps it from continuing with fewer": {
			said(1, 1, nil, elastic.Decision{State: elastic.Stuck, Because: "it waits for nodes"}, func(in *Input) { in.JobSet.Annotations = map[string]string{jobset.ElasticHoldKey: ""} }),
			nil, "True LostPods ReplicatedJob w: it waits for nodes; " + constants.ElasticHeldMessage,
		},
		"P109: and that it does not any more":                            {said(0, 1, nil, elastic.Decision{}, waited), nil, "False ElasticRoomFound it is no longer waiting"},
		"P109: without a verdict, as at a start, the status stays":       {said(0, 1, &jobset.ElasticSize{Ceiling: kept}, elastic.Decision{}, waited, none), kept, "True r m"},
		"P108a: nothing about a spec that has changed since":             {said(1, 1, nil, elastic.Decision{}, late(func(js *jobset.JobSet) { js.Generation++ })), nil, ""},
		"P108a: nor about a group that runs by now, with what it lacked": {said(1, 1, nil, elastic.Decision{}, late(func(js *jobset.JobSet) { js.Status.SyncedEpoch = ptr.To[int32](2) })), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := decideOnce(t, tc.in)
			if diff := cmp.Diff(tc.ceiling, plan.Status.ReplicatedJobsStatus[0].Elastic.Ceiling); diff != "" {
				t.Errorf("ceiling (-want +got):\n%s", diff)
			}
			got := ""
			for _, c := range plan.Status.Conditions {
				if c.Type == string(jobset.JobSetElasticWaiting) {
					got = string(c.Status) + " " + c.Reason + " " + c.Message
				}
			}
			if got != tc.condition {
				t.Errorf("condition %q, want %q", got, tc.condition)
			}
		})
	}
}
