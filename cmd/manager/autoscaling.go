/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	elasticcontroller "sigs.k8s.io/jobset/pkg/controllers/elastic"
	"sigs.k8s.io/jobset/pkg/gates"
)

// autoscalingOf returns how the sizes of elastic JobSets are planned: what the configuration says, else the defaults.
func autoscalingOf(cfg *configapi.Configuration, g gates.Set) elasticcontroller.Autoscaling {
	autoscaling := elasticcontroller.Autoscaling{
		Interval: configapi.DefaultAutoscalingInterval, CooldownUp: configapi.DefaultCooldownUp, CooldownDown: configapi.DefaultCooldownDown,
		ShrinkAfter: configapi.DefaultShrinkAfter, Accelerators: configapi.DefaultAccelerators(), ReservePercent: configapi.DefaultReservePercent,
		Gates: g, NoForce: toleranceOf(cfg).NoForce, ForcesStuck: deadlinesOf(cfg).ForcefulDeletion > 0,
	}
	given := ptr.Deref(cfg.ElasticAutoscaling, configapi.ElasticAutoscaling{})
	setGiven(&autoscaling.Interval, given.Interval)
	setGiven(&autoscaling.CooldownUp, given.CooldownUp)
	setGiven(&autoscaling.CooldownDown, given.CooldownDown)
	setGiven(&autoscaling.ShrinkAfter, given.ShrinkAfter)
	if len(given.Accelerators) > 0 {
		autoscaling.Accelerators = given.Accelerators
	}
	autoscaling.ReservePercent = ptr.Deref(given.ReservePercent, autoscaling.ReservePercent)
	return autoscaling
}
