/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// JobSetConditionType is the type of a condition in status.conditions.
type JobSetConditionType string

// Conditions of a JobSet. A condition appears once it becomes True; later it only flips.
const (
	// JobSetCompleted: the success policy is satisfied. Terminal.
	JobSetCompleted JobSetConditionType = "Completed"
	// JobSetFailed: the failure policy ended the JobSet. Terminal.
	JobSetFailed JobSetConditionType = "Failed"
	// JobSetSuspended: all Jobs are suspended.
	JobSetSuspended JobSetConditionType = "Suspended"
	// JobSetStartupPolicyInProgress: Jobs are being created in order.
	JobSetStartupPolicyInProgress JobSetConditionType = "StartupPolicyInProgress"
	// JobSetStartupPolicyCompleted: all Jobs were started in order.
	JobSetStartupPolicyCompleted JobSetConditionType = "StartupPolicyCompleted"
	// JobSetRestarting: the Jobs are being recreated, or the workers restarted in place.
	JobSetRestarting JobSetConditionType = "RestartingJobSet"
	// JobSetInPlaceRestartDisabled: the feature gate InPlaceRestart is off, so agents
	// let their workers run and never restart them.
	JobSetInPlaceRestartDisabled JobSetConditionType = "InPlaceRestartDisabled"
)

// JobSetStatus is what the controller observed and decided.
type JobSetStatus struct {
	// conditions of the JobSet.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +patchStrategy=merge
	// +patchMergeKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`

	// restarts counts how often the whole JobSet was recreated.
	// +optional
	Restarts int32 `json:"restarts"`

	// restartsCountTowardsMax counts the restarts that consume failurePolicy.maxRestarts.
	// +optional
	RestartsCountTowardsMax int32 `json:"restartsCountTowardsMax,omitempty"`

	// terminalState is Completed or Failed once the JobSet is finished, else empty.
	// +optional
	TerminalState string `json:"terminalState,omitempty"`

	// replicatedJobsStatus counts the Jobs of each ReplicatedJob, of the current attempt.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +patchStrategy=merge
	// +patchMergeKey=name
	ReplicatedJobsStatus []ReplicatedJobStatus `json:"replicatedJobsStatus,omitempty" patchStrategy:"merge" patchMergeKey:"name"`

	// deprecatedEpoch: workers of this epoch, or of an earlier one, must restart.
	// Absent means 0. Written with the feature gate InPlaceRestart only.
	// +optional
	// +kubebuilder:validation:Minimum=0
	DeprecatedEpoch *int32 `json:"deprecatedEpoch,omitempty"`

	// syncedEpoch is the last epoch at which the whole group of workers stood;
	// workers of exactly this epoch may run. Absent means 0.
	// Written with the feature gate InPlaceRestart only.
	// +optional
	// +kubebuilder:validation:Minimum=0
	SyncedEpoch *int32 `json:"syncedEpoch,omitempty"`

	// inPlaceRestarts counts the group restarts done in place.
	// Each consumes one of failurePolicy.maxRestarts.
	// +optional
	InPlaceRestarts int32 `json:"inPlaceRestarts,omitempty"`

	// assemblingSince is since when the group of workers comes together: absent
	// while it runs, or waits for nobody. The deadlines of the manager's
	// configuration inPlaceRestart count from here.
	// +optional
	AssemblingSince *metav1.Time `json:"assemblingSince,omitempty"`
}

// ReplicatedJobStatus counts the Jobs of one ReplicatedJob. A Job may be counted
// as ready, active and suspended at once.
type ReplicatedJobStatus struct {
	// name of the ReplicatedJob.
	Name string `json:"name"`

	// ready counts Jobs whose ready and succeeded Pods reach min(parallelism, completions).
	Ready int32 `json:"ready"`

	// succeeded counts completed Jobs.
	Succeeded int32 `json:"succeeded"`

	// failed counts failed Jobs.
	Failed int32 `json:"failed"`

	// active counts unfinished Jobs with at least one Pod that is pending or running.
	Active int32 `json:"active"`

	// suspended counts unfinished Jobs that are suspended.
	Suspended int32 `json:"suspended"`

	// jobRestarts counts, by job index, the restarts of single Jobs.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	JobRestarts []int32 `json:"jobRestarts,omitempty"`

	// jobRestartsCountTowardsMax counts, by job index, those of jobRestarts that consume failurePolicy.maxRestarts.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	JobRestartsCountTowardsMax []int32 `json:"jobRestartsCountTowardsMax,omitempty"`
}
