/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package config

import (
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/validation"
)

// agentResources are those that an agent may ask for.
var agentResources = []string{string(corev1.ResourceCPU), string(corev1.ResourceMemory), string(corev1.ResourceEphemeralStorage)}

// environments are those that workers may find.
var environments = []string{string(jobset.TorchEnvironment), string(jobset.NoEnvironment)}

// reportPlaces are where agents may report.
var reportPlaces = []configapi.ReportPlace{configapi.ReportsAuto, configapi.ReportsOnPod, configapi.ReportsInLease}

// validateAgent checks what the manager puts into Pods: a mistake here would fail every Job of the strategy.
func validateAgent(cfg *configapi.Configuration) field.ErrorList {
	if cfg.InPlaceRestart == nil {
		return nil
	}
	path := field.NewPath("inPlaceRestart")
	var errs field.ErrorList
	if image := cfg.InPlaceRestart.AgentImage; strings.ContainsFunc(image, unicode.IsSpace) {
		errs = append(errs, field.Invalid(path.Child("agentImage"), image, "must be an image reference, without spaces"))
	}
	if environment := cfg.InPlaceRestart.Environment; environment != "" && !slices.Contains(environments, environment) {
		errs = append(errs, field.NotSupported(path.Child("environment"), environment, environments))
	}
	if place := cfg.InPlaceRestart.Reports; place != "" && !slices.Contains(reportPlaces, place) {
		errs = append(errs, field.NotSupported(path.Child("reports"), place, reportPlaces))
	}
	if from := cfg.InPlaceRestart.LeaseReportsFrom; from != nil && *from < 1 {
		errs = append(errs, field.Invalid(path.Child("leaseReportsFrom"), *from, "must be at least 1; for Leases in every group, set reports to Lease"))
	}
	if progress := cfg.InPlaceRestart.Progress; progress != nil {
		errs = append(errs, validation.Deadlines(path.Child("progress"), progress)...)
	}
	if lost := cfg.InPlaceRestart.LostNode; lost != nil && lost.ReplaceAfterSeconds != nil {
		errs = append(errs, validation.ReplaceAfter(path.Child("lostNode", "replaceAfterSeconds"), *lost.ReplaceAfterSeconds)...)
	}
	if resources := cfg.InPlaceRestart.AgentResources; resources != nil {
		errs = append(errs, validateAgentResources(path.Child("agentResources"), resources)...)
	}
	return errs
}

func validateAgentResources(path *field.Path, resources *corev1.ResourceRequirements) field.ErrorList {
	var errs field.ErrorList
	if len(resources.Claims) > 0 {
		errs = append(errs, field.Forbidden(path.Child("claims"), "an agent needs no devices; remove it"))
	}
	errs = append(errs, validateQuantities(path.Child("limits"), resources.Limits)...)
	errs = append(errs, validateQuantities(path.Child("requests"), resources.Requests)...)
	for _, name := range agentResources {
		request, limit := resources.Requests[corev1.ResourceName(name)], resources.Limits[corev1.ResourceName(name)]
		if _, limited := resources.Limits[corev1.ResourceName(name)]; limited && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(path.Child("requests").Key(name), request.String(), "must be at most the limit, "+limit.String()))
		}
	}
	return errs
}

func validateQuantities(path *field.Path, list corev1.ResourceList) field.ErrorList {
	var errs field.ErrorList
	for name, quantity := range list {
		if !slices.Contains(agentResources, string(name)) {
			errs = append(errs, field.NotSupported(path, name, agentResources))
		} else if quantity.Sign() <= 0 {
			errs = append(errs, field.Invalid(path.Key(string(name)), quantity.String(), "must be greater than 0"))
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}
