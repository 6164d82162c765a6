/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package main

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	configapi "sigs.k8s.io/jobset/api/config/v1alpha1"
	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/validation"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// injectionOf is what the manager adds to worker Pods without an agent.
func injectionOf(cfg *configapi.Configuration) workerpod.Injection {
	of := ptr.Deref(cfg.InPlaceRestart, configapi.InPlaceRestart{})
	return workerpod.Injection{
		Image: of.AgentImage, Resources: of.AgentResources, Environment: jobset.WorkerEnvironment(of.Environment), LeaseReportsFrom: leaseReportsFrom(&of),
	}
}

// leaseReportsFrom is the number of workers from which agents report in Leases, 0 if they never do.
func leaseReportsFrom(of *configapi.InPlaceRestart) int64 {
	switch cmp.Or(of.Reports, configapi.DefaultReports) {
	case configapi.ReportsOnPod:
		return 0
	case configapi.ReportsInLease:
		return 1
	}
	return int64(ptr.Deref(of.LeaseReportsFrom, configapi.DefaultLeaseReportsFrom))
}

// createsAccess reports whether the manager grants agents the access that they need.
func createsAccess(cfg *configapi.Configuration) bool {
	return cfg.InPlaceRestart == nil || ptr.Deref(cfg.InPlaceRestart.CreateAccess, configapi.DefaultCreateAccess)
}

// clusterOf is what admission is to know of the cluster. Only in-place restart asks for its version, once.
func clusterOf(cfg *configapi.Configuration, connection *rest.Config, gates gates.Set) (validation.Cluster, error) {
	of := ptr.Deref(cfg.InPlaceRestart, configapi.InPlaceRestart{})
	cluster := validation.Cluster{AgentImage: of.AgentImage, Tolerance: toleranceOf(cfg), GrantsAccess: createsAccess(cfg), Progress: of.Progress, LostNode: of.LostNode,
		KeepAway: nodeHealthOf(cfg).KeepAway, AgentResources: injectionOf(cfg).Resources}
	if !gates.InPlaceRestart {
		return cluster, nil
	}
	client, err := discovery.NewDiscoveryClientForConfig(connection)
	if err != nil {
		return cluster, fmt.Errorf("building a client for the version of the API server: %w", err)
	}
	info, err := client.ServerVersion()
	if err != nil {
		return cluster, fmt.Errorf("reading the version of the API server: %w", err)
	}
	if cluster.Server, err = version.ParseGeneric(info.GitVersion); err != nil {
		return cluster, fmt.Errorf("reading the version of the API server: %w", err)
	}
	return cluster, nil
}
