/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

func TestFindLeader(t *testing.T) {
	t.Parallel()
	const none = "expected 1 leader pod (js-w-0-0), but got 0. this is an expected, transient error"
	leader := worker("0", on("n"))
	tests := map[string]struct {
		follower   *corev1.Pod
		candidates []*corev1.Pod
		want       string
	}{
		"W113: labels are missed in this order":     {worker("1", without(jobset.JobSetNameKey), without(jobset.JobIndexKey)), nil, "pod missing label: jobset.sigs.k8s.io/jobset-name"},
		"W113: then":                                {worker("1", without(jobset.ReplicatedJobNameKey), without(jobset.JobIndexKey)), nil, "pod missing label: jobset.sigs.k8s.io/replicatedjob-name"},
		"W113: and then":                            {worker("1", without(jobset.JobIndexKey)), nil, "pod missing label: jobset.sigs.k8s.io/job-index"},
		"W116: nobody":                              {worker("1"), nil, none},
		"W114: one that is not placed exclusively":  {worker("1"), []*corev1.Pod{worker("0", without(jobset.ExclusiveKey))}, none},
		"W114: another name":                        {worker("1"), []*corev1.Pod{worker("2"), worker("0", named("js-w-1-0-abcde"))}, none},
		"W114: a name without the random end":       {worker("1"), []*corev1.Pod{worker("0", named("js-w-0-0"))}, none},
		"W115: a leader that is deleted":            {worker("1"), []*corev1.Pod{worker("0", terminating)}, none},
		"W115: a leader that failed":                {worker("1"), []*corev1.Pod{worker("0", in(corev1.PodFailed))}, none},
		"W115: a leader that is done":               {worker("1"), []*corev1.Pod{worker("0", in(corev1.PodSucceeded))}, none},
		"W116: two":                                 {worker("1"), []*corev1.Pod{leader, worker("0")}, "expected 1 leader pod (js-w-0-0), but got 2. this is an expected, transient error"},
		"W115, W116: one, and others that are gone": {worker("1"), []*corev1.Pod{worker("0", terminating), leader, worker("2")}, ""},
		"W117: a follower of nobody, seen first":    {worker("1", ownedByNobody), []*corev1.Pod{worker("0", ownedByNobody)}, "follower pod has no owner reference"},
		"W117: a leader of nobody":                  {worker("1"), []*corev1.Pod{worker("0", ownedByNobody)}, `leader pod "js-w-0-0-abcde" has no owner reference`},
		"W117, W117a: a leader of another Job":      {worker("1"), []*corev1.Pod{worker("0", ownedBy("old"))}, "follower pod owner UID (job) != leader pod owner UID"},
		"W116, W117: the leader":                    {worker("1"), []*corev1.Pod{leader}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := FindLeader(tc.follower, members(tc.candidates))
			if diff := cmp.Diff(tc.want, text(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if want := tc.want == ""; want != (got != nil) || want && got.Node != "n" {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestValidateFollower(t *testing.T) {
	t.Parallel()
	const (
		unscheduled = "leader pod not yet scheduled, not creating follower pod. this is an expected, transient error"
		justNow     = `leader pod "js-w-0-0-abcde" was scheduled just now. this is an expected, transient error`
		notSet      = "follower pod node selector not set: "
		missing     = "follower pod node selector for topology domain not found. missing selector: example.com/rack: "
	)
	scheduled := worker("0", on("n"))
	_, lookup := FindLeader(worker("1"), nil)
	tests := map[string]struct {
		follower, leader *corev1.Pod
		lookup           error
		want             string
	}{
		"W120: no selector, no leader":                 {worker("1"), nil, lookup, notSet + lookup.Error()},
		"W120: no selector, an unscheduled leader":     {worker("1"), worker("0"), nil, notSet + unscheduled},
		"W120: no selector, a leader scheduled since":  {worker("1"), scheduled, nil, notSet + justNow},
		"W121: another selector, no leader":            {worker("1", selecting("a", "b")), nil, lookup, missing + lookup.Error()},
		"W121: another selector, scheduled since":      {worker("1", selecting("a", "b")), scheduled, nil, missing + justNow},
		"W122: a selector, no leader":                  {worker("1", selecting(rack, "x")), nil, lookup, lookup.Error()},
		"W123: a selector, an unscheduled leader":      {worker("1", selecting(rack, "x")), worker("0"), nil, unscheduled},
		"W121, W124: any value of the selector passes": {worker("1", selecting(rack, "")), scheduled, nil, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, text(ValidateFollower(tc.follower, member(tc.leader), tc.lookup))); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
		})
	}
}

func TestScheduledLeader(t *testing.T) {
	t.Parallel()
	leader := worker("0", on("n"))
	tests := map[string]struct {
		pods []*corev1.Pod
		want *corev1.Pod
	}{
		"C5: a leader on a node":              {[]*corev1.Pod{worker("1", on("m")), leader, worker("2")}, leader},
		"C5: one without a node":              {[]*corev1.Pod{worker("0")}, nil},
		"C5: one that is deleted":             {[]*corev1.Pod{worker("0", on("n"), terminating)}, nil},
		"one that failed":                     {[]*corev1.Pod{worker("0", on("n"), in(corev1.PodFailed))}, nil},
		"one that failed, and its successor":  {[]*corev1.Pod{worker("0", on("m"), in(corev1.PodFailed)), leader}, leader},
		"one that failed, successor waiting":  {[]*corev1.Pod{worker("0", on("m"), in(corev1.PodFailed)), worker("0")}, nil},
		"two that live":                       {[]*corev1.Pod{leader, worker("0")}, nil},
		"C311: one on a node reserved for it": {[]*corev1.Pod{worker("0", on("n"), reserved)}, nil},
		"C5: one that is placed anywhere":     {[]*corev1.Pod{worker("0", on("n"), without(jobset.ExclusiveKey))}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(member(tc.want), ScheduledLeader(members(tc.pods))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRepair(t *testing.T) {
	t.Parallel()
	rack1 := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{rack: "rack-1"}}}
	leader := worker("0", on("n"))
	good, bad := worker("1", selecting(rack, "rack-1")), worker("2", selecting(rack, "rack-2"))
	tests := map[string]struct {
		pods []*corev1.Pod
		node *corev1.Node
		want []*corev1.Pod
		err  string
	}{
		"C197: all in one domain":               {pods: []*corev1.Pod{leader, good}, node: rack1},
		"C197, C198: one in another, all go":    {pods: []*corev1.Pod{leader, good, bad}, node: rack1, want: []*corev1.Pod{good, bad}},
		"C197: one that selects nothing":        {pods: []*corev1.Pod{leader, worker("1")}, node: rack1, want: []*corev1.Pod{worker("1")}},
		"C197: the node is not known":           {pods: []*corev1.Pod{leader, good}, err: "leader topology is unknown (node not found)"},
		"C196: the node has no such label":      {pods: []*corev1.Pod{leader, good}, node: &corev1.Node{}, err: "node does not have topology label: example.com/rack"},
		"no followers, no matter what the node": {pods: []*corev1.Pod{leader}},
		"C311: followers on reserved nodes":     {pods: []*corev1.Pod{leader, worker("1", reserved)}, node: rack1},
		"followers that are gone or done": {
			pods: []*corev1.Pod{leader, worker("1", terminating), worker("2", in(corev1.PodFailed)), worker("3", in(corev1.PodSucceeded))}, node: rack1,
		},
		"C198: those that are gone are not deleted again": {
			pods: []*corev1.Pod{leader, worker("1", terminating), bad}, node: rack1, want: []*corev1.Pod{bad},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Repair(member(leader), members(tc.pods), tc.node)
			if diff := cmp.Diff(members(tc.want), got); diff != "" {
				t.Errorf("Pods that go (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.err, text(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStrandedLeader(t *testing.T) {
	t.Parallel()
	leader, first, second := worker("0"), worker("1"), worker("2", on("n"))
	tests := map[string]struct {
		pods      []*corev1.Pod
		leader    *corev1.Pod
		followers []*corev1.Pod
	}{
		"C372: it has no node, and all that follow it live":  {[]*corev1.Pod{first, leader, second}, leader, []*corev1.Pod{first, second}},
		"C372: it is on a node":                              {[]*corev1.Pod{worker("0", on("n")), first}, nil, nil},
		"C372: nobody follows it, as at the first start":     {[]*corev1.Pod{leader}, nil, nil},
		"C372: those that follow are going":                  {[]*corev1.Pod{leader, worker("1", terminating), worker("2", in(corev1.PodFailed))}, nil, nil},
		"C372: it is going itself":                           {[]*corev1.Pod{worker("0", terminating), first}, nil, nil},
		"C199 C372: there are two":                           {[]*corev1.Pod{leader, worker("0"), first}, nil, nil},
		"C311 C372: it has nodes that are reserved for it":   {[]*corev1.Pod{worker("0", reserved), worker("1", reserved)}, nil, nil},
		"C372: the one before it is not gone yet, but going": {[]*corev1.Pod{worker("0", on("n"), terminating), leader, first}, leader, []*corev1.Pod{first}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gotLeader, gotFollowers := StrandedLeader(members(tc.pods))
			if diff := cmp.Diff(member(tc.leader), gotLeader); diff != "" {
				t.Errorf("leader (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(members(tc.followers), gotFollowers); diff != "" {
				t.Errorf("followers (-want +got):\n%s", diff)
			}
		})
	}
}
