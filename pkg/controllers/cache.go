/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package controllers is what the manager needs for all controllers. Each has a folder of its own, with the same file
// names as far as it has them: controller.go, watches.go, gather.go, execute.go, report.go.
package controllers

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/controllers/internal/shared"
	"sigs.k8s.io/jobset/pkg/facts"
)

// CacheOptions returns what the manager keeps in memory: only Pods of JobSets, and each as a *facts.Member, so a client of the cache
// cannot get or list Pods: they are found by indexes.
func CacheOptions() cache.Options {
	ofJobSets := shared.Having(jobset.JobSetNameKey)
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:  {Label: ofJobSets, Transform: keepMember},
			&corev1.Node{}: {Transform: stripNode},
			// Those of agents have our label; a cluster may have thousands of others.
			&rbacv1.Role{}:        {Label: ofJobSets},
			&rbacv1.RoleBinding{}: {Label: ofJobSets},
		},
	}
}

// keepMember keeps the facts of a Pod (P23), stripNode those of a Node, and its labels.
var keepMember, stripNode = shared.Keeping(facts.Of), shared.Keeping(facts.StripNode)
