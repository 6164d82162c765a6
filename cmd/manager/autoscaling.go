/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	"sigs.k8s.io/jobset/pkg/controllers"
	"sigs.k8s.io/jobset/pkg/gates"
)

// autoscalingOf returns how the sizes of elastic JobSets are planned: what the configuration says, else the defaults.
func autoscalingOf(cfg *configapi.Configuration, g gates.Set) controllers.Autoscaling {
	autoscaling := controllers.Autoscaling{
		Interval: 30 * time.Second, CooldownUp: 5 * time.Minute, ShrinkAfter: 2 * time.Minute, Accelerators: []corev1.ResourceName{"nvidia.com/gpu"},
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
