/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package nodehealth

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
)

// KeepAway returns the affinity of a Pod template with what keeps its Pods away from nodes on which a
// resource that they request is sick (P90). The template is not changed.
func (r Rules) KeepAway(pods *corev1.PodSpec) *corev1.Affinity {
	avoided := r.avoided(pods)
	if len(avoided) == 0 {
		return pods.Affinity
	}
	affinity := pods.Affinity.DeepCopy()
	if affinity == nil {
		affinity = &corev1.Affinity{}
	}
	if affinity.NodeAffinity == nil {
		affinity.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := &affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if *required == nil {
		*required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: expressions(nil, avoided)}}}
		return affinity
	}
	// Terms are alternatives: one that lacks the expressions would let the Pod onto any node that it matches.
	for i := range (*required).NodeSelectorTerms {
		if term := &(*required).NodeSelectorTerms[i]; matchesSome(term) {
			term.MatchExpressions = append(term.MatchExpressions, expressions(term, avoided)...)
		}
	}
	return affinity
}

// matchesSome reports whether a term can match a node. An empty one matches none; with an expression it would.
func matchesSome(term *corev1.NodeSelectorTerm) bool {
	return len(term.MatchExpressions)+len(term.MatchFields) > 0
}

// expressions returns what a term lacks to match no node with an avoided label, in the order of keys.
func expressions(term *corev1.NodeSelectorTerm, avoided map[string]sets.Set[string]) []corev1.NodeSelectorRequirement {
	var lacking []corev1.NodeSelectorRequirement
	for _, key := range sets.List(sets.KeySet(avoided)) {
		values := sets.List(avoided[key])
		if term != nil && lists(term, key, values) {
			continue
		}
		lacking = append(lacking, corev1.NodeSelectorRequirement{Key: key, Operator: corev1.NodeSelectorOpNotIn, Values: values})
	}
	return lacking
}

// lists reports whether a term has such an expression already.
func lists(term *corev1.NodeSelectorTerm, key string, values []string) bool {
	return slices.ContainsFunc(term.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
		return e.Key == key && e.Operator == corev1.NodeSelectorOpNotIn && sets.New(e.Values...).HasAll(values...)
	})
}

// Avoids reports whether no Pod of a template can be scheduled to a node with these marks.
func Avoids(pods *corev1.PodSpec, marks []Mark) bool {
	return !slices.ContainsFunc(marks, func(mark Mark) bool { return !avoids(pods, mark.Key, mark.Value) })
}

func avoids(pods *corev1.PodSpec, key, value string) bool {
	if pods.Affinity == nil || pods.Affinity.NodeAffinity == nil {
		return false
	}
	required := pods.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		return false
	}
	return !slices.ContainsFunc(required.NodeSelectorTerms, func(term corev1.NodeSelectorTerm) bool {
		return matchesSome(&term) && !excludes(&term, key, value)
	})
}

// excludes reports whether a term matches no node with this label.
func excludes(term *corev1.NodeSelectorTerm, key, value string) bool {
	return slices.ContainsFunc(term.MatchExpressions, func(e corev1.NodeSelectorRequirement) bool {
		switch {
		case e.Key != key:
			return false
		case e.Operator == corev1.NodeSelectorOpNotIn:
			return slices.Contains(e.Values, value)
		case e.Operator == corev1.NodeSelectorOpIn:
			return !slices.Contains(e.Values, value)
		}
		return e.Operator == corev1.NodeSelectorOpDoesNotExist
	})
}

// Extends reports whether an affinity is another with requirements added to its node selector terms that only keep Pods away, as
// those of KeepAway do.
func Extends(affinity, from *corev1.Affinity) bool {
	if from == nil {
		from = &corev1.Affinity{}
	}
	terms, rest := requiredTerms(affinity)
	fewer, same := requiredTerms(from)
	if fewer == nil {
		fewer = []corev1.NodeSelectorTerm{{}}
	}
	if len(terms) != len(fewer) || !apiequality.Semantic.DeepEqual(rest, same) {
		return false
	}
	for i := range terms {
		have, want := terms[i].MatchExpressions, fewer[i].MatchExpressions
		if len(have) < len(want) || !apiequality.Semantic.DeepEqual(have[:len(want)], want) || !apiequality.Semantic.DeepEqual(terms[i].MatchFields, fewer[i].MatchFields) {
			return false
		}
		if slices.ContainsFunc(have[len(want):], func(e corev1.NodeSelectorRequirement) bool { return e.Operator != corev1.NodeSelectorOpNotIn }) {
			return false
		}
	}
	return true
}

// requiredTerms returns the required node selector terms of an affinity, and a copy of the rest of it.
func requiredTerms(affinity *corev1.Affinity) (terms []corev1.NodeSelectorTerm, rest corev1.Affinity) {
	if affinity == nil || affinity.NodeAffinity == nil {
		if affinity != nil {
			rest = *affinity
		}
		return nil, rest
	}
	rest = *affinity.DeepCopy()
	if required := affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
		terms, rest.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required.NodeSelectorTerms, nil
	}
	if len(rest.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) == 0 {
		rest.NodeAffinity = nil
	}
	return terms, rest
}
