/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package constants

// Reasons of conditions, with messages. Other projects import those of Completed, Failed and Suspended: keep their names (P125a).
// Most are also events, with the reason and message of the condition they announce. The rows of the site's reference are made of
// the comments here and in events.go.
const (
	// AllJobsCompletedReason: the success policy is satisfied.
	// +reference=conditions | `Completed` | `*` | True
	AllJobsCompletedReason  = "AllJobsCompleted"
	AllJobsCompletedMessage = "jobset completed successfully"

	// FailedJobsReason: a Job failed, and there is no failure policy.
	// +reference=conditions | `Failed` | `*` | True
	FailedJobsReason  = "FailedJobs"
	FailedJobsMessage = "jobset failed due to one or more job failures"
	// ReachedMaxRestartsReason: a restart was due, and `maxRestarts` is used up.
	// +reference=conditions | `Failed` | `*` | True
	ReachedMaxRestartsReason  = "ReachedMaxRestarts"
	ReachedMaxRestartsMessage = "jobset failed due to reaching max number of restarts"
	// NoProgressReason: as many group restarts in a row as `maxRestartsWithoutProgress` led to no higher step.
	// +reference=conditions | `Failed` | `*` | True
	NoProgressReason  = "NoProgress"
	NoProgressMessage = "jobset failed because its restarts make no progress"
	// ChildJobDeletedReason: with `faultTolerance`, a Job of the running attempt was deleted by another client. The message names the
	// first.
	// +reference=conditions | `Failed` | `*` | True
	ChildJobDeletedReason = "ChildJobDeleted"
	// DeadlineExceededReason: active for longer than `spec.activeDeadlineSeconds`.
	// +reference=conditions | `Failed` | `*` | True
	DeadlineExceededReason = "DeadlineExceeded"

	// JobSetSuspendedReason: `spec.suspend` is true, and all Jobs are suspended.
	// +reference=conditions | `Suspended` | `*` | True
	JobSetSuspendedReason  = "SuspendedJobs"
	JobSetSuspendedMessage = "jobset is suspended"
	// SuspendingReason: `spec.suspend` is true, and Jobs still run. Written with the gate `ExecutionAttemptsTracking` or
	// `activeDeadlineSeconds` only.
	// +reference=conditions | `Suspended` | `*` | False
	SuspendingReason  = "SuspendingJobs"
	SuspendingMessage = "jobset is being suspended"
	// ResumedReason: `spec.suspend` is no longer true.
	// +reference=conditions | `Suspended` | `*` | False
	ResumedReason  = "ResumeJobs"
	ResumedMessage = "jobset is resumed"

	// InOrderInProgressReason: with startup policy `InOrder`, Jobs are still to be created or resumed. False: the start is complete.
	// +reference=conditions | `StartupPolicyInProgress` | `*` | True, False
	InOrderInProgressReason  = "InOrderStartupPolicyInProgress"
	InOrderInProgressMessage = "in order startup policy is in progress"
	// InOrderCompletedReason: all Jobs have started in order. False: Jobs are to be started again.
	// +reference=conditions | `StartupPolicyCompleted` | `*` | True, False
	InOrderCompletedReason  = "InOrderStartupPolicyCompleted"
	InOrderCompletedMessage = "in order startup policy has completed"
)

// Reasons and messages of RestartingJobSet.
const (
	// InPlaceRestartReason: the group of workers restarts in place. The message names the first cause.
	// +reference=conditions | `RestartingJobSet` | `*` | True
	InPlaceRestartReason = "InPlaceRestart"
	// DefaultFailurePolicyReason: all Jobs are recreated: a Job failed and no rule matched, or the group could not be brought back in
	// place.
	// +reference=conditions | `RestartingJobSet` | `*` | True
	DefaultFailurePolicyReason = "DefaultFailurePolicy"
	// FailurePolicyRuleReasonPrefix: all Jobs are recreated because the rule of this name matched.
	// +reference=conditions | `RestartingJobSet` | `*<rule>` | True
	FailurePolicyRuleReasonPrefix = "FailurePolicy_"
	// MovedOffNodesReason: all Jobs are recreated, not counted: Pods run on nodes with a label of effect NoExecute.
	// +reference=conditions | `RestartingJobSet` | `*` | True
	MovedOffNodesReason = "MovedOffNodes"
	// AvoidedNodeGivenUpReason: Pods could not be scheduled without an avoided node, so it is used again.
	// +reference=events-of-tolerance | Warning
	// +reference=conditions | `RestartingJobSet` | `*` | True | All Jobs are recreated, not counted: Pods could not be scheduled
	// without a node that the JobSet avoided, which is used again.
	AvoidedNodeGivenUpReason = "AvoidedNodeGivenUp"
	// PodsFailedReason: Pods are Failed and not replaced. The JobSet is reset unless they recover in time.
	// +reference=conditions-of-tolerance | `Unhealthy` | `*` | True
	// +reference=conditions | `RestartingJobSet` | `*` | True | The JobSet was unhealthy for too long, and is reset. `PodsMissing`,
	// `PodsNotRunning` and `PodsUnscheduled` likewise.
	PodsFailedReason = "PodsFailed"
	// JobsReadyReason: all Jobs are ready again, or have succeeded.
	// +reference=conditions | `RestartingJobSet` | `*` | False
	JobsReadyReason  = "JobsReady"
	JobsReadyMessage = "all jobs are ready"
	// WorkersSyncedReason: the whole group has reached the new epoch.
	// +reference=conditions | `RestartingJobSet` | `*` | False
	WorkersSyncedReason = "WorkersSynced"
	// RestartingEndedCompletedReason: the JobSet completed before the restart had ended.
	// +reference=conditions | `RestartingJobSet` | `*` | False
	RestartingEndedCompletedReason  = "JobSetCompleted"
	RestartingEndedCompletedMessage = AllJobsCompletedMessage
	// RestartingEndedFailedReason: the JobSet failed before the restart had ended.
	// +reference=conditions | `RestartingJobSet` | `*` | False
	RestartingEndedFailedReason  = "JobSetFailed"
	RestartingEndedFailedMessage = "jobset failed"
	// RestartingEndedSuspendedReason: the JobSet was suspended before the restart had ended.
	// +reference=conditions | `RestartingJobSet` | `*` | False
	RestartingEndedSuspendedReason  = "JobSetSuspended"
	RestartingEndedSuspendedMessage = JobSetSuspendedMessage
)

// Reasons and messages of conditions of in-place restart.
const (
	// InPlaceRestartDisabledReason: the feature gate is off: agents let their workers run and restart none.
	// +reference=conditions | `InPlaceRestartDisabled` | `*` | True
	InPlaceRestartDisabledReason  = "FeatureGateDisabled"
	InPlaceRestartDisabledMessage = "feature gate InPlaceRestart is off: workers run and are not restarted in place; start the manager with --feature-gates=InPlaceRestart=true"
	// DisabledByAnnotationReason: the annotation `jobset.sigs.k8s.io/disable-in-place-restart` is set, with the same effect.
	// +reference=conditions | `InPlaceRestartDisabled` | `*` | True
	DisabledByAnnotationReason  = "DisabledByAnnotation"
	DisabledByAnnotationMessage = "annotation jobset.sigs.k8s.io/disable-in-place-restart is set: workers run and are not restarted in place; remove it to have them restart together and be restarted in place again"
	// InPlaceRestartEnabledReason: the feature gate is on again: all workers restart in place together, uncharged.
	// +reference=conditions | `InPlaceRestartDisabled` | `*` | False
	InPlaceRestartEnabledReason  = "FeatureGateEnabled"
	InPlaceRestartEnabledMessage = "feature gate InPlaceRestart is on"
	// AnnotationRemovedReason: the annotation was removed, with the same effect.
	// +reference=conditions | `InPlaceRestartDisabled` | `*` | False
	AnnotationRemovedReason  = "AnnotationRemoved"
	AnnotationRemovedMessage = "annotation jobset.sigs.k8s.io/disable-in-place-restart was removed: all workers restart in place and begin the next epoch together"

	// WorkersNotReadyReason: the group runs, and workers have not been ready for `inPlaceRestart.notReadyGracePeriod` (a container
	// waits, or the node is silent), or have been starting for five minutes. The message names up to five Pods, with node, time and
	// reason.
	// +reference=conditions | `WorkersNotReady` | `*` | True
	WorkersNotReadyReason = "WorkersNotReady"
	// WorkersReadyReason: all workers are ready.
	// +reference=conditions | `WorkersNotReady` | `*` | False
	WorkersReadyReason = "WorkersReady"
	// GroupNotRunningReason: the group restarts, is suspended, not watched or has ended, so no worker is expected to be ready.
	// +reference=conditions | `WorkersNotReady` | `*` | False
	GroupNotRunningReason  = "GroupNotRunning"
	GroupNotRunningMessage = "the group restarts, is suspended, not watched or has ended: no worker is expected to be ready"

	// AgentAccessDeniedReason: while the group assembles, an account of worker Pods lacks a right that agents need. The message has the
	// command that grants it.
	// +reference=conditions | `AgentAccessDenied` | `*` | True
	AgentAccessDeniedReason = "AgentAccessDenied"
	// AgentAccessWithheldReason: the admission policy of agents is not in force, so the controller grants no right to patch Pods. The
	// message says how to fix it.
	// +reference=conditions | `AgentAccessDenied` | `*` | True
	AgentAccessWithheldReason = "AgentAccessWithheld"
	// AgentAccessGrantedReason: the accounts have these rights, or all agents have reported.
	// +reference=conditions | `AgentAccessDenied` | `*` | False
	AgentAccessGrantedReason  = "AgentAccessGranted"
	AgentAccessGrantedMessage = "the service accounts of the worker Pods may do what their agents need"
)

// Reasons and messages of JobsBlocked. Those that are True are also events, repeated while it stays.
const (
	// JobCreationFailedReason: the API server refuses a Job. The message is the last error.
	// +reference=conditions | `JobsBlocked` | `*` | True
	JobCreationFailedReason = "JobCreationFailed"
	// JobResumeFailedReason: a suspended Job, or its Pod template, cannot be updated.
	// +reference=conditions | `JobsBlocked` | `*` | True
	JobResumeFailedReason = "JobResumeFailed"
	// FailedResourcePropagationReason: the API server refuses requests and limits that changed while the JobSet was suspended, since
	// it lacks the gate `MutablePodResourcesForSuspendedJobs`.
	// +reference=conditions | `JobsBlocked` | `*` | True
	FailedResourcePropagationReason = "FailedResourcePropagation"
	// HeadlessServiceCreationFailedReason: the API server refuses the Service.
	// +reference=conditions | `JobsBlocked` | `*` | True
	HeadlessServiceCreationFailedReason = "HeadlessServiceCreationFailed"
	// PVCCreationFailedReason: the API server refuses a claim, or an existing one does not match the template.
	// +reference=conditions | `JobsBlocked` | `*` | True
	PVCCreationFailedReason = "PVCCreationFailed"
	// PodsNotGoneReason: a Job that is deleted, or fails, has waited 30 s for its Pods to end. Not for groups that restart in place
	// (event `WorkersStuck`), nor with `faultTolerance`, which deletes such Pods by force.
	// +reference=conditions | `JobsBlocked` | `*` | True
	PodsNotGoneReason = "PodsNotGone"
	// JobsNotBlockedReason: nothing keeps Jobs from being created, or from ending.
	// +reference=conditions | `JobsBlocked` | `*` | False
	JobsNotBlockedReason  = "JobsNotBlocked"
	JobsNotBlockedMessage = "nothing keeps Jobs from being created, or from ending"
)

// Reasons and messages of conditions of fault tolerance.
const (
	// PodsMissingReason: Pods do not exist `admissionGracePeriodSeconds` after the start of their Jobs.
	// +reference=conditions-of-tolerance | `Unhealthy` | `*` | True
	PodsMissingReason = "PodsMissing"
	// PodsNotRunningReason: Pods are not Running `warmupGracePeriodSeconds` after that.
	// +reference=conditions-of-tolerance | `Unhealthy` | `*` | True
	PodsNotRunningReason = "PodsNotRunning"
	// PodsUnscheduledReason: a Pod of a group that restarts in place has no node `warmupGracePeriodSeconds` after its creation.
	// +reference=conditions-of-tolerance | `Unhealthy` | `*` | True
	PodsUnscheduledReason = "PodsUnscheduled"
	// PodsHealthyReason: all Pods are healthy.
	// +reference=conditions-of-tolerance | `Unhealthy` | `*` | False
	PodsHealthyReason = "PodsHealthy"

	// ResourcesInUseReason: Jobs may run Pods; also during a reset and its pause.
	// +reference=conditions-of-tolerance | `ResourcesDeployed` | `*` | True
	ResourcesInUseReason  = "ResourcesInUse"
	ResourcesInUseMessage = "Jobs of the JobSet may run Pods"
	// ResourcesReleasedReason: the JobSet has ended or is suspended, and a read past the cache found nothing that may run.
	// +reference=conditions-of-tolerance | `ResourcesDeployed` | `*` | False
	ResourcesReleasedReason = "ResourcesReleased"
	// FaultToleranceOffReason: `spec.faultTolerance` was removed, or the gate is off. So are `Unhealthy` and `OnSickNodes`.
	// +reference=conditions-of-tolerance | `ResourcesDeployed` | `*` | Unknown
	FaultToleranceOffReason  = "FaultToleranceOff"
	FaultToleranceOffMessage = "spec.faultTolerance was removed, or feature gate FaultTolerance is off"

	// MoveRefusedReason: Pods run on nodes that they have to leave, and `maxRestarts`, or `retryLimit`, is used up. The message names
	// nodes and labels.
	// +reference=conditions-of-tolerance | `OnSickNodes` | `*` | True
	MoveRefusedReason = "MoveRefused"
	// NotOnSickNodesReason: no Pod has to leave its node anymore, or the limit was raised.
	// +reference=conditions-of-tolerance | `OnSickNodes` | `*` | False
	NotOnSickNodesReason  = "NotOnSickNodes"
	NotOnSickNodesMessage = "no Pod runs on a node that it has to leave, or it can be moved again"
	// HealthNotWatchedReason: the JobSet has ended, is reset or suspended, or its group restarts in place.
	// +reference=conditions-of-tolerance | `Unhealthy` | `*` | False
	// +reference=conditions-of-tolerance | `OnSickNodes` | `*` | False | The JobSet has ended or is suspended, or in-place restart was
	// disabled.
	HealthNotWatchedReason  = "NotWatched"
	HealthNotWatchedMessage = "the JobSet has ended, is reset or suspended, or its group restarts in place"
	// MovesNotWatchedMessage is that of OnSickNodes with the reason HealthNotWatchedReason.
	MovesNotWatchedMessage = "the JobSet has ended or is suspended, or in-place restart is disabled: its Pods are not moved off sick nodes"
)

// Reasons and messages of conditions of elastic ReplicatedJobs.
const (
	// ElasticResizedReason: the manager changed a size: from what to what, and why.
	// +reference=events-of-elastic | Normal
	// +reference=conditions-of-elastic | `ElasticResizing` | `*` | True | The size in the spec differs from the one that the group runs,
	// or last ran, with.
	ElasticResizedReason = "ElasticResized"
	// ElasticResizeCompletedReason: the group runs with the desired size, since the epoch named; or it has ended, or the size was
	// changed back.
	// +reference=conditions-of-elastic | `ElasticResizing` | `*` | False
	ElasticResizeCompletedReason = "ElasticResizeCompleted"
	// MinimumDoesNotFitReason: the minimum has no room, and the other jobs cannot give enough.
	// +reference=conditions-of-elastic | `ElasticWaiting` | `*` | True
	MinimumDoesNotFitReason = "MinimumDoesNotFit"
	// LostPodsReason: a group has lacked Pods for `shrinkAfter`, and cannot continue without them: their nodes are not ready, or fewer
	// than the minimum are left.
	// +reference=conditions-of-elastic | `ElasticWaiting` | `*` | True
	LostPodsReason = "LostPods"
	// ElasticRefusedReason: Pods have been refused for `shrinkAfter`, by the scheduler or at creation, and the group has its minimum.
	// False: it runs with fewer Pods than would fit; the message says when more are tried.
	// +reference=conditions-of-elastic | `ElasticWaiting` | `*` | True, False
	ElasticRefusedReason = "ElasticRefused"
	// ElasticRoomFoundReason: it no longer waits.
	// +reference=conditions-of-elastic | `ElasticWaiting` | `*` | False
	ElasticRoomFoundReason  = "ElasticRoomFound"
	ElasticRoomFoundMessage = "it is no longer waiting"
	// ElasticHeldReason: the annotation `jobset.sigs.k8s.io/elastic-hold` keeps the manager from changing sizes.
	// +reference=conditions-of-elastic | `ElasticWaiting` | `*` | False
	ElasticHeldReason  = "ElasticHeld"
	ElasticHeldMessage = "the annotation jobset.sigs.k8s.io/elastic-hold keeps the manager from changing sizes; remove it to let the manager change them"
)
