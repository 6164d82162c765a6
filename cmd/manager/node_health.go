/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/controllers"
	"sigs.k8s.io/jobset/pkg/nodehealth"
)

// nodeHealthOf says which nodes JobSets with spec.faultTolerance keep away from and move off.
func nodeHealthOf(cfg *configapi.Configuration) controllers.NodeHealth {
	given := cfg.NodeHealth
	if given == nil {
		given = &configapi.NodeHealth{}
	}
	if !ptr.Deref(given.InjectAntiAffinities, true) {
		return controllers.NodeHealth{} // nor is anybody moved: they could come back
	}
	health := controllers.NodeHealth{KeepAway: nodehealth.DefaultRules()}
	if given.ResourceTaints != nil {
		health.KeepAway = rulesOf(given.ResourceTaints)
	}
	if ptr.Deref(given.MonitorNodes, true) {
		health.MoveOff = health.KeepAway
	}
	return health
}

func rulesOf(taints map[corev1.ResourceName][]configapi.ResourceTaint) nodehealth.Rules {
	rules := nodehealth.Rules{}
	for resource, list := range taints {
		for _, taint := range list {
			rules[resource] = append(rules[resource], nodehealth.Rule{
				Key: taint.Key, Value: taint.Value, Moves: taint.Effect == corev1.TaintEffectNoExecute,
			})
		}
	}
	return rules
}
