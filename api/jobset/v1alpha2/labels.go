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
	// +reference=keys-of-jobs
	JobSetNameKey = "jobset.sigs.k8s.io/jobset-name"
	// JobSetUIDKey holds the UID of the JobSet.
	// +reference=keys-of-jobs
	JobSetUIDKey = "jobset.sigs.k8s.io/jobset-uid"
	// ReplicatedJobNameKey holds the name of the ReplicatedJob.
	// +reference=keys-of-jobs
	ReplicatedJobNameKey = "jobset.sigs.k8s.io/replicatedjob-name"
	// ReplicatedJobReplicas holds the number of Jobs of the ReplicatedJob.
	// +reference=keys-of-jobs
	ReplicatedJobReplicas = "jobset.sigs.k8s.io/replicatedjob-replicas"
	// GlobalReplicasKey holds the number of Jobs of the whole JobSet.
	// +reference=keys-of-jobs
	GlobalReplicasKey = "jobset.sigs.k8s.io/global-replicas"
	// JobIndexKey holds the index of the Job in its ReplicatedJob, from 0.
	// +reference=keys-of-jobs
	JobIndexKey = "jobset.sigs.k8s.io/job-index"
	// JobGlobalIndexKey holds the index of the Job in the JobSet, from 0.
	// +reference=keys-of-jobs
	JobGlobalIndexKey = "jobset.sigs.k8s.io/job-global-index"
	// JobKey holds the SHA-1, in hex, of `<namespace>/<job name>`.
	// +reference=keys-of-jobs
	JobKey = "jobset.sigs.k8s.io/job-key"
	// GroupNameKey holds the `groupName` of the ReplicatedJob.
	// +reference=keys-of-jobs
	GroupNameKey = "jobset.sigs.k8s.io/group-name"
	// GroupReplicasKey holds the number of Jobs with the same `groupName`.
	// +reference=keys-of-jobs
	GroupReplicasKey = "jobset.sigs.k8s.io/group-replicas"
	// JobGroupIndexKey holds the index of the Job among those of its `groupName`, from 0.
	// +reference=keys-of-jobs
	JobGroupIndexKey = "jobset.sigs.k8s.io/job-group-index"
	// CoordinatorKey holds the network address of the coordinator Pod, if there is one.
	// +reference=keys-of-jobs
	CoordinatorKey = "jobset.sigs.k8s.io/coordinator"
)

// Annotations that users set on a JobSet or on a Job template.
const (
	// ExclusiveKey holds a node label: each Job gets a topology domain of its own.
	// +reference=keys-of-users
	ExclusiveKey = "alpha.jobset.sigs.k8s.io/exclusive-topology"
	// NodeSelectorStrategyKey: exclusive placement uses nodes labelled beforehand.
	// +reference=keys-of-users
	NodeSelectorStrategyKey = "alpha.jobset.sigs.k8s.io/node-selector"
	// DisableInPlaceRestartKey: with any value on the JobSet, agents release their workers and never restart them, once condition
	// `InPlaceRestartDisabled` is True. It can be removed only then.
	// +reference=keys-of-users
	DisableInPlaceRestartKey = "jobset.sigs.k8s.io/disable-in-place-restart"
)

// Keys of other objects.
const (
	// EpochKey holds the epoch of the Pod, a decimal int32 from 1.
	//
	// Agents report in annotations of their Pods; in large groups in those of the Lease "jobset.<pod name>".
	// +reference=keys-of-agents
	EpochKey = "jobset.sigs.k8s.io/epoch"
	// WorkerExitKey holds how a worker of the Pod ended: JSON of at most 512 bytes.
	// +reference=keys-of-agents
	WorkerExitKey = "jobset.sigs.k8s.io/worker-exit"
	// ProgressKey holds what signs of life a worker of the Pod gave: JSON of at most 256 bytes.
	// +reference=keys-of-agents
	ProgressKey = "jobset.sigs.k8s.io/progress"
	// AddressKey holds the IPv4 address of the Pod, of rank 0 of a ReplicatedJob only.
	// +reference=keys-of-agents
	AddressKey = "jobset.sigs.k8s.io/address"
	// LastResizeKey holds when the manager last changed the size of an elastic ReplicatedJob (RFC 3339). No decision depends on it: the
	// cooldown counts from `status.replicatedJobsStatus[].elastic.lastResizeTime`.
	// +reference=keys-of-others | annotation of JobSets, by the controller with gate `ElasticAutoscaling`
	LastResizeKey = "jobset.sigs.k8s.io/last-resize"
	// ElasticHoldKey: with any value, the manager does not change the sizes of elastic ReplicatedJobs.
	// +reference=keys-of-users
	ElasticHoldKey = "jobset.sigs.k8s.io/elastic-hold"
	// ExecutionAttemptKey holds `status.executionAttempts` as it was when the Job was created or last resumed, 0 if it was absent.
	// +reference=keys-of-others | annotation of Jobs and Pods, by the controller with gate `ExecutionAttemptsTracking`
	ExecutionAttemptKey = "jobset.sigs.k8s.io/execution-attempt"
	// NamespacedJobKey holds `<namespace>_<job name>`, which the controller makes the node selector of the Pods.
	// +reference=keys-of-others | label of Nodes, by the administrator
	NamespacedJobKey = "alpha.jobset.sigs.k8s.io/namespaced-job"
	// NoScheduleTaintKey: Pods that are placed by that label tolerate it.
	// +reference=keys-of-others | taint of Nodes, by the administrator
	NoScheduleTaintKey = "alpha.jobset.sigs.k8s.io/no-schedule"
)
