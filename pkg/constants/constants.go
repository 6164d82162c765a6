/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package constants holds the keys, reasons and messages that the controller
// writes and that are not part of the API package.
package constants

// RestartsKey holds status.restarts as it was when the Job was built. It is a label and an annotation on child Jobs and Pods.
const RestartsKey = "jobset.sigs.k8s.io/restart-attempt"

// JobRestartAttemptKey holds how often the Job had been restarted on its own when it was built. It is a
// label and an annotation on child Jobs and Pods.
const JobRestartAttemptKey = "jobset.sigs.k8s.io/job-restart-attempt"

// JobsIndexByJobSetKey is the cache index of Jobs by the UID of the JobSet that controls them.
const JobsIndexByJobSetKey = ".metadata.controller"

// PodsIndexByJobKey is the cache index of Pods by the UID of the Job that controls them.
const PodsIndexByJobKey = "podsIndexByJob"

// MaxParallelism bounds how many Jobs are created, deleted or updated at a time.
const MaxParallelism = 50

// EventAction is the action of every event that the JobSet controller records.
const EventAction = "Reconciling"

// Condition reasons and messages. An event carries the reason and message of the condition it announces.
const (
	AllJobsCompletedReason  = "AllJobsCompleted"
	AllJobsCompletedMessage = "jobset completed successfully"

	FailedJobsReason  = "FailedJobs"
	FailedJobsMessage = "jobset failed due to one or more job failures"

	ReachedMaxRestartsReason  = "ReachedMaxRestarts"
	ReachedMaxRestartsMessage = "jobset failed due to reaching max number of restarts"

	FailJobSetActionReason = "FailJobSetFailurePolicyAction"

	RestartJobSetActionReason                     = "RestartJobSetFailurePolicyAction"
	RestartJobSetAndIgnoreMaxRestartsActionReason = "RestartJobSetAndIgnoreMaxRestartsFailurePolicyAction"

	RestartJobActionReason                     = "RestartJobFailurePolicyAction"
	RestartJobAndIgnoreMaxRestartsActionReason = "RestartJobAndIgnoreMaxRestartsFailurePolicyAction"

	InOrderInProgressReason  = "InOrderStartupPolicyInProgress"
	InOrderInProgressMessage = "in order startup policy is in progress"
	InOrderCompletedReason   = "InOrderStartupPolicyCompleted"
	InOrderCompletedMessage  = "in order startup policy has completed"

	DefaultFailurePolicyReason      = "DefaultFailurePolicy"
	FailurePolicyRuleReasonPrefix   = "FailurePolicy_"
	JobsReadyReason                 = "JobsReady"
	JobsReadyMessage                = "all jobs are ready"
	RestartingEndedFailedReason     = "JobSetFailed"
	RestartingEndedFailedMessage    = "jobset failed"
	RestartingEndedCompletedReason  = "JobSetCompleted"
	RestartingEndedCompletedMessage = AllJobsCompletedMessage
	RestartingEndedSuspendedReason  = "JobSetSuspended"
	RestartingEndedSuspendedMessage = SuspendedMessage

	SuspendedReason  = "SuspendedJobs"
	SuspendedMessage = "jobset is suspended"
	ResumedReason    = "ResumeJobs"
	ResumedMessage   = "jobset is resumed"
)

// Reasons of in-place restart.
const (
	// InPlaceRestartReason: RestartingJobSet is True from break to lift.
	InPlaceRestartReason = "InPlaceRestart"
	// WorkersSyncedReason: RestartingJobSet is False since the lift.
	WorkersSyncedReason = "WorkersSynced"
	// InPlaceRestartDisabledReason and InPlaceRestartEnabledReason: the feature gate went off, or came back.
	InPlaceRestartDisabledReason  = "FeatureGateDisabled"
	InPlaceRestartDisabledMessage = "feature gate InPlaceRestart is off: workers run and are not restarted in place; start the manager with --feature-gates=InPlaceRestart=true"
	InPlaceRestartEnabledReason   = "FeatureGateEnabled"
	InPlaceRestartEnabledMessage  = "feature gate InPlaceRestart is on"
)

// Reasons of events that announce no condition.
const (
	JobCreationFailedReason             = "JobCreationFailed"
	HeadlessServiceCreationFailedReason = "HeadlessServiceCreationFailed"
	PVCCreationFailedReason             = "PVCCreationFailed"
	InPlaceRestartStartedReason         = "InPlaceRestartStarted"
	InPlaceRestartCompletedReason       = "InPlaceRestartCompleted"
	InvalidEpochReason                  = "InvalidEpoch"
	// WorkersMissingReason: Pods of workers that did not report in time are deleted.
	WorkersMissingReason = "WorkersMissing"
	// ForcefulDeletionReason: Pods that a lost node does not let go are deleted by force.
	ForcefulDeletionReason = "ForcefulDeletion"

	// RestartAllContainersUnsupportedReason: workers stand on nodes too old to restart them in place.
	RestartAllContainersUnsupportedReason = "RestartAllContainersUnsupported"
)
