/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha2

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Defaults of a new JobSet, which its webhook fills in. Fields whose default stands in the schema have a
// kubebuilder marker at their type instead. Those of spec.faultTolerance are set by the configuration of the manager.
const (
	DefaultSuccessPolicyOperator    = OperatorAll
	DefaultStartupPolicyOrder       = AnyOrder
	DefaultEnableDNSHostnames       = true
	DefaultPublishNotReadyAddresses = true
	DefaultRetentionPolicy          = RetentionPolicyDelete
	DefaultCompletionMode           = batchv1.IndexedCompletion
	// DefaultRestartPolicy is that of Pods; where workers restart in place it is DefaultInPlaceRestartPolicy.
	DefaultRestartPolicy        = corev1.RestartPolicyOnFailure
	DefaultInPlaceRestartPolicy = corev1.RestartPolicyNever
	// DefaultStopGracePeriodSeconds is what a worker has in process mode between SIGTERM and SIGKILL.
	DefaultStopGracePeriodSeconds = 2
	// DefaultNodeFailures and DefaultNodeWithinSeconds are those of avoidNodes, as in its markers.
	DefaultNodeFailures      = 3
	DefaultNodeWithinSeconds = 24 * 60 * 60
	// DefaultGroupName is that of a ReplicatedJob, as in its marker.
	DefaultGroupName = "default"
	// DefaultFailurePolicyRuleName is that of a rule, with its position.
	DefaultFailurePolicyRuleName = "failurePolicyRule%d"
)
