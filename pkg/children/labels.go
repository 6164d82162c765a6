/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package children

import (
	"maps"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/placement"
)

// reservedKeys belong to the controller: users cannot replace what it wrote when it built a Job.
var reservedKeys = sets.New(
	jobset.JobSetNameKey, jobset.JobSetUIDKey,
	jobset.ReplicatedJobNameKey, jobset.ReplicatedJobReplicas, jobset.GlobalReplicasKey,
	jobset.JobIndexKey, jobset.JobGlobalIndexKey, jobset.JobKey,
	jobset.GroupNameKey, jobset.GroupReplicasKey, jobset.JobGroupIndexKey,
	jobset.CoordinatorKey, constants.RestartsKey, constants.JobRestartAttemptKey,
	jobset.ExclusiveKey, jobset.NodeSelectorStrategyKey, jobset.NamespacedJobKey, jobset.ExecutionAttemptKey,
)

// keys returns what the controller writes, as labels and as annotations, on a Job and on its Pods.
func (b *Builder) keys(rjob *jobset.ReplicatedJob, jobIndex int) map[string]string {
	js := b.jobSet
	keys := map[string]string{
		jobset.JobSetNameKey:         js.Name,
		jobset.JobSetUIDKey:          string(js.UID),
		jobset.ReplicatedJobNameKey:  rjob.Name,
		jobset.ReplicatedJobReplicas: strconv.FormatInt(int64(rjob.Replicas), 10),
		jobset.GlobalReplicasKey:     strconv.FormatInt(b.indexes.globalReplicas, 10),
		jobset.JobIndexKey:           strconv.Itoa(jobIndex),
		jobset.JobGlobalIndexKey:     strconv.FormatInt(b.indexes.globalOffset[rjob.Name]+int64(jobIndex), 10),
		jobset.JobKey:                placement.JobKey(js.Namespace, placement.JobName(js.Name, rjob.Name, jobIndex)),
		jobset.GroupNameKey:          rjob.GroupName,
		jobset.GroupReplicasKey:      strconv.FormatInt(b.indexes.groupReplicas[rjob.GroupName], 10),
		jobset.JobGroupIndexKey:      strconv.FormatInt(b.indexes.groupOffset[rjob.Name]+int64(jobIndex), 10),
		constants.RestartsKey:        strconv.FormatInt(int64(js.Status.Restarts), 10),
	}
	if js.Spec.Coordinator != nil {
		keys[jobset.CoordinatorKey] = CoordinatorEndpoint(js)
	}
	// A Job that was restarted alone says so even while the gate is off, so that
	// it is not taken for an older one when the gate comes back.
	if attempt := b.jobRestarts(rjob.Name, jobIndex); b.byJob || attempt > 0 {
		keys[constants.JobRestartAttemptKey] = strconv.FormatInt(int64(attempt), 10)
	}
	return keys
}

// jobRestarts returns how often a Job was restarted on its own.
func (b *Builder) jobRestarts(rjob string, jobIndex int) int32 {
	if counters := b.restarts[rjob]; jobIndex < len(counters) {
		return counters[jobIndex]
	}
	return 0
}

// OwnValue reads what the controller wrote on an object: the label or, if
// somebody removed that, the annotation, which has the same value.
func OwnValue(obj metav1.Object, key string) string {
	if value, ok := obj.GetLabels()[key]; ok {
		return value
	}
	return obj.GetAnnotations()[key]
}

// CoordinatorEndpoint returns the stable address of the coordinator Pod. The JobSet must name a coordinator.
func CoordinatorEndpoint(js *jobset.JobSet) string {
	c := js.Spec.Coordinator
	return placement.PodHostname(js.Name, c.ReplicatedJob, c.JobIndex, c.PodIndex) + "." + Subdomain(js)
}

// exclusiveAnnotations returns the exclusive-placement annotations that Jobs and
// Pods inherit. Those of the Job template win over those of the JobSet; the
// node-selector strategy counts only beside the topology key of its own level.
func exclusiveAnnotations(js *jobset.JobSet, rjob *jobset.ReplicatedJob) map[string]string {
	inherited := map[string]string{}
	for _, level := range []map[string]string{js.Annotations, rjob.Template.Annotations} {
		topology, exclusive := level[jobset.ExclusiveKey]
		if !exclusive {
			continue
		}
		inherited[jobset.ExclusiveKey] = topology
		if strategy, ok := level[jobset.NodeSelectorStrategyKey]; ok {
			inherited[jobset.NodeSelectorStrategyKey] = strategy
		}
	}
	return inherited
}

// OwnerReference makes the JobSet the controller of an object.
func OwnerReference(js *jobset.JobSet) metav1.OwnerReference {
	return *metav1.NewControllerRef(js, jobset.GroupVersion.WithKind(jobset.Kind))
}

// merged returns a new map; where a key is in several, the last wins.
func merged(layers ...map[string]string) map[string]string {
	all := map[string]string{}
	for _, layer := range layers {
		maps.Copy(all, layer)
	}
	return all
}
