/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

func TestEndedLeader(t *testing.T) {
	t.Parallel()
	done, failed := worker("0", on("n"), in(corev1.PodSucceeded)), worker("0", on("n"), in(corev1.PodFailed))
	completed := func(indexes string) *batchv1.Job {
		return &batchv1.Job{Status: batchv1.JobStatus{CompletedIndexes: indexes}}
	}
	for name, tc := range map[string]struct {
		candidates []*corev1.Pod
		job        *batchv1.Job
		leader     *corev1.Pod
		ended      bool
	}{
		"W115a: one that succeeded":                          {[]*corev1.Pod{done}, nil, done, true},
		"W115a: one that is being deleted since":             {[]*corev1.Pod{worker("0", on("n"), in(corev1.PodSucceeded), terminating)}, nil, worker("0", on("n"), in(corev1.PodSucceeded), terminating), true},
		"W115a: one whose first try failed":                  {[]*corev1.Pod{failed, done, failed}, nil, done, true},
		"W115a: one that is gone, of a Job that counted it":  {nil, completed("0,2-3"), nil, true},
		"W115a: in a range":                                  {nil, completed("0-3"), nil, true},
		"W115a: alone":                                       {nil, completed("0"), nil, true},
		"W115a: other indexes are not it":                    {nil, completed("10,20-30"), nil, false},
		"W115a: no index is not it":                          {nil, completed(""), nil, false},
		"W115a: one that is gone, of a Job that is unknown":  {nil, nil, nil, false},
		"W115a: one that failed and is tried again":          {[]*corev1.Pod{failed}, completed("1"), nil, false},
		"W115a: one whose index failed for good":             {[]*corev1.Pod{failed}, &batchv1.Job{Status: batchv1.JobStatus{FailedIndexes: ptr.To("0")}}, failed, true},
		"W115a: one that lives leads":                        {[]*corev1.Pod{done, worker("0")}, nil, nil, false},
		"W115a: one that succeeded, of an earlier Job":       {[]*corev1.Pod{worker("0", in(corev1.PodSucceeded), ownedBy("old"))}, nil, nil, false},
		"W115a: another that succeeded":                      {[]*corev1.Pod{worker("2", in(corev1.PodSucceeded))}, nil, nil, false},
		"W115a: one that is terminating has not ended by it": {[]*corev1.Pod{worker("0", terminating)}, nil, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leader, ended := EndedLeader(worker("1"), members(tc.candidates), tc.job)
			if diff := cmp.Diff(member(tc.leader), leader); diff != "" || ended != tc.ended {
				t.Errorf("ended %t, want %t; leader (-want +got):\n%s", ended, tc.ended, diff)
			}
		})
	}
	if _, ended := EndedLeader(worker("1", without(jobset.JobIndexKey)), nil, completed("0")); ended {
		t.Error("W115a, W113: a follower without its labels has no leader")
	}
}

func TestPodJobKey(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"W115a: the UID of its Job":             {worker("1"), "job"},
		"W115a: of one that nobody controls":    {worker("1", ownedByNobody), ""},
		"W115a: of one that has ended":          {worker("1", func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded }), ""},
		"W115a: of one that is placed anywhere": {worker("1", without(jobset.ExclusiveKey)), ""},
	} {
		if got, ok := PodJobKey(facts.Of(tc.pod)); got != tc.want || ok != (tc.want != "") {
			t.Errorf("%s: got %q, %t", name, got, ok)
		}
	}
}

// member and members return what a cache keeps of Pods; nil is none.
func member(pod *corev1.Pod) *facts.Member {
	if pod == nil {
		return nil
	}
	return facts.Of(pod)
}

func members(pods []*corev1.Pod) []*facts.Member {
	var all []*facts.Member
	for _, pod := range pods {
		all = append(all, facts.Of(pod))
	}
	return all
}

func TestAfter(t *testing.T) {
	t.Parallel()
	in1, in2 := &Domain{Key: rack, Value: "rack-1"}, &Domain{Key: rack, Value: "rack-2"}
	domainOf := func(node string) *Domain { return map[string]*Domain{"n1": in1, "n2": in2}[node] }
	done := worker("0", on("n1"), in(corev1.PodSucceeded))
	for name, tc := range map[string]struct {
		leader *corev1.Pod
		pods   []*corev1.Pod
		want   Spot
	}{
		"W115a: beside Pods that run where the leader ran":       {done, []*corev1.Pod{done, worker("2", selecting(rack, "rack-1"))}, Spot{Domain: in1}},
		"W115a: nobody else runs: where it ran, and as a leader": {done, []*corev1.Pod{done, worker("2", in(corev1.PodFailed), selecting(rack, "rack-1"))}, Spot{Domain: in1, Leads: true}},
		"W115a: its Pod is gone: where another is bound for":     {nil, []*corev1.Pod{worker("2", selecting(rack, "rack-2"))}, Spot{Domain: in2}},
		"W115a: its Pod is gone: where another runs":             {nil, []*corev1.Pod{worker("2"), worker("3", on("n2"))}, Spot{Domain: in2}},
		"W115a: its node is gone":                                {worker("0", on("gone"), in(corev1.PodSucceeded)), nil, Spot{Leads: true}},
		"W115a: all are gone":                                    {nil, nil, Spot{Leads: true}},
		"W115a: others wait for a free domain: with them":        {nil, []*corev1.Pod{worker("2")}, Spot{Leads: true}},
		"W115a: nor does the follower itself":                    {nil, []*corev1.Pod{worker("1", on("n2"))}, Spot{Leads: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			follower := worker("1")
			got := After(member(tc.leader), Peers(follower, members(tc.pods)), rack, domainOf)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			m := Mutate(follower, got)
			if attracted := m.Attract != nil && m.Repel != nil; attracted != tc.want.Leads || cmp.Diff(m.Domain, tc.want.Domain) != "" {
				t.Errorf("mutation %+v", m)
			}
		})
	}
}

func TestValidateAfter(t *testing.T) {
	t.Parallel()
	const justNow = "leader pod ended just now. this is an expected, transient error"
	leads := func(p *corev1.Pod) {
		attract, repel := leaderTerms(rack, "key", nil)
		p.Spec.Affinity = &corev1.Affinity{
			PodAffinity:     &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{*attract}},
			PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{*repel}},
		}
	}
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"W115a: a follower that selects a domain": {worker("1", selecting(rack, "rack-1")), ""},
		"W115a: one that goes to a free one":      {worker("1", leads), ""},
		"W115a: one that was mutated before":      {worker("1"), justNow},
		"W115a: one that is bound to others by zone alone": {worker("1", leads, func(p *corev1.Pod) {
			p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].TopologyKey = "zone"
		}), justNow},
	} {
		if got := text(ValidateAfter(tc.pod)); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
