/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// FaultTolerance makes the controller reset a JobSet that does not run as it should: delete all
// Jobs, pause, and create them again. An absent field has the default of the manager's
// configuration faultTolerance; a time above the maximum of that configuration is reduced to it.
type FaultTolerance struct {
	// admissionGracePeriodSeconds is how long after the start of a Job its Pods may take to exist.
	// Default: 60.
	// +optional
	// +kubebuilder:validation:Minimum=0
	AdmissionGracePeriodSeconds *int32 `json:"admissionGracePeriodSeconds,omitempty"`

	// warmupGracePeriodSeconds is how long after that they may take to run. With restartStrategy
	// InPlaceRestart it is how long a group may take to assemble, instead of the manager's
	// inPlaceRestart.assemblyGracePeriod. Default: 300.
	// +optional
	// +kubebuilder:validation:Minimum=1
	WarmupGracePeriodSeconds *int32 `json:"warmupGracePeriodSeconds,omitempty"`

	// failureGracePeriodSeconds is how long Pods may be failed, missing or not running, beyond the
	// periods above, before the JobSet is reset. Default: 60.
	// +optional
	// +kubebuilder:validation:Minimum=0
	FailureGracePeriodSeconds *int32 `json:"failureGracePeriodSeconds,omitempty"`

	// retryPauseSeconds is how long a reset waits, once all Jobs and their Pods are gone, before it
	// creates the Jobs again. 0: no pause. Default: 90.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RetryPauseSeconds *int32 `json:"retryPauseSeconds,omitempty"`

	// retryLimit is how many restarts are allowed before the JobSet fails, if there is no
	// failurePolicy; a failed Job then leads to a reset. With a failurePolicy its maxRestarts is
	// the limit, and retryLimit must be absent. Default: 3.
	// +optional
	// +kubebuilder:validation:Minimum=0
	RetryLimit *int32 `json:"retryLimit,omitempty"`

	// deletionOnFailureGracePeriodSeconds is how long the Jobs that still run are kept after the
	// JobSet has failed, so that their Pods can be inspected. Default: 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	DeletionOnFailureGracePeriodSeconds *int32 `json:"deletionOnFailureGracePeriodSeconds,omitempty"`

	// forcefulDeletionGracePeriodSeconds is how long after a Pod or a Job should have been gone it
	// is deleted by force, without waiting for the node to confirm that the containers have stopped.
	// On a node that is only cut off they may still run. Default: 600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ForcefulDeletionGracePeriodSeconds *int32 `json:"forcefulDeletionGracePeriodSeconds,omitempty"`

	// successTTLSeconds is how long after completion the Jobs are kept. Then they are deleted, and
	// the JobSet stays; spec.ttlSecondsAfterFinished deletes the JobSet itself. Default: 604800,
	// 7 days, and never more than the default.
	// +optional
	// +kubebuilder:validation:Minimum=0
	SuccessTTLSeconds *int32 `json:"successTTLSeconds,omitempty"`

	// avoidNodes keeps the Pods of this JobSet off nodes on which it failed. Absent: off.
	// The counts are deleted when it is removed.
	// +optional
	AvoidNodes *AvoidNodes `json:"avoidNodes,omitempty"`

	// lostNode deletes a Pod by force replaceAfterSeconds after its own grace period if its node is silent, instead of after
	// forcefulDeletionGracePeriodSeconds. A node that is only cut off may still run it. Absent: off. A group that restarts in place has
	// failurePolicy.inPlaceRestart.lostNode for its workers.
	// +optional
	LostNode *LostNodePolicy `json:"lostNode,omitempty"`
}

// AvoidNodes says when Pods of a JobSet avoid a node: after a number of restarts whose first cause was
// on it, within a number of seconds. It is avoided for the same time, and other JobSets are not affected.
// A node is no longer avoided if Pods of the JobSet find no other node.
type AvoidNodes struct {
	// failures is how many restarts of the JobSet have to begin on a node before it is avoided.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	Failures int32 `json:"failures,omitempty"`

	// withinSeconds is for how long a failure counts, and for how long a node is avoided. Default:
	// 86400, a day.
	// +optional
	// +kubebuilder:default=86400
	// +kubebuilder:validation:Minimum=1
	WithinSeconds int32 `json:"withinSeconds,omitempty"`
}

// FaultToleranceStatus is what the controller has to remember about a JobSet with faultTolerance.
// Written with the feature gate FaultTolerance only.
type FaultToleranceStatus struct {
	// maxRestarts is the limit that applies: failurePolicy.maxRestarts, else faultTolerance.retryLimit,
	// else the default of the manager's configuration.
	// +optional
	MaxRestarts int32 `json:"maxRestarts"`

	// reset is the reset in progress: all Jobs are deleted, and not created again yet.
	// Absent if there is none.
	// +optional
	Reset *ResetStatus `json:"reset,omitempty"`

	// completeAttempt is the last attempt of which all Jobs existed: the number of restarts of all
	// Jobs and of single Jobs before it. A missing Job of that attempt was deleted.
	// +optional
	CompleteAttempt *int64 `json:"completeAttempt,omitempty"`

	// podsKeptUntil is when the Jobs of a failed JobSet that still run will be deleted.
	// +optional
	PodsKeptUntil *metav1.Time `json:"podsKeptUntil,omitempty"`

	// lastMoveTime is when the last restart that moves Pods off sick nodes began. For ten
	// minutes after it, a label of a node has to last for a minute before Pods are moved again.
	// +optional
	LastMoveTime *metav1.Time `json:"lastMoveTime,omitempty"`

	// nodeFailures are the nodes on which restarts of this JobSet had their first cause, with
	// faultTolerance.avoidNodes. If there are more than 16, the one that failed longest ago is dropped.
	// +optional
	// +listType=map
	// +listMapKey=node
	// +kubebuilder:validation:MaxItems=16
	NodeFailures []NodeFailures `json:"nodeFailures,omitempty"`
}

// NodeFailures are the restarts of a JobSet that one node caused.
type NodeFailures struct {
	// node is the name of the node.
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node"`

	// times are when the last of these restarts began, at most avoidNodes.failures of them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	Times []metav1.Time `json:"times,omitempty"`

	// cause is the first cause of the last of them.
	// +optional
	// +kubebuilder:validation:MaxLength=200
	Cause string `json:"cause,omitempty"`

	// avoidedSince is when new Pods of the JobSet began to avoid the node. Absent: they do not.
	// +optional
	AvoidedSince *metav1.Time `json:"avoidedSince,omitempty"`

	// givenUpTime is when Pods found no other node, so that this one was no longer avoided.
	// It is not avoided again for avoidNodes.withinSeconds after that.
	// +optional
	GivenUpTime *metav1.Time `json:"givenUpTime,omitempty"`
}

// ResetStatus says how far a reset has come.
type ResetStatus struct {
	// startTime is when the reset was decided.
	StartTime metav1.Time `json:"startTime"`

	// jobsGoneTime is when the last Job of the earlier attempts was gone. The pause counts from here.
	// +optional
	JobsGoneTime *metav1.Time `json:"jobsGoneTime,omitempty"`
}
