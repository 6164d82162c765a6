/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha2

// JobSetControllerName is the value of spec.managedBy that means this controller, like an absent value.
const JobSetControllerName = "jobset.sigs.k8s.io/jobset-controller"

// Keys that the controller writes on child Jobs and on their Pods, each as a label and as an annotation.
const (
	// JobSetNameKey holds the name of the JobSet.
	JobSetNameKey = "jobset.sigs.k8s.io/jobset-name"
	// JobSetUIDKey holds the UID of the JobSet.
	JobSetUIDKey = "jobset.sigs.k8s.io/jobset-uid"
	// ReplicatedJobNameKey holds the name of the ReplicatedJob.
	ReplicatedJobNameKey = "jobset.sigs.k8s.io/replicatedjob-name"
	// ReplicatedJobReplicas holds the number of Jobs of the ReplicatedJob.
	ReplicatedJobReplicas = "jobset.sigs.k8s.io/replicatedjob-replicas"
	// GlobalReplicasKey holds the number of Jobs of the whole JobSet.
	GlobalReplicasKey = "jobset.sigs.k8s.io/global-replicas"
	// JobIndexKey holds the index of the Job in its ReplicatedJob, from 0.
	JobIndexKey = "jobset.sigs.k8s.io/job-index"
	// JobGlobalIndexKey holds the index of the Job in the JobSet, from 0.
	JobGlobalIndexKey = "jobset.sigs.k8s.io/job-global-index"
	// JobKey holds the SHA-1, in hex, of "<namespace>/<job name>".
	JobKey = "jobset.sigs.k8s.io/job-key"
	// GroupNameKey holds the groupName of the ReplicatedJob.
	GroupNameKey = "jobset.sigs.k8s.io/group-name"
	// GroupReplicasKey holds the number of Jobs with the same groupName.
	GroupReplicasKey = "jobset.sigs.k8s.io/group-replicas"
	// JobGroupIndexKey holds the index of the Job among those of its groupName, from 0.
	JobGroupIndexKey = "jobset.sigs.k8s.io/job-group-index"
	// CoordinatorKey holds the stable network address of the coordinator Pod.
	CoordinatorKey = "jobset.sigs.k8s.io/coordinator"
)

// Annotations that users set on a JobSet or on a Job template.
const (
	// ExclusiveKey names a node label: each Job gets a topology domain of its own.
	ExclusiveKey = "alpha.jobset.sigs.k8s.io/exclusive-topology"
	// NodeSelectorStrategyKey switches exclusive placement to nodes labelled beforehand.
	NodeSelectorStrategyKey = "alpha.jobset.sigs.k8s.io/node-selector"
	// DisableInPlaceRestartKey, with any value on the JobSet, disables in-place restart: agents release their workers and never restart them, once condition InPlaceRestartDisabled is True. It can be removed only then.
	DisableInPlaceRestartKey = "jobset.sigs.k8s.io/disable-in-place-restart"
)

// Keys of other objects.
const (
	// EpochKey is the Pod annotation in which an agent reports the epoch of its Pod, a decimal int32 >= 1. In large groups it is an
	// annotation of the Lease "jobset.<pod name>", and so are the other reports of agents.
	EpochKey = "jobset.sigs.k8s.io/epoch"
	// WorkerExitKey is the Pod annotation in which an agent reports how a worker of its Pod ended: JSON of at most 512 bytes.
	WorkerExitKey = "jobset.sigs.k8s.io/worker-exit"
	// ProgressKey is the Pod annotation in which an agent reports what signs of life a worker of its Pod gave: JSON of at most 256 bytes.
	ProgressKey = "jobset.sigs.k8s.io/progress"
	// AddressKey is the Pod annotation in which the agent of rank 0 of a ReplicatedJob reports the IPv4 address of its Pod.
	AddressKey = "jobset.sigs.k8s.io/address"
	// LastResizeKey is the annotation of a JobSet that says when the manager last changed the size of one of its elastic
	// ReplicatedJobs (RFC 3339). It is for users; no decision depends on it.
	LastResizeKey = "jobset.sigs.k8s.io/last-resize"

	// ElasticHoldKey is the annotation of a JobSet that, whatever its value, makes the manager leave the sizes of its elastic
	// ReplicatedJobs alone.
	ElasticHoldKey = "jobset.sigs.k8s.io/elastic-hold"
	// ExecutionAttemptKey is the annotation of child Jobs and of their Pods that holds status.executionAttempts as it was when the
	// Job was created or last resumed, 0 if it was absent. Written with the feature gate ExecutionAttemptsTracking only.
	ExecutionAttemptKey = "jobset.sigs.k8s.io/execution-attempt"
	// NamespacedJobKey is the node label, and Pod node selector, "<namespace>_<job name>".
	NamespacedJobKey = "alpha.jobset.sigs.k8s.io/namespaced-job"
	// NoScheduleTaintKey is the taint of nodes reserved by NamespacedJobKey.
	NoScheduleTaintKey = "alpha.jobset.sigs.k8s.io/no-schedule"
)
