/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// PriorityKey holds the priority of the Pod: Jobs share no domain with Jobs of the same priority; one of a higher priority may preempt.
//
// It must not be repelled by what it preempts.
// +reference=keys-of-others | label of Pods of exclusive Jobs, by the webhook
const PriorityKey = "jobset.sigs.k8s.io/priority"

// PriorityLabel returns a priority as a label value, which must not begin with a
// minus sign: -7 is n7.
func PriorityLabel(priority int32) string {
	if priority < 0 {
		return "n" + strconv.FormatInt(-int64(priority), 10)
	}
	return strconv.FormatInt(int64(priority), 10)
}

// leaderTerms attract a leader to the Pods of its own Job, and repel it from
// those of other Jobs of its priority, in all namespaces. Without a priority it
// is repelled from all: a term with an empty priority would match
// no Pod, and placement would silently stop being exclusive.
func leaderTerms(topology, jobKey string, priority *string) (attract, repel *corev1.PodAffinityTerm) {
	attract = term(topology, metav1.LabelSelectorRequirement{
		Key: jobset.JobKey, Operator: metav1.LabelSelectorOpIn, Values: []string{jobKey},
	})
	others := []metav1.LabelSelectorRequirement{
		{Key: jobset.JobKey, Operator: metav1.LabelSelectorOpExists},
		{Key: jobset.JobKey, Operator: metav1.LabelSelectorOpNotIn, Values: []string{jobKey}},
	}
	if priority != nil {
		others = append(others, metav1.LabelSelectorRequirement{
			Key: PriorityKey, Operator: metav1.LabelSelectorOpIn, Values: []string{*priority},
		})
	}
	return attract, term(topology, others...)
}

func term(topology string, pods ...metav1.LabelSelectorRequirement) *corev1.PodAffinityTerm {
	return &corev1.PodAffinityTerm{
		TopologyKey:       topology,
		LabelSelector:     &metav1.LabelSelector{MatchExpressions: pods},
		NamespaceSelector: &metav1.LabelSelector{}, // all of them
	}
}
