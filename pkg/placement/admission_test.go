/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
)

const rack = "example.com/rack"

type change = func(*corev1.Pod)

// worker is a Pod of Job js-w-0, placed exclusively.
func worker(index string, changes ...change) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: "js-w-0-" + index + "-abcde",
		Labels: map[string]string{
			jobset.JobSetNameKey: "js", jobset.ReplicatedJobNameKey: "w", jobset.JobIndexKey: "0", jobset.JobKey: "key",
		},
		Annotations: map[string]string{
			jobset.JobSetNameKey: "js", jobset.ExclusiveKey: rack, batchv1.JobCompletionIndexAnnotation: index,
		},
		OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: "js-w-0", UID: "job", Controller: ptr.To(true)}},
	}}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func on(node string) change { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

func in(phase corev1.PodPhase) change { return func(p *corev1.Pod) { p.Status.Phase = phase } }

func selecting(key, value string) change {
	return func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{key: value} }
}

func without(key string) change {
	return func(p *corev1.Pod) { delete(p.Annotations, key); delete(p.Labels, key) }
}

func reserved(p *corev1.Pod) { p.Annotations[jobset.NodeSelectorStrategyKey] = "" }

func terminating(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(metav1.NewTime(time.Unix(1, 0))) }

func ownedBy(uid string) change {
	return func(p *corev1.Pod) { p.OwnerReferences[0].UID = types.UID(uid) }
}

func ownedByNobody(p *corev1.Pod) { p.OwnerReferences[0].Controller = nil }

func named(name string) change { return func(p *corev1.Pod) { p.Name = name } }

func priority(n int32) change { return func(p *corev1.Pod) { p.Spec.Priority = &n } }

// text is what an error says, and nothing if there is none.
func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestPriorityLabel(t *testing.T) {
	t.Parallel()
	for priority, want := range map[int32]string{
		0: "0", 7: "7", math.MaxInt32: "2147483647", -1: "n1", -7: "n7", math.MinInt32: "n2147483648",
	} {
		if got := PriorityLabel(priority); got != want {
			t.Errorf("Q1: priority %d is labelled %q, want %q", priority, got, want)
		}
	}
}

func TestMutate(t *testing.T) {
	t.Parallel()
	domain := &Domain{Key: rack, Value: "rack-1"}
	term := func(expressions ...metav1.LabelSelectorRequirement) *corev1.PodAffinityTerm {
		return &corev1.PodAffinityTerm{
			TopologyKey: rack, NamespaceSelector: &metav1.LabelSelector{},
			LabelSelector: &metav1.LabelSelector{MatchExpressions: expressions},
		}
	}
	own := metav1.LabelSelectorRequirement{Key: jobset.JobKey, Operator: "In", Values: []string{"key"}}
	exists := metav1.LabelSelectorRequirement{Key: jobset.JobKey, Operator: "Exists"}
	other := metav1.LabelSelectorRequirement{Key: jobset.JobKey, Operator: "NotIn", Values: []string{"key"}}
	same := func(label string) metav1.LabelSelectorRequirement {
		return metav1.LabelSelectorRequirement{Key: PriorityKey, Operator: "In", Values: []string{label}}
	}
	labelled := func(p *corev1.Pod) { p.Labels[PriorityKey] = "mine" }
	tests := map[string]struct {
		pod  *corev1.Pod
		want Mutation
	}{
		"W100: a Pod of no JobSet is left alone":         {worker("0", without(jobset.JobSetNameKey), priority(1)), Mutation{}},
		"W101, Q3: a reserved node needs but a priority": {worker("0", reserved, priority(1)), Mutation{Priority: ptr.To("1")}},
		"W102, W104: a Pod placed anywhere gets its priority": {
			worker("0", without(jobset.ExclusiveKey), priority(1)), Mutation{Priority: ptr.To("1")},
		},
		"W103: without a priority there is no label": {worker("0", without(jobset.ExclusiveKey), labelled), Mutation{}},
		"W105, W106: a leader": {
			worker("0", priority(-1)), Mutation{Priority: ptr.To("n1"), Attract: term(own), Repel: term(exists, other, same("n1"))},
		},
		"W102, W106: the label of the user gives way":      {worker("0", priority(1), labelled), Mutation{Priority: ptr.To("1"), Attract: term(own), Repel: term(exists, other, same("1"))}},
		"W106: a leader with a label and no priority":      {worker("0", labelled), Mutation{Attract: term(own), Repel: term(exists, other, same("mine"))}},
		"Q2: a leader without a priority repels all":       {worker("0"), Mutation{Attract: term(own), Repel: term(exists, other)}},
		"W112: a follower":                                 {worker("1", priority(0)), Mutation{Priority: ptr.To("0"), Domain: domain}},
		"W112: one without an index follows":               {worker("1", without(batchv1.JobCompletionIndexAnnotation)), Mutation{Domain: domain}},
		"W112: index 00 is not that of a leader":           {worker("00"), Mutation{Domain: domain}},
		"C189: the domain is for nobody but the followers": {worker("1", reserved), Mutation{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := tc.pod.DeepCopy()
			if diff := cmp.Diff(tc.want, Mutate(tc.pod, Spot{Domain: domain})); diff != "" {
				t.Errorf("mutation (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, tc.pod); diff != "" {
				t.Errorf("the Pod itself changed:\n%s", diff)
			}
		})
	}
	if diff := cmp.Diff(Mutation{}, Mutate(worker("1"), Spot{})); diff != "" {
		t.Errorf("W108, W109: a follower whose leader has no domain (-want +got):\n%s", diff)
	}
}

func TestDomainOf(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{rack: ""}}}
	if domain, err := DomainOf(node, rack); err != nil || domain != (Domain{Key: rack}) {
		t.Errorf("W112: an empty value is a domain, got %v, %v", domain, err)
	}
	if _, err := DomainOf(node, "zone"); text(err) != "node does not have topology label: zone" {
		t.Errorf("W111, C196: got %v", err)
	}
}

func TestPodNameKey(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		pod  *corev1.Pod
		want string
	}{
		"C17: the name without its last segment":       {worker("0"), "js-w-0-0"},
		"C17: names may hold more of them":             {worker("0", named("my-js-my-w-0-12-abcde")), "my-js-my-w-0-12"},
		"C17, W114: fewer than five segments":          {worker("0", named("w-0-0-abcde")), ""},
		"C17, W114: not placed exclusively":            {worker("0", without(jobset.ExclusiveKey)), ""},
		"C17: nodes reserved beforehand do not matter": {worker("0", reserved), "js-w-0-0"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, ok := PodNameKey(facts.Of(tc.pod)); got != tc.want || ok != (tc.want != "") {
				t.Errorf("got %q, %t, want %q", got, ok, tc.want)
			}
		})
	}
}
