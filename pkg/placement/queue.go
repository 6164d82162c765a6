/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package placement

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
)

// A queue counts and places what the template says when it admits a JobSet (P90a). What the manager adds later, it does not know.

// Queued reports whether a queue manages a JobSet: by its label, or because it creates the Jobs elsewhere.
func Queued(js *jobset.JobSet) bool {
	_, labelled := js.Labels[constants.QueueNameKey]
	return labelled || js.Spec.ManagedBy != nil && strings.HasPrefix(*js.Spec.ManagedBy, constants.QueueDomain+"/")
}

// PlacedByQueue reports whether the topology of a queue chooses the nodes of the Pods of a template: the queue has added a
// scheduling gate, and removes it from each Pod when it has given it a node selector.
func PlacedByQueue(pods *corev1.PodSpec) bool {
	return slices.ContainsFunc(pods.SchedulingGates, func(gate corev1.PodSchedulingGate) bool { return gate.Name == constants.QueueTopologyGate })
}

// HasPodsPlacedByQueue reports whether it does so for any Pod of a JobSet.
func HasPodsPlacedByQueue(js *jobset.JobSet) bool {
	return slices.ContainsFunc(js.Spec.ReplicatedJobs, func(rjob jobset.ReplicatedJob) bool { return PlacedByQueue(&rjob.Template.Spec.Template.Spec) })
}
