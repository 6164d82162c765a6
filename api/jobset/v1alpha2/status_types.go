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
	// JobSetInPlaceRestartDisabled: the feature gate InPlaceRestart is off, or the annotation disable-in-place-restart is set,
	// so agents let their workers run and never restart them.
	JobSetInPlaceRestartDisabled JobSetConditionType = "InPlaceRestartDisabled"
	// JobSetWorkersNotReady: the group restarts in place and runs, and some of its workers
	// are not ready. The message names them, with node, time and reason.
	JobSetWorkersNotReady JobSetConditionType = "WorkersNotReady"
	// JobSetAgentAccessDenied: a service account of worker Pods lacks a right that their
	// agents need, so the group waits for them.
	JobSetAgentAccessDenied JobSetConditionType = "AgentAccessDenied"
	// JobSetUnhealthy: Pods are failed and not replaced, missing, or not running. The JobSet is
	// reset unless they recover in time.
	JobSetUnhealthy JobSetConditionType = "Unhealthy"
	// JobSetResourcesDeployed: Jobs or Pods of the JobSet may use resources. It is True before the
	// first of them is created or resumed, and False when none is left that may run.
	JobSetResourcesDeployed JobSetConditionType = "ResourcesDeployed"
	// JobSetOnSickNodes: Pods run on nodes with a label of effect NoExecute, and are not moved
	// because maxRestarts is used up. The message names them.
	JobSetOnSickNodes JobSetConditionType = "OnSickNodes"
	// JobSetJobsBlocked: an object that Jobs need, or a Job, cannot be created, or a Job that is deleted or fails waits for
	// Pods that do not end. The message has the last error, or the Job, its Pods and since when.
	JobSetJobsBlocked JobSetConditionType = "JobsBlocked"
	// JobSetElasticResizing: an elastic ReplicatedJob runs with a size that differs from the desired one, or
	// restarts to get it. The message names both sizes.
	JobSetElasticResizing JobSetConditionType = "ElasticResizing"
	// JobSetElasticWaiting: the manager cannot give an elastic ReplicatedJob a size that lets it run.
	// The message says what it waits for.
	JobSetElasticWaiting JobSetConditionType = "ElasticWaiting"
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

	// executionAttempts counts the executions before this one: each resumption, restart of all Jobs and group restart in
	// place that counts towards maxRestarts adds one, so it is at least restarts. Absent if the JobSet never ran. Written with the
	// feature gate ExecutionAttemptsTracking only.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ExecutionAttempts *int32 `json:"executionAttempts,omitempty"`

	// startTime is since when the JobSet has been active: it was created, resumed, or last restarted by a restart of all Jobs
	// or a group restart in place that counts towards maxRestarts. Absent while it is suspended. spec.activeDeadlineSeconds counts
	// from here. Written with the feature gate JobSetActiveDeadlineSeconds only.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

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

	// plannedBreak says that deprecatedEpoch was last raised for a planned change, and not
	// for a failure: workers of that epoch have plannedStopGracePeriodSeconds to end. It is written
	// with deprecatedEpoch, and only if that period is set.
	// +optional
	PlannedBreak bool `json:"plannedBreak,omitempty"`

	// syncedEpoch is the last epoch that the whole group of workers has reached;
	// workers of exactly this epoch may run. Absent means 0.
	// Written with the feature gate InPlaceRestart only.
	// +optional
	// +kubebuilder:validation:Minimum=0
	SyncedEpoch *int32 `json:"syncedEpoch,omitempty"`

	// inPlaceRestarts counts the group restarts done in place.
	// Each consumes one of failurePolicy.maxRestarts.
	// +optional
	InPlaceRestarts int32 `json:"inPlaceRestarts,omitempty"`

	// lastSyncTime is when syncedEpoch was last raised: the whole group of workers
	// had reached that epoch, and its workers were released.
	// Written with the feature gate InPlaceRestart only.
	// +optional
	LastSyncTime *metav1.Time `json:"lastSyncTime,omitempty"`

	// quickFailures counts the group restarts in a row that ended an epoch after less than
	// a minute. From the second on, the workers are released after a pause that doubles
	// with each. An epoch that ran longer sets it to 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	QuickFailures int32 `json:"quickFailures,omitempty"`

	// breakTime is when the group of workers that restarts now broke: the pause after quick
	// failures counts from here. It is absent while the group runs, and while it assembles
	// for another reason.
	// +optional
	BreakTime *metav1.MicroTime `json:"breakTime,omitempty"`

	// assemblingSince is when the group of workers started to assemble. It is absent
	// while the group runs or waits for no worker. The deadlines of the manager's
	// configuration inPlaceRestart count from here.
	// +optional
	AssemblingSince *metav1.Time `json:"assemblingSince,omitempty"`

	// time records what a group of workers that restarts in place spent the time since its first Job on.
	// It is written with deprecatedEpoch and syncedEpoch, when the JobSet is suspended or resumed, when a reset no longer
	// pauses, and at the end. Written with the feature gate InPlaceRestart only.
	// +optional
	Time *TimeStatus `json:"time,omitempty"`

	// progress is how far the workers have come, if maxRestartsWithoutProgress is set. It is written with syncedEpoch,
	// and when that limit is reached.
	// +optional
	Progress *ProgressStatus `json:"progress,omitempty"`

	// restartHistory has the last restarts, the newest first: two with strategy InPlaceRestart, else five. It is written
	// with what it tells of.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5
	RestartHistory []RestartRecord `json:"restartHistory,omitempty"`

	// faultTolerance is what has to be remembered if spec.faultTolerance is set.
	// +optional
	FaultTolerance *FaultToleranceStatus `json:"faultTolerance,omitempty"`

	// lostNodes are the nodes on which workers were replaced by force because the node was silent (lostNode of
	// failurePolicy.inPlaceRestart). New Pods keep away from them until they are heard from again.
	// +optional
	// +listType=map
	// +listMapKey=node
	// +kubebuilder:validation:MaxItems=16
	LostNodes []LostNode `json:"lostNodes,omitempty"`
}

// LostNode is a node on which workers were replaced by force.
type LostNode struct {
	// node is the name of the node.
	// +kubebuilder:validation:MaxLength=253
	Node string `json:"node"`

	// epoch is that in which these workers ran. Should one of them still run there, its agent kills it.
	// +kubebuilder:validation:Minimum=0
	Epoch int32 `json:"epoch"`

	// time is when the first of these workers was replaced.
	Time metav1.Time `json:"time"`

	// heardTime is when the node was heard from again. From then on new Pods may run on it, and those that wait because they
	// keep away from it are created again. Absent: it is silent.
	// +optional
	HeardTime *metav1.Time `json:"heardTime,omitempty"`
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

	// syncedWorkers is the number of workers of all its Jobs in syncedEpoch, written for all
	// ReplicatedJobs together. Workers in process mode find it in JOBSET_WORLD_SIZE. Absent means that it
	// was not written yet. Written with the feature gate InPlaceRestart only.
	// +optional
	// +kubebuilder:validation:Minimum=0
	SyncedWorkers int32 `json:"syncedWorkers,omitempty"`

	// address is the IPv4 address of the Pod with rank 0 in syncedEpoch, as its agent reported it, written together
	// with syncedWorkers. Workers in process mode find it in JOBSET_MASTER_ADDR. Absent: that variable has the
	// DNS name of the Pod.
	// +optional
	// +kubebuilder:validation:MaxLength=15
	Address string `json:"address,omitempty"`

	// elastic is the size of a ReplicatedJob with elastic. Written with the feature gate
	// ElasticJobSet only.
	// +optional
	Elastic *ElasticSize `json:"elastic,omitempty"`

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
