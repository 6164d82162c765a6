/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha2

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// JobSet is a group of Jobs that start, fail and succeed as a unit.
//
// +genclient
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Namespaced
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="TerminalState",JSONPath=".status.terminalState",type=string,description="Completed or Failed once the JobSet is finished"
// +kubebuilder:printcolumn:name="Restarts",JSONPath=".status.restarts",type=string,description="Restarts of the whole JobSet"
// +kubebuilder:printcolumn:name="InPlaceRestarts",JSONPath=".status.inPlaceRestarts",type=integer,description="Group restarts done in place"
// +kubebuilder:printcolumn:name="Completed",type="string",JSONPath=".status.conditions[?(@.type==\"Completed\")].status"
// +kubebuilder:printcolumn:name="Suspended",JSONPath=".spec.suspend",type=string,description="Whether the JobSet is asked to be suspended"
// +kubebuilder:printcolumn:name="Age",JSONPath=".metadata.creationTimestamp",type=date,description="Time since creation"
type JobSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   JobSetSpec   `json:"spec,omitempty"`
	Status JobSetStatus `json:"status,omitempty"`
}

// JobSetList is a list of JobSets.
//
// +kubebuilder:object:root=true
type JobSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []JobSet `json:"items"`
}

// The webhook enforces that fields are immutable, not rules of the schema: those
// compare what is written, not what it means, and would refuse a client that
// leaves out a zero which another client has written.

// JobSetSpec is the desired state of a JobSet.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder' && has(self.replicatedJobs) && self.replicatedJobs.exists(x, has(x.dependsOn) && size(x.dependsOn) > 0))",message="StartupPolicy and DependsOn APIs are mutually exclusive"
type JobSetSpec struct {
	// replicatedJobs are the groups of identical Jobs. The order matters to
	// dependsOn, to startupPolicy and to the global job index. Immutable, except
	// for labels, annotations, nodeSelector, tolerations and schedulingGates of
	// the Pod templates while the JobSet is suspended (and, with the feature gate
	// MutablePodResourcesForSuspendedJobSets, requests and limits of containers), and, with the feature
	// gate ElasticJobSet, parallelism and completions of Indexed Jobs.
	// At most 1,000, with 10,000 containers together and 100 in a Pod template.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +patchStrategy=merge
	// +patchMergeKey=name
	ReplicatedJobs []ReplicatedJob `json:"replicatedJobs,omitempty" patchStrategy:"merge" patchMergeKey:"name"`

	// network configures DNS names for the Pods. Immutable.
	// +optional
	Network *Network `json:"network,omitempty"`

	// successPolicy says when the JobSet is complete. Defaults to all Jobs.
	// Immutable.
	// +optional
	SuccessPolicy *SuccessPolicy `json:"successPolicy,omitempty"`

	// failurePolicy says what happens when a Job fails. Without it the first
	// failed Job fails the JobSet. Immutable.
	// +optional
	FailurePolicy *FailurePolicy `json:"failurePolicy,omitempty"`

	// faultTolerance makes the controller reset a JobSet that does not run as it should, after a
	// pause and up to a limit; {} takes every default. May change at any time. Feature gate
	// FaultTolerance, alpha.
	// +optional
	FaultTolerance *FaultTolerance `json:"faultTolerance,omitempty"`

	// activeDeadlineSeconds is for how many seconds, counted from status.startTime, the JobSet may be active
	// before it fails with reason DeadlineExceeded. A suspended JobSet is not active. May change at any
	// time. Absent means no limit. Feature gate JobSetActiveDeadlineSeconds, alpha.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ActiveDeadlineSeconds *int64 `json:"activeDeadlineSeconds,omitempty"`

	// startupPolicy says in which order ReplicatedJobs start. Immutable.
	//
	// Deprecated: use dependsOn of a ReplicatedJob.
	// +optional
	StartupPolicy *StartupPolicy `json:"startupPolicy,omitempty"`

	// suspend, when true, keeps all Jobs suspended.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// coordinator selects one Pod whose stable address is published on every
	// Job and Pod, in the label and annotation jobset.sigs.k8s.io/coordinator.
	// +optional
	Coordinator *Coordinator `json:"coordinator,omitempty"`

	// managedBy names the controller that acts on this JobSet. Absent, or
	// jobset.sigs.k8s.io/jobset-controller, means the JobSet controller; with
	// any other value, a domain-prefixed path of at most 63 bytes, it leaves the
	// object alone. Immutable.
	// +optional
	ManagedBy *string `json:"managedBy,omitempty"`

	// ttlSecondsAfterFinished is the time in seconds, counted from completion
	// or failure, after which the JobSet is deleted. Absent means never.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// volumeClaimPolicies are templates of PersistentVolumeClaims that the Pods
	// of the JobSet share. A template is mounted wherever a container mounts a
	// volume of its name. At most 50 policies of at most 50 templates each.
	// Immutable.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	VolumeClaimPolicies []VolumeClaimPolicy `json:"volumeClaimPolicies,omitempty"`
}

// ReplicatedJob is a Job template and the number of Jobs that are created from it.
type ReplicatedJob struct {
	// name of the ReplicatedJob. Part of the names of its Jobs and Pods.
	Name string `json:"name"`

	// groupName puts ReplicatedJobs into a group with an index of its own
	// (label jobset.sigs.k8s.io/job-group-index).
	// +optional
	// +kubebuilder:default=default
	GroupName string `json:"groupName,omitempty"`

	// template of the Jobs.
	Template batchv1.JobTemplateSpec `json:"template"`

	// replicas is the number of Jobs. Replicas times parallelism of all ReplicatedJobs are at most 1,000,000.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Replicas int32 `json:"replicas,omitempty"`

	// dependsOn lists earlier ReplicatedJobs that must reach a status before
	// the Jobs of this one are created or resumed. Immutable.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +patchStrategy=merge
	// +patchMergeKey=name
	// +kubebuilder:validation:MaxItems=5
	DependsOn []DependsOn `json:"dependsOn,omitempty" patchStrategy:"merge" patchMergeKey:"name"`

	// elastic bounds the number of Pods, which may change while the JobSet exists: it is parallelism and
	// completions of the template, which default to minInstances. Requires replicas 1 and an Indexed Job.
	// Needs the feature gate ElasticJobSet. Immutable.
	// +optional
	Elastic *ElasticBounds `json:"elastic,omitempty"`
}

// DependsOnStatus is a status of a ReplicatedJob that others can wait for.
// +kubebuilder:validation:Enum=Ready;Complete
type DependsOnStatus string

const (
	// DependencyReady: every Job of the target is ready, succeeded or failed.
	DependencyReady DependsOnStatus = "Ready"
	// DependencyComplete: every Job of the target succeeded.
	DependencyComplete DependsOnStatus = "Complete"
)

// DependsOn names an earlier ReplicatedJob and the status it must reach.
type DependsOn struct {
	// name of an earlier ReplicatedJob.
	Name string `json:"name"`
	// status it must reach.
	Status DependsOnStatus `json:"status"`
}

// Network configures DNS names for the Pods.
type Network struct {
	// enableDNSHostnames creates a headless Service and gives each Pod a
	// stable host name. Defaults to true.
	// +optional
	EnableDNSHostnames *bool `json:"enableDNSHostnames,omitempty"`

	// subdomain of the Pods and name of the headless Service. Defaults to the
	// name of the JobSet.
	// +optional
	Subdomain string `json:"subdomain,omitempty"`

	// publishNotReadyAddresses publishes the addresses of Pods that are not
	// ready yet. Defaults to true.
	// +optional
	PublishNotReadyAddresses *bool `json:"publishNotReadyAddresses,omitempty"`
}

// Operator says how many of the targeted Jobs must succeed.
// +kubebuilder:validation:Enum=All;Any
type Operator string

const (
	// OperatorAll: all of them.
	OperatorAll Operator = "All"
	// OperatorAny: one of them.
	OperatorAny Operator = "Any"
)

// SuccessPolicy says when the JobSet is complete.
type SuccessPolicy struct {
	// operator says how many of the targeted Jobs must succeed.
	Operator Operator `json:"operator"`

	// targetReplicatedJobs are the ReplicatedJobs that count. Empty means all.
	// +optional
	// +listType=atomic
	TargetReplicatedJobs []string `json:"targetReplicatedJobs,omitempty"`
}

// StartupPolicyOptions is an order of starting.
// +kubebuilder:validation:Enum=AnyOrder;InOrder
type StartupPolicyOptions string

const (
	// AnyOrder starts all ReplicatedJobs at once.
	AnyOrder StartupPolicyOptions = "AnyOrder"
	// InOrder starts a ReplicatedJob when all before it are ready.
	InOrder StartupPolicyOptions = "InOrder"
)

// StartupPolicy says in which order ReplicatedJobs start.
type StartupPolicy struct {
	// startupPolicyOrder is the order.
	StartupPolicyOrder StartupPolicyOptions `json:"startupPolicyOrder"`
}

// Coordinator selects one Pod of the JobSet.
type Coordinator struct {
	// replicatedJob is the name of the ReplicatedJob of the Pod.
	ReplicatedJob string `json:"replicatedJob"`
	// jobIndex is the index of its Job in the ReplicatedJob.
	// +optional
	JobIndex int `json:"jobIndex,omitempty"`
	// podIndex is the completion index of the Pod in its Job.
	// +optional
	PodIndex int `json:"podIndex,omitempty"`
}

// RetentionPolicyType says what happens to a PersistentVolumeClaim.
// +kubebuilder:validation:Enum=Delete;Retain
type RetentionPolicyType string

const (
	// RetentionPolicyDelete deletes the claim with the JobSet.
	RetentionPolicyDelete RetentionPolicyType = "Delete"
	// RetentionPolicyRetain keeps the claim.
	RetentionPolicyRetain RetentionPolicyType = "Retain"
)

// VolumeRetentionPolicy says what happens to claims at the end.
type VolumeRetentionPolicy struct {
	// whenDeleted says what happens to the claims when the JobSet is deleted.
	// +optional
	// +kubebuilder:default=Delete
	WhenDeleted *RetentionPolicyType `json:"whenDeleted,omitempty"`
}

// VolumeClaimPolicy is a set of claim templates with one retention policy.
//
// +kubebuilder:validation:XValidation:rule="!has(self.templates) || self.templates.all(t, !has(t.metadata) || !has(t.metadata.__namespace__) || size(t.metadata.__namespace__) == 0)",message="namespace cannot be set for VolumeClaimPolicies templates"
type VolumeClaimPolicy struct {
	// templates of the claims. A claim is named <template name>-<JobSet name>,
	// at most 63 bytes. An existing claim of that name is used if it matches the
	// template and the policy retains it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Templates []corev1.PersistentVolumeClaim `json:"templates,omitempty"`

	// retentionPolicy says what happens to the claims at the end.
	// +optional
	RetentionPolicy *VolumeRetentionPolicy `json:"retentionPolicy,omitempty"`
}
