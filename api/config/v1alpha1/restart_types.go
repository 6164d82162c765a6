/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// InPlaceRestart sets which agent worker Pods get, how long a group of workers may take
// to assemble, after a failure or at the start, before the controller intervenes, and how
// long workers may take to become ready before a condition says so. It applies to JobSets
// with restartStrategy InPlaceRestart only.
type InPlaceRestart struct {
	// agentImage is the image of the agent in worker Pods whose template has none, preferably
	// the one released with this manager. A new image is used in the next Jobs. Default:
	// empty, such templates are refused.
	// +optional
	AgentImage string `json:"agentImage,omitempty"`

	// agentResources are the requests and limits of these agents: cpu, memory and
	// ephemeral-storage. If all containers of a Pod have equal requests and limits, the
	// agent also has, so that the Pod stays Guaranteed. Default: requests of 10m and 32Mi,
	// a memory limit of 64Mi; in a Guaranteed Pod 100m and 64Mi.
	// +optional
	AgentResources *corev1.ResourceRequirements `json:"agentResources,omitempty"`

	// environment is the default for JobSets whose failurePolicy.inPlaceRestart.environment is empty:
	// Torch gives workers the variables of PyTorch, except for containers that set a variable whose
	// name begins with PET_, and for Pods that cannot have them. A change is used in the next Jobs.
	// Default: None.
	// +optional
	Environment string `json:"environment,omitempty"`

	// reports says where agents report their epochs. Pod: in annotations of their Pods. Lease: if
	// the JobSet is in process mode, each in its own Lease, for which an API server needs a
	// fraction of the time. Auto: in Leases if the JobSet is in process mode and has at least
	// leaseReportsFrom workers. Agents that may not write Leases, that a Pod template brings, or that
	// are in container mode report on their Pods. A change is used in the next Jobs. Default: Auto.
	// +optional
	Reports ReportPlace `json:"reports,omitempty"`

	// leaseReportsFrom is the number of workers from which Auto means Lease, at
	// least 1. Default: 256.
	// +optional
	LeaseReportsFrom *int32 `json:"leaseReportsFrom,omitempty"`

	// progress is set, on creation, in JobSets in process mode that have no failurePolicy.inPlaceRestart.progress. With startSeconds
	// a program that gives no signs is restarted repeatedly, so set that only if all programs give signs.
	// A JobSet that should have no limits sets progress: {}. Existing JobSets stay as they are; an update that
	// removes the field sets it to this value. Default: none.
	// +optional
	Progress *jobset.ProgressPolicy `json:"progress,omitempty"`

	// lostNode is set, on creation, in JobSets that have no failurePolicy.inPlaceRestart.lostNode; without
	// replaceAfterSeconds only in those with progress.stallSeconds. A JobSet that should leave lost workers to
	// Kubernetes sets replaceAfterSeconds: 0. Default: none.
	// +optional
	LostNode *jobset.LostNodePolicy `json:"lostNode,omitempty"`

	// createAccess lets the manager create a Role and a RoleBinding for the agents of each
	// JobSet. false: access is granted by other means, for example with
	// config/components/agent-access. Default: true.
	// +optional
	CreateAccess *bool `json:"createAccess,omitempty"`

	// assemblyGracePeriod is how long the controller waits for all workers. After it
	// the worker Pods that run on a node and have not reported are deleted, so that
	// they are recreated, elsewhere if necessary. After a second period all Jobs are
	// recreated, which counts towards maxRestarts. The time in which Pods wait for a node
	// or are prepared does not count. 0: no limit. Default: 10m.
	// +optional
	AssemblyGracePeriod *metav1.Duration `json:"assemblyGracePeriod,omitempty"`

	// preparationGracePeriod is how long the controller waits, in addition to
	// assemblyGracePeriod, for a worker Pod whose init containers run or whose images are pulled.
	// For a sandbox, a volume or a device it waits for assemblyGracePeriod at most. On a node
	// that is not ready it does not wait. 0: this time counts like any other. Default: 1h.
	// +optional
	PreparationGracePeriod *metav1.Duration `json:"preparationGracePeriod,omitempty"`

	// forcefulDeletionGracePeriod is how long, after the end of its own termination
	// grace, a worker Pod on a node that is not ready may keep its group waiting.
	// Then it is deleted with grace period 0, without waiting for the node to confirm that
	// its containers have stopped, so set it only if nodes that are not ready are
	// certain to be fenced. 0: never. Default: 0.
	// +optional
	ForcefulDeletionGracePeriod *metav1.Duration `json:"forcefulDeletionGracePeriod,omitempty"`

	// notReadyGracePeriod is how long a worker of a running group may be not ready before
	// the condition WorkersNotReady reports it: a container waits and says why,
	// or the node has stopped reporting. A worker that is still starting has at least five
	// minutes. The controller only reports it. 0: never. Default: 1m.
	// +optional
	NotReadyGracePeriod *metav1.Duration `json:"notReadyGracePeriod,omitempty"`

	// quickFailureMaxPause is the longest pause between two restarts of a group that keeps
	// failing. Of epochs in a row that failed less than a minute after their
	// workers were released, the second is followed by a pause of 1s, the third by one of
	// 2s, then 4s, and so on. 0: no pause. Default: 5m.
	// +optional
	QuickFailureMaxPause *metav1.Duration `json:"quickFailureMaxPause,omitempty"`
}

// ReportPlace is where agents report.
type ReportPlace string

// FaultTolerance sets the defaults of spec.faultTolerance of JobSets, and the maximum that they may ask
// for. It is read with feature gate FaultTolerance only.
type FaultTolerance struct {
	// gracePeriodMaximum is the longest time that a JobSet may ask for. A longer one is reduced to
	// it, and admission warns. Default: 24h.
	// +optional
	GracePeriodMaximum *metav1.Duration `json:"gracePeriodMaximum,omitempty"`

	// admissionGracePeriod is the default of admissionGracePeriodSeconds: how long after the start of
	// a Job its Pods may take to exist. Default: 1m.
	// +optional
	AdmissionGracePeriod *metav1.Duration `json:"admissionGracePeriod,omitempty"`

	// warmupGracePeriod is the default of warmupGracePeriodSeconds: how long after that they may take
	// to run, and a group that restarts in place to assemble. Default: 5m.
	// +optional
	WarmupGracePeriod *metav1.Duration `json:"warmupGracePeriod,omitempty"`

	// failureGracePeriod is the default of failureGracePeriodSeconds: how long a JobSet may be
	// unhealthy before it is reset. Default: 1m.
	// +optional
	FailureGracePeriod *metav1.Duration `json:"failureGracePeriod,omitempty"`

	// retryPause is the default of retryPauseSeconds: how long a reset waits between the end of
	// the old Jobs and the start of the new. 0: no pause. Default: 90s.
	// +optional
	RetryPause *metav1.Duration `json:"retryPause,omitempty"`

	// retryLimit is the default of retryLimit: how many restarts a JobSet without failurePolicy may
	// have before it fails. Default: 3.
	// +optional
	RetryLimit *int32 `json:"retryLimit,omitempty"`

	// deletionOnFailureGracePeriod is the default of deletionOnFailureGracePeriodSeconds: how long
	// the Pods of a failed JobSet are kept. Default: 0s.
	// +optional
	DeletionOnFailureGracePeriod *metav1.Duration `json:"deletionOnFailureGracePeriod,omitempty"`

	// forcefulDeletion allows deletion by force. false: nothing is deleted by force because of
	// spec.faultTolerance, whatever a JobSet asks for. Default: true.
	// +optional
	ForcefulDeletion *bool `json:"forcefulDeletion,omitempty"`

	// forcefulDeletionGracePeriod is the default of forcefulDeletionGracePeriodSeconds: how long
	// after a Pod or Job should have been gone it is deleted by force. Default: 10m.
	// +optional
	ForcefulDeletionGracePeriod *metav1.Duration `json:"forcefulDeletionGracePeriod,omitempty"`

	// successTTL is the default of successTTLSeconds, and its maximum if it is longer than
	// gracePeriodMaximum: how long after completion Jobs are kept. Default: 168h.
	// +optional
	SuccessTTL *metav1.Duration `json:"successTTL,omitempty"`
}

// ElasticAutoscaling says how the sizes of ReplicatedJobs with elastic are planned from what the cluster
// has free. It is read with feature gate ElasticAutoscaling only.
type ElasticAutoscaling struct {
	// interval is the longest time between two plans, at least 1s. A change of a node or of a JobSet
	// leads to a plan at once. Default: 30s.
	// +optional
	Interval *metav1.Duration `json:"interval,omitempty"`

	// cooldownUp is how long a JobSet keeps its size before it grows, since each change of size
	// restarts it. Default: 5m.
	// +optional
	CooldownUp *metav1.Duration `json:"cooldownUp,omitempty"`

	// cooldownDown is how long a JobSet keeps its size before it shrinks, to make room for another whose
	// minimum does not fit, or to continue without the Pods of shrinkAfter. Default: 0.
	// +optional
	CooldownDown *metav1.Duration `json:"cooldownDown,omitempty"`

	// shrinkAfter is how long a group that restarts in place waits for Pods that no node can take, for
	// example because their node is lost. Then it continues without them, down to its minimum. 0: never.
	// Default: 2m.
	// +optional
	ShrinkAfter *metav1.Duration `json:"shrinkAfter,omitempty"`

	// accelerators are the resources that are distributed. A ReplicatedJob that requests none of them is
	// planned by CPU and memory. Default: nvidia.com/gpu.
	// +optional
	Accelerators []corev1.ResourceName `json:"accelerators,omitempty"`

	// reservePercent is the percentage of what is available to elastic ReplicatedJobs that stays free, 0 to 100. Default: 0.
	// +optional
	ReservePercent *int32 `json:"reservePercent,omitempty"`
}

// NodeHealth says which labels, put on nodes by a health check, mean that a resource of the
// node is sick, and what this means for JobSets with spec.faultTolerance.
type NodeHealth struct {
	// injectAntiAffinities makes Pods that request a resource of resourceTaints keep away
	// from nodes on which it is sick, by a required node affinity in the Jobs that are
	// created afterwards. Default: true.
	// +optional
	InjectAntiAffinities *bool `json:"injectAntiAffinities,omitempty"`

	// monitorNodes moves running Pods off nodes that get a label with effect NoExecute, by
	// a restart that does not count towards maxRestarts, unless maxRestarts is used up.
	// It needs injectAntiAffinities: without it Pods could be scheduled to the node again.
	// Default: the value of injectAntiAffinities.
	// +optional
	MonitorNodes *bool `json:"monitorNodes,omitempty"`

	// resourceTaints lists, for each resource name, what marks a node on which the resource
	// is sick. Despite the name these are labels of nodes, not taints; this list
	// replaces the default. Default: for nvidia.com/gpu, the labels of Autopilot,
	// autopilot.ibm.com/gpuhealth=ERR with effect NoSchedule and =EVICT with NoExecute.
	// +optional
	ResourceTaints map[corev1.ResourceName][]ResourceTaint `json:"resourceTaints,omitempty"`
}

// ResourceTaint is a label of a node, and its effect on Pods that request the resource.
type ResourceTaint struct {
	// key of the label.
	Key string `json:"key"`

	// value of the label; the label with another value means nothing.
	Value string `json:"value"`

	// effect NoSchedule: new Pods keep away from the node. NoExecute: in addition, running Pods
	// are moved off it.
	Effect corev1.TaintEffect `json:"effect"`
}
