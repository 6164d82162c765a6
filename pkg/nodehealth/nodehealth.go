/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package nodehealth says which nodes Pods keep away from and which they are moved off, because
// of labels that a health check put on the nodes. It knows labels, Pod templates and the rules of
// the configuration, and nothing of what exists.
//
//	rules       nvidia.com/gpu: autopilot.ibm.com/gpuhealth=ERR, and =EVICT, which moves
//	template    a container requests nvidia.com/gpu: 8
//	KeepAway    autopilot.ibm.com/gpuhealth NotIn [ERR, EVICT], a required node affinity (P90)
//	Marks       of a node with autopilot.ibm.com/gpuhealth=EVICT: its Pods are moved off it (P92)
package nodehealth

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
)

// Rules are, for each resource, the labels of nodes that say it is sick there.
type Rules map[corev1.ResourceName][]Rule

// Rule is a label of a node, and what follows from it for Pods that request the resource.
type Rule struct {
	Key, Value string
	// Moves: Pods on the node are moved off it (NoExecute). Otherwise new ones only keep away (NoSchedule).
	Moves bool
}

// RulesOf returns the rules that a configuration asks for.
func RulesOf(taints map[corev1.ResourceName][]configapi.ResourceTaint) Rules {
	rules := Rules{}
	for resource, list := range taints {
		for _, taint := range list {
			rules[resource] = append(rules[resource], Rule{
				Key: taint.Key, Value: taint.Value, Moves: taint.Effect == corev1.TaintEffectNoExecute,
			})
		}
	}
	return rules
}

// DefaultRules are the rules of a configuration that says nothing.
func DefaultRules() Rules { return RulesOf(configapi.DefaultResourceTaints()) }

// Mark is a label of a node off which Pods that request the resource are moved.
type Mark struct {
	Resource   corev1.ResourceName
	Key, Value string
}

// String is what users read.
func (m Mark) String() string { return fmt.Sprintf("%s=%s", m.Key, m.Value) }

// Marks returns the marks of a node with these labels, in a fixed order.
func (r Rules) Marks(labels map[string]string) []Mark {
	var marks []Mark
	for resource, rules := range r {
		for _, rule := range rules {
			if value, ok := labels[rule.Key]; rule.Moves && ok && value == rule.Value {
				marks = append(marks, Mark{Resource: resource, Key: rule.Key, Value: rule.Value})
			}
		}
	}
	slices.SortFunc(marks, func(a, b Mark) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
	return marks
}

// Moving returns those of the marks of a node that make Pods of a template move off it. A Pod whose
// template names its node cannot run elsewhere, and is not moved.
func Moving(pods *corev1.PodSpec, marks []Mark) []Mark {
	if pods.NodeName != "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(marks), func(mark Mark) bool { return !requests(pods, mark.Resource) })
}

// requests reports whether a container of a Pod template requests more than 0 of a resource. A limit without a
// request is the request: the API server fills it in only when it creates the Pod.
func requests(pods *corev1.PodSpec, resource corev1.ResourceName) bool {
	for _, containers := range [][]corev1.Container{pods.InitContainers, pods.Containers} {
		for i := range containers {
			quantity, ok := containers[i].Resources.Requests[resource]
			if !ok {
				quantity = containers[i].Resources.Limits[resource]
			}
			if quantity.Sign() > 0 {
				return true
			}
		}
	}
	return false
}

// avoided returns the values of each label that Pods of a template keep away from.
func (r Rules) avoided(pods *corev1.PodSpec) map[string]sets.Set[string] {
	avoided := map[string]sets.Set[string]{}
	for resource, rules := range r {
		if !requests(pods, resource) {
			continue
		}
		for _, rule := range rules {
			if avoided[rule.Key] == nil {
				avoided[rule.Key] = sets.New[string]()
			}
			avoided[rule.Key].Insert(rule.Value)
		}
	}
	return avoided
}
