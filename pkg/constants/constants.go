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

// TemplateEntriesKey is an annotation of child Jobs: which entries of their Pod template the template of the JobSet put there,
// of those that may change while it is suspended (C334a).
const TemplateEntriesKey = "jobset.sigs.k8s.io/template-entries"

// JobsIndexByJobSetKey is the cache index of Jobs by namespace and the UID of the JobSet that controls them.
const JobsIndexByJobSetKey = ".metadata.controller"

// JobSetsIndexByService is the cache index of JobSets by namespace and the name of their headless Service.
const JobSetsIndexByService = "jobSetsIndexByService"

// PodsIndexByJobKey is the cache index of Pods by namespace and the UID of the Job that controls them.
const PodsIndexByJobKey = "podsIndexByJob"

// PodsIndexByJobSetKey is the cache index of Pods by namespace and the UID of their JobSet.
const PodsIndexByJobSetKey = "podsIndexByJobSet"

// PodsIndexByNode is the cache index of Pods by the name of their node, MarkedNodesIndex that of nodes
// which Pods are moved off; it has one key.
const (
	PodsIndexByNode  = "podsIndexByNode"
	MarkedNodesIndex = "markedNodes"
)

// MaxParallelism bounds how many Jobs are created, deleted or updated at a time.
const MaxParallelism = 50

// QueueNameKey is the label by which Kueue manages a JobSet.
const QueueNameKey = "kueue.x-k8s.io/queue-name"

// QueueDomain is that of the controllers of Kueue in managedBy, QueueTopologyGate the scheduling gate of Pods whose nodes its topology chooses.
const (
	QueueDomain       = "kueue.x-k8s.io"
	QueueTopologyGate = "kueue.x-k8s.io/topology"
)

// EventAction is the action of every event that the JobSet controller records.
const EventAction = "Reconciling"

// Condition reasons and messages. The first two pairs and that of a suspended JobSet are imported by other projects: keep
// their names (P125a). An event carries the reason and message of the condition it announces.
const (
	AllJobsCompletedReason  = "AllJobsCompleted"
	AllJobsCompletedMessage = "jobset completed successfully"

	FailedJobsReason  = "FailedJobs"
	FailedJobsMessage = "jobset failed due to one or more job failures"

	ReachedMaxRestartsReason  = "ReachedMaxRestarts"
	ReachedMaxRestartsMessage = "jobset failed due to reaching max number of restarts"

	// NoProgressReason: restarts lead nowhere (P136).
	NoProgressReason  = "NoProgress"
	NoProgressMessage = "jobset failed because its restarts make no progress"

	// DeadlineExceededReason: the JobSet was active for longer than spec.activeDeadlineSeconds.
	DeadlineExceededReason = "DeadlineExceeded"

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
	RestartingEndedSuspendedMessage = JobSetSuspendedMessage

	JobSetSuspendedReason  = "SuspendedJobs"
	JobSetSuspendedMessage = "jobset is suspended"
	// SuspendingReason: Jobs are suspended, and not yet all of them. Written where that matters: with the gates of executions and deadlines.
	SuspendingReason  = "SuspendingJobs"
	SuspendingMessage = "jobset is being suspended"
	ResumedReason     = "ResumeJobs"
	ResumedMessage    = "jobset is resumed"
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
	// DisabledByAnnotationReason and AnnotationRemovedReason: a user switched in-place restart off for a JobSet, or on again.
	DisabledByAnnotationReason  = "DisabledByAnnotation"
	DisabledByAnnotationMessage = "annotation jobset.sigs.k8s.io/disable-in-place-restart is set: workers run and are not restarted in place; remove it to have them restart together and be restarted in place again"
	AnnotationRemovedReason     = "AnnotationRemoved"
	AnnotationRemovedMessage    = "annotation jobset.sigs.k8s.io/disable-in-place-restart was removed: all workers restart in place and begin the next epoch together"
	// WorkersNotReadyReason: workers of a group that runs do not; WorkersReadyReason: all do again.
	WorkersNotReadyReason = "WorkersNotReady"
	WorkersReadyReason    = "WorkersReady"
	// GroupNotRunningReason: the group restarts, is suspended or has ended, so no worker is expected to be ready.
	GroupNotRunningReason  = "GroupNotRunning"
	GroupNotRunningMessage = "the group restarts, is suspended, not watched or has ended: no worker is expected to be ready"
	// AgentAccessDeniedReason and AgentAccessGrantedReason: agents lack rights, or have them again.
	AgentAccessDeniedReason  = "AgentAccessDenied"
	AgentAccessGrantedReason = "AgentAccessGranted"
	// AgentAccessWithheldReason: the admission policy is not in force, so agents are not granted what they need.
	AgentAccessWithheldReason = "AgentAccessWithheld"
	// MoveRefusedReason: Pods stay on sick nodes because the budget is spent; NotOnSickNodesReason: none does any more.
	MoveRefusedReason         = "MoveRefused"
	NotOnSickNodesReason      = "NotOnSickNodes"
	NotOnSickNodesMessage     = "no Pod runs on a node that it has to leave, or it can be moved again"
	MovesNotWatchedMessage    = "the JobSet has ended or is suspended, or in-place restart is disabled: its Pods are not moved off sick nodes"
	AgentAccessGrantedMessage = "the service accounts of the worker Pods may do what their agents need"
)

// Reasons and messages of JobsBlocked, besides those of the events about what cannot be created or resumed.
const (
	// PodsNotGoneReason: a Job that is deleted, or fails, waits for Pods that do not end.
	PodsNotGoneReason     = "PodsNotGone"
	JobsNotBlockedReason  = "JobsNotBlocked"
	JobsNotBlockedMessage = "nothing keeps Jobs from being created, or from ending"
)

// Reasons and messages of fault tolerance.
const (
	// RetryPauseReason: all Jobs of a reset are gone, and the pause begins.
	RetryPauseReason = "RetryPause"
	// PodsFailedReason, PodsMissingReason and PodsNotRunningReason: why a JobSet is unhealthy, and then reset.
	PodsFailedReason     = "PodsFailed"
	PodsMissingReason    = "PodsMissing"
	PodsNotRunningReason = "PodsNotRunning"
	// PodsUnscheduledReason: Pods of a group that restarts in place find no node.
	PodsUnscheduledReason = "PodsUnscheduled"
	PodsHealthyReason     = "PodsHealthy"
	// HealthNotWatchedReason: the JobSet is reset, suspended, or a group that restarts in place. MovesNotWatchedMessage has it, too.
	HealthNotWatchedReason  = "NotWatched"
	HealthNotWatchedMessage = "the JobSet has ended, is reset or suspended, or its group restarts in place"
	// ResourcesInUseReason and ResourcesReleasedReason: Jobs may run, or nothing of the JobSet does any more.
	ResourcesInUseReason    = "ResourcesInUse"
	ResourcesInUseMessage   = "Jobs of the JobSet may run Pods"
	ResourcesReleasedReason = "ResourcesReleased"
	// ChildJobDeletedReason: somebody else deleted a Job.
	ChildJobDeletedReason = "ChildJobDeleted"
	// PodsKeptReason: a failed JobSet keeps its Pods for a while.
	PodsKeptReason = "PodsKept"
	// SuccessTTLExpiredReason: the Jobs of a completed JobSet are deleted.
	SuccessTTLExpiredReason = "SuccessTTLExpired"
	// FaultToleranceOffReason: this condition is no longer kept.
	FaultToleranceOffReason  = "FaultToleranceOff"
	FaultToleranceOffMessage = "spec.faultTolerance was removed, or feature gate FaultTolerance is off"
)

// AgentAccess is the name of the ClusterRole of agents, and of the ValidatingAdmissionPolicy that
// narrows them and its binding.
const AgentAccess = "jobset-agent"

// AgentLeases is the name of the ValidatingAdmissionPolicy that narrows what agents write of Leases, and of its binding.
const AgentLeases = "jobset-agent-leases"

// AgentPolicyRevisionKey is the label of these policies that numbers their versions.
const AgentPolicyRevisionKey = "jobset.sigs.k8s.io/policy-revision"

// Reasons of events that announce no condition.
const (
	JobCreationFailedReason = "JobCreationFailed"
	JobResumeFailedReason   = "JobResumeFailed"
	// FailedResourcePropagationReason: the API server refuses other requests and limits of a suspended Job.
	FailedResourcePropagationReason     = "FailedResourcePropagation"
	HeadlessServiceCreationFailedReason = "HeadlessServiceCreationFailed"
	// HostNamesMissingReason: the Service of the subdomain is somebody else's, and does not select all Pods.
	HostNamesMissingReason        = "HostNamesMissing"
	PVCCreationFailedReason       = "PVCCreationFailed"
	PVCTerminatingReason          = "PVCTerminating"
	AgentAccessFailedReason       = "AgentAccessFailed"
	InPlaceRestartStartedReason   = "InPlaceRestartStarted"
	InPlaceRestartCompletedReason = "InPlaceRestartCompleted"
	// InPlaceRestartPlannedReason: the group restarts in place although nothing failed, and its workers save their state first.
	InPlaceRestartPlannedReason = "InPlaceRestartPlanned"
	InvalidEpochReason          = "InvalidEpoch"
	// SuccessOverdueReason: a Pod whose workers are done does not end, and a break waits for its success no longer.
	SuccessOverdueReason = "SuccessOverdue"
	// ForeignJobReason: a Job names the JobSet as its controller, and the JobSet did not create it.
	ForeignJobReason = "ForeignJob"
	// WorkerReplacedReason: a Pod asked for a new one in its place, or lost its sandbox and gets one.
	WorkerReplacedReason = "WorkerReplaced"
	// WorkersMissingReason: Pods of workers that did not report in time are deleted.
	WorkersMissingReason = "WorkersMissing"
	// WorkersStuckReason: Pods or Jobs that should be gone keep the group from coming together.
	WorkersStuckReason = "WorkersStuck"
	// WorkerOnLostNodeReason is that of the event about workers that are replaced by force because their nodes are silent.
	WorkerOnLostNodeReason = "WorkerOnLostNode"
	// ManyNodesSilentReason is that of the event that says that none is replaced, because too many are.
	ManyNodesSilentReason = "ManyNodesSilent"
	// NodeLost is the reason of the status of a Pod that was on such a node.
	NodeLost = "NodeLost"
	// NodeLeasesForbiddenReason is that of the event about the right by which silent nodes are found.
	NodeLeasesForbiddenReason = "NodeLeasesForbidden"
	// ForcefulDeletionReason: Pods that a lost node does not let go are deleted by force.
	ForcefulDeletionReason = "ForcefulDeletion"

	// ElasticResizedReason: the manager changed the size of an elastic ReplicatedJob.
	ElasticResizedReason = "ElasticResized"
	// ElasticResizeCompletedReason: a group runs with the size that it is to have.
	ElasticResizeCompletedReason = "ElasticResizeCompleted"
	// ElasticWaitingReason: the least size of an elastic ReplicatedJob does not fit.
	ElasticWaitingReason = "ElasticWaiting"
	// MinimumDoesNotFitReason, LostPodsReason and ElasticRoomFoundReason are those of the condition ElasticWaiting.
	MinimumDoesNotFitReason = "MinimumDoesNotFit"
	LostPodsReason          = "LostPods"
	ElasticRoomFoundReason  = "ElasticRoomFound"
	ElasticRoomFoundMessage = "it is no longer waiting"
	// ElasticRefusedReason: Pods of an elastic ReplicatedJob were refused, so it runs with fewer, or waits.
	ElasticRefusedReason = "ElasticRefused"
	// ElasticHeldReason: the manager leaves the sizes of a JobSet alone because its annotation says so.
	ElasticHeldReason  = "ElasticHeld"
	ElasticHeldMessage = "the annotation jobset.sigs.k8s.io/elastic-hold keeps the manager from changing sizes; remove it to let the manager change them"
	// ElasticCoolingDownReason: its size is to change, and was changed a short time ago.
	ElasticCoolingDownReason = "ElasticCoolingDown"
	// MovedOffNodesReason: all Jobs are recreated because Pods run on nodes where a resource that they use is sick. Also a reason of RestartingJobSet.
	MovedOffNodesReason = "MovedOffNodes"
	// PlacedByQueueReason is that of the event that says that Pods are not moved, or nodes not avoided, because a queue chose the nodes.
	PlacedByQueueReason = "PlacedByQueue"
	// NodeAvoidedReason: restarts began on a node, which new Pods of the JobSet avoid. AvoidedNodeGivenUpReason: Pods found
	// no place without it, so it is used again. Also a reason of RestartingJobSet.
	NodeAvoidedReason        = "NodeAvoided"
	AvoidedNodeGivenUpReason = "AvoidedNodeGivenUp"
	// WorkersMovedReason: such Pods are deleted, and their group waits for those in their place.
	WorkersMovedReason = "WorkersMoved"

	// AgentPolicyMissingReason: an admission policy that narrows what agents may write is not in force.
	AgentPolicyMissingReason = "AgentPolicyMissing"
	// AgentLeasesDeniedReason: the agents of a large group may not report in Leases.
	AgentLeasesDeniedReason = "AgentLeasesDenied"
	// AgentPolicyInForceReason: it is again.
	AgentPolicyInForceReason = "AgentPolicyInForce"

	// RestartAllContainersUnsupportedReason: workers run on nodes too old to restart them in place.
	RestartAllContainersUnsupportedReason = "RestartAllContainersUnsupported"
)

// RestartingAllContainers is the reason that a kubelet gives, with exit code 137, for containers that it killed because the rule
// of another container restarts the Pod, and while they wait to start again.
const RestartingAllContainers = "RestartingAllContainers"

// ActionReason is the reason of the event that an action of a failure policy was taken.
func ActionReason[Action ~string](action Action) string {
	return string(action) + "FailurePolicyAction"
}
