/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package workerpod

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Frameworks are the environments that add variables.
var Frameworks = []jobset.WorkerEnvironment{jobset.TorchEnvironment, jobset.JaxEnvironment}

// framework says what an environment adds.
type framework struct {
	// owns reports whether a variable is one by which programs of the framework find each other.
	owns func(name string) bool
	// variables are those that workers get; uid is that of their JobSet.
	variables func(uid string) []variable
}

// frameworkOf returns the framework of an environment; false if it adds nothing.
func frameworkOf(environment jobset.WorkerEnvironment) (framework, bool) {
	switch environment {
	case jobset.TorchEnvironment:
		return framework{isTorchName, torchVariables}, true
	case jobset.JaxEnvironment:
		return framework{isJaxName, jaxVariables}, true
	}
	return framework{}, false
}

// OwnEnv returns the position of the first variable that the author of a container sets for the framework of an
// environment, or -1. Such a container gets none from us: a mix of both would be consistent by chance only.
func OwnEnv(environment jobset.WorkerEnvironment, c *corev1.Container) int {
	f, ok := frameworkOf(environment)
	if !ok {
		return -1
	}
	return slices.IndexFunc(c.Env, func(v corev1.EnvVar) bool { return f.owns(v.Name) })
}

// CarriesFramework reports whether the Pods of a Job can have all variables of a framework: torchrun takes itself for the
// only one if it has no size, and for the first one if it has no rank.
func (at Place) CarriesFramework(mode jobset.InPlaceRestartMode) bool {
	return at.Master != "" && (mode == jobset.ProcessMode || at.KnowsSize() && at.KnowsRank())
}
