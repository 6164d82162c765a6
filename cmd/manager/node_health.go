/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobsetcontroller "sigs.k8s.io/jobset/pkg/controllers/jobset"
	"sigs.k8s.io/jobset/pkg/nodehealth"
)

// nodeHealthOf says which nodes JobSets with spec.faultTolerance keep away from and move off.
func nodeHealthOf(cfg *configapi.Configuration) jobsetcontroller.NodeHealth {
	given := ptr.Deref(cfg.NodeHealth, configapi.NodeHealth{})
	if !ptr.Deref(given.InjectAntiAffinities, configapi.DefaultInjectAntiAffinities) {
		return jobsetcontroller.NodeHealth{} // nor is anybody moved: they could come back
	}
	health := jobsetcontroller.NodeHealth{KeepAway: nodehealth.DefaultRules()}
	if given.ResourceTaints != nil {
		health.KeepAway = nodehealth.RulesOf(given.ResourceTaints)
	}
	if ptr.Deref(given.MonitorNodes, configapi.DefaultMonitorNodes) {
		health.MoveOff = health.KeepAway
	}
	return health
}
