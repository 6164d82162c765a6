/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package elastic

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Constraints are what a Pod says about its node (P106).
type Constraints struct {
	NodeSelector map[string]string
	// Terms of the required node affinity: one of them has to match. nil means any node.
	Terms       []corev1.NodeSelectorTerm
	Tolerations []corev1.Toleration
}

// Admits reports whether a scheduler would consider a node. A term that cannot be understood matches none.
func (c *Constraints) Admits(n *Node) bool {
	for key, value := range c.NodeSelector {
		if got, ok := n.Labels[key]; !ok || got != value {
			return false
		}
	}
	if c.Terms != nil && !slices.ContainsFunc(c.Terms, func(t corev1.NodeSelectorTerm) bool { return matches(&t, n) }) {
		return false
	}
	for i := range n.Taints {
		if taint := &n.Taints[i]; taint.Effect != corev1.TaintEffectPreferNoSchedule && !c.tolerates(taint) {
			return false
		}
	}
	return true
}

// signature is the same for constraints that admit the same nodes because they are written the same.
func (c *Constraints) signature() string {
	if len(c.NodeSelector) == 0 && c.Terms == nil && len(c.Tolerations) == 0 {
		return ""
	}
	tolerations := slices.Clone(c.Tolerations)
	for i := range tolerations {
		tolerations[i].TolerationSeconds = nil // a pointer, and no matter here
	}
	return fmt.Sprintf("%q %t %#v %#v", c.NodeSelector, c.Terms == nil, c.Terms, tolerations)
}

// matches reports whether all expressions of a term match. A term without any matches no node.
func matches(term *corev1.NodeSelectorTerm, n *Node) bool {
	if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
		return false
	}
	return expressionsMatch(term.MatchExpressions, n.Labels) &&
		expressionsMatch(term.MatchFields, map[string]string{"metadata.name": n.Name})
}

var operators = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn:           selection.In,
	corev1.NodeSelectorOpNotIn:        selection.NotIn,
	corev1.NodeSelectorOpExists:       selection.Exists,
	corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt:           selection.GreaterThan,
	corev1.NodeSelectorOpLt:           selection.LessThan,
}

func expressionsMatch(expressions []corev1.NodeSelectorRequirement, of map[string]string) bool {
	for _, e := range expressions {
		requirement, err := labels.NewRequirement(e.Key, operators[e.Operator], e.Values)
		if err != nil || !requirement.Matches(labels.Set(of)) {
			return false
		}
	}
	return true
}

func (c *Constraints) tolerates(taint *corev1.Taint) bool {
	return slices.ContainsFunc(c.Tolerations, func(t corev1.Toleration) bool {
		if (t.Effect != "" && t.Effect != taint.Effect) || (t.Key != "" && t.Key != taint.Key) {
			return false
		}
		switch t.Operator {
		case corev1.TolerationOpExists:
			return true
		case "", corev1.TolerationOpEqual:
			return t.Value == taint.Value
		}
		bound, err := strconv.ParseInt(t.Value, 10, 64)
		if err != nil {
			return false
		}
		value, err := strconv.ParseInt(taint.Value, 10, 64)
		return err == nil && ((t.Operator == corev1.TolerationOpGt && value > bound) || (t.Operator == corev1.TolerationOpLt && value < bound))
	})
}
