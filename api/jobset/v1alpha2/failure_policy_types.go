/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package v1alpha2

// JobSetRestartStrategy says how a JobSet restarts.
// +kubebuilder:validation:Enum=Recreate;BlockingRecreate;InPlaceRestart
type JobSetRestartStrategy string

const (
	// Recreate recreates each Job as soon as its predecessor is gone.
	Recreate JobSetRestartStrategy = "Recreate"
	// BlockingRecreate recreates Jobs when all their predecessors are gone.
	BlockingRecreate JobSetRestartStrategy = "BlockingRecreate"
	// InPlaceRestart restarts healthy worker Pods in place and recreates only
	// failed ones; no worker starts before the whole group is back. A failed
	// Job is handled as with Recreate. Feature gate InPlaceRestart, alpha.
	InPlaceRestart JobSetRestartStrategy = "InPlaceRestart"
)

// FailurePolicyAction is what a rule does.
// +kubebuilder:validation:Enum=FailJobSet;RestartJobSet;RestartJobSetAndIgnoreMaxRestarts;RestartJob;RestartJobAndIgnoreMaxRestarts
type FailurePolicyAction string

const (
	// FailJobSet fails the JobSet at once.
	FailJobSet FailurePolicyAction = "FailJobSet"
	// RestartJobSet recreates all Jobs, or fails the JobSet if maxRestarts is used up.
	RestartJobSet FailurePolicyAction = "RestartJobSet"
	// RestartJobSetAndIgnoreMaxRestarts recreates all Jobs and consumes nothing of maxRestarts.
	RestartJobSetAndIgnoreMaxRestarts FailurePolicyAction = "RestartJobSetAndIgnoreMaxRestarts"
	// RestartJob recreates the failed Job alone. Feature gate RestartJob, alpha.
	RestartJob FailurePolicyAction = "RestartJob"
	// RestartJobAndIgnoreMaxRestarts recreates the failed Job alone and consumes
	// nothing of maxRestarts. Feature gate RestartJob, alpha.
	RestartJobAndIgnoreMaxRestarts FailurePolicyAction = "RestartJobAndIgnoreMaxRestarts"
)

// FailurePolicy says what happens when a Job fails.
type FailurePolicy struct {
	// maxRestarts is how many restarts are allowed before the JobSet fails:
	// status.restartsCountTowardsMax and status.inPlaceRestarts together.
	// +optional
	MaxRestarts int32 `json:"maxRestarts,omitempty"`

	// restartStrategy says how the JobSet restarts.
	// +optional
	// +kubebuilder:default=Recreate
	RestartStrategy JobSetRestartStrategy `json:"restartStrategy,omitempty"`

	// rules are tried in order; the first that matches a failed Job decides.
	// If none matches, the action is RestartJobSet.
	// +optional
	Rules []FailurePolicyRule `json:"rules,omitempty"`
}

// FailurePolicyRule is an action and the failed Jobs it applies to. A Job must
// pass all three filters; an empty filter passes every Job.
type FailurePolicyRule struct {
	// name of the rule, unique in the policy: 1 to 128 bytes that match
	// ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$. Defaults to failurePolicyRule<index>.
	Name string `json:"name"`

	// action to take.
	Action FailurePolicyAction `json:"action"`

	// onJobFailureReasons are reasons of the Job's Failed condition:
	// BackoffLimitExceeded, DeadlineExceeded, FailedIndexes,
	// MaxFailedIndexesExceeded or PodFailurePolicy.
	// +optional
	OnJobFailureReasons []string `json:"onJobFailureReasons,omitempty"`

	// onJobFailureMessagePatterns are RE2 expressions, one of which must be
	// found in the message of the Job's Failed condition.
	// +optional
	OnJobFailureMessagePatterns []string `json:"onJobFailureMessagePatterns,omitempty"`

	// targetReplicatedJobs are the ReplicatedJobs the Job may belong to.
	// +optional
	// +listType=atomic
	TargetReplicatedJobs []string `json:"targetReplicatedJobs,omitempty"`
}
