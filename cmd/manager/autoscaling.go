/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	elasticcontroller "sigs.k8s.io/jobset/pkg/controllers/elastic"
	"sigs.k8s.io/jobset/pkg/gates"
)

// autoscalingOf returns how the sizes of elastic JobSets are planned: what the configuration says, else the defaults.
func autoscalingOf(cfg *configapi.Configuration, g gates.Set) elasticcontroller.Autoscaling {
	autoscaling := elasticcontroller.Autoscaling{
		Interval: configapi.DefaultAutoscalingInterval, CooldownUp: configapi.DefaultCooldownUp, CooldownDown: configapi.DefaultCooldownDown,
		ShrinkAfter: configapi.DefaultShrinkAfter, Accelerators: configapi.DefaultAccelerators(), ReservePercent: configapi.DefaultReservePercent,
		Gates: g, NoForce: toleranceOf(cfg).NoForce, ForcesStuck: progressOf(cfg).ForcefulDeletion > 0,
	}
	given := cfg.ElasticAutoscaling
	if given == nil {
		return autoscaling
	}
	if given.Interval != nil {
		autoscaling.Interval = given.Interval.Duration
	}
	if given.CooldownUp != nil {
		autoscaling.CooldownUp = given.CooldownUp.Duration
	}
	if given.CooldownDown != nil {
		autoscaling.CooldownDown = given.CooldownDown.Duration
	}
	if given.ShrinkAfter != nil {
		autoscaling.ShrinkAfter = given.ShrinkAfter.Duration
	}
	if len(given.Accelerators) > 0 {
		autoscaling.Accelerators = given.Accelerators
	}
	if given.ReservePercent != nil {
		autoscaling.ReservePercent = *given.ReservePercent
	}
	return autoscaling
}
