/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package validation

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/version"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/gates"
	"sigs.k8s.io/jobset/pkg/nodehealth"
	"sigs.k8s.io/jobset/pkg/tolerance"
	"sigs.k8s.io/jobset/pkg/workerpod"
)

// Cluster is what admission depends on besides the JobSet and the gates.
type Cluster struct {
	// AgentImage is the image of the agent in templates that bring none; empty if the manager has none.
	AgentImage string
	// GrantsAccess: the manager gives agents the rights that they need.
	GrantsAccess bool
	// Server is the version of the API server; nil if unknown.
	Server *version.Version
	// Tolerance says what spec.faultTolerance means.
	Tolerance tolerance.Limits
	// Progress is that of JobSets in process mode that name none; nil if they get none.
	Progress *jobset.ProgressPolicy
	// LostNode is that of JobSets that do not say it; nil if they get none.
	LostNode *jobset.LostNodePolicy
	// KeepAway says which nodes Pods of JobSets with spec.faultTolerance keep away from.
	KeepAway nodehealth.Rules
	// AgentResources are those of agents that the manager adds; nil means the default.
	AgentResources *corev1.ResourceRequirements
}

// restartsAllFrom is the version from which schedulers and kubelets know RestartAllContainers without further ado.
var restartsAllFrom = version.MajorMinor(1, 36)

// InCluster returns the violations of a new JobSet that come from where it is created.
func InCluster(js *jobset.JobSet, g gates.Set, c Cluster) field.ErrorList {
	if !workerpod.RestartsInPlace(js, g) {
		return nil
	}
	errs := serverVersion(js, c.Server)
	for i := range js.Spec.ReplicatedJobs {
		rjob := &js.Spec.ReplicatedJobs[i]
		if c.AgentImage != "" || !workerpod.IsInjected(js, rjob) {
			continue
		}
		errs = append(errs, field.Required(podPath(i).Child("initContainers"), fmt.Sprintf(
			"must hold the agent, which restarts and holds back the workers, %s: the manager adds it if inPlaceRestart.agentImage "+
				"of its configuration names an image, and it names none; set it there, or bring an agent here", because)))
	}
	return errs
}

// serverVersion refuses containers that restart where Pods with such rules find no node. Process mode runs everywhere.
func serverVersion(js *jobset.JobSet, server *version.Version) field.ErrorList {
	if server == nil || server.AtLeast(restartsAllFrom) || workerpod.ModeOf(js.Spec.FailurePolicy) == jobset.ProcessMode {
		return nil
	}
	instead := fmt.Sprintf("set mode: %s, which needs no newer cluster", jobset.ProcessMode)
	if obstacles := workerpod.Obstacles(js); len(obstacles) > 0 {
		var all []string
		for _, o := range obstacles {
			all = append(all, fmt.Sprintf("%s, %s", obstacle(o), o.Fix))
		}
		instead = fmt.Sprintf("make mode %s possible, which needs no newer cluster (%s)", jobset.ProcessMode, strings.Join(all, "; "))
	}
	return field.ErrorList{field.Invalid(modePath, jobset.ContainerMode, fmt.Sprintf(
		"needs Kubernetes %s or newer, and the API server was v%s when the manager started: it restarts Pods by the action RestartAllContainers, "+
			"and older schedulers keep such Pods off nodes that do not declare it; %s, or upgrade the cluster and restart the manager, or use restartStrategy %s",
		restartsAllFrom, server, instead, jobset.Recreate))}
}
