/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package constants

// EventAction is the action of every event that the JobSet controller records.
const EventAction = "Reconciling"

// Reasons of events of in-place restart.
const (
	// InPlaceRestartStartedReason: the group restarts. Names the first cause, the epoch that ended, and until when workers pause, if
	// they do.
	// +reference=events-of-in-place-restart | Warning
	InPlaceRestartStartedReason = "InPlaceRestartStarted"
	// InPlaceRestartPlannedReason: with `plannedStopGracePeriodSeconds`, the size changes or Jobs join. Says what changes and how long
	// workers have to save; for a move off a sick node `InPlaceRestartStarted` does.
	// +reference=events-of-in-place-restart | Normal
	InPlaceRestartPlannedReason = "InPlaceRestartPlanned"
	// InPlaceRestartCompletedReason: all workers may start. Names their number, the epoch and the seconds; with `warmStart` how many
	// started warm and cold before; after a hang the likely culprit.
	// +reference=events-of-in-place-restart | Normal
	InPlaceRestartCompletedReason = "InPlaceRestartCompleted"
	// InvalidEpochReason: a reported epoch is no decimal number from 1 to 2147483647, so it is ignored. Once per Pod and value.
	// +reference=events-of-in-place-restart | Warning
	InvalidEpochReason = "InvalidEpoch"
	// SuccessOverdueReason: a Pod whose workers are done did not end within its grace period and a minute, and delays the completion.
	// Names the container, such as a proxy: make it an init container with `restartPolicy: Always`.
	// +reference=events-of-in-place-restart | Warning
	SuccessOverdueReason = "SuccessOverdue"
	// WorkerReplacedReason: a Pod cannot restart in place and is replaced: a worker cannot be stopped, a container has not come back,
	// one is done and another must run again, or the sandbox is lost.
	// +reference=events-of-in-place-restart | Warning
	WorkerReplacedReason = "WorkerReplaced"
	// WorkersMissingReason: Pods that have not reported within `inPlaceRestart.assemblyGracePeriod` are deleted, to be recreated.
	// +reference=events-of-in-place-restart | Warning
	WorkersMissingReason = "WorkersMissing"
	// WorkersStuckReason: a Pod that should have stopped, or a Job that is being deleted, keeps the group from assembling. Says where,
	// since when, and what to do; once per `inPlaceRestart.assemblyGracePeriod`.
	// +reference=events-of-in-place-restart | Warning
	WorkersStuckReason = "WorkersStuck"
	// WorkerOnLostNodeReason: workers on silent nodes are replaced by force (`lostNode`).
	// +reference=events-of-in-place-restart | Warning
	WorkerOnLostNodeReason = "WorkerOnLostNode"
	// ManyNodesSilentReason: more than a third of a group's nodes, and more than one, are silent: none of its workers is replaced, since
	// probably manager or network is at fault.
	// +reference=events-of-in-place-restart | Warning
	ManyNodesSilentReason = "ManyNodesSilent"
	// NodeLeasesForbiddenReason: the manager may not list Leases in `kube-node-lease`, so `lostNode` has no effect.
	// +reference=events-of-in-place-restart | Warning
	NodeLeasesForbiddenReason = "NodeLeasesForbidden"
	// ForcefulDeletionReason: Pods are deleted with grace period 0: on nodes that are not ready,
	// `inPlaceRestart.forcefulDeletionGracePeriod` too late; with `faultTolerance` on any node, after
	// `forcefulDeletionGracePeriodSeconds`.
	// +reference=events-of-in-place-restart | Warning
	ForcefulDeletionReason = "ForcefulDeletion"
	// AgentPolicyMissingReason: policy `jobset-agent` or, for Leases, `jobset-agent-leases`, or its binding, is missing or does not deny.
	// About the policy, in namespace `default`, when that begins; about a JobSet at each lift meanwhile.
	// +reference=events-of-in-place-restart | Warning
	AgentPolicyMissingReason = "AgentPolicyMissing"
	// AgentPolicyInForceReason: the policy is in force again.
	// +reference=events-of-in-place-restart | Normal
	AgentPolicyInForceReason = "AgentPolicyInForce"
	// AgentLeasesDeniedReason: agents report on their Pods because Leases were refused: with `createAccess: false` it names the account
	// and the rights; otherwise up to five Pods, whose agents log the reason. At each lift.
	// +reference=events-of-in-place-restart | Warning
	AgentLeasesDeniedReason = "AgentLeasesDenied"
	// AgentAccessFailedReason: a Role or RoleBinding for agents could not be written, or belongs to another owner. Says which and what to
	// do.
	// +reference=events-of-in-place-restart | Warning
	AgentAccessFailedReason = "AgentAccessFailed"
	// RestartAllContainersUnsupportedReason: workers run on nodes whose kubelet ignores `RestartAllContainers`, and do not restart in
	// place. Names up to five.
	// +reference=events-of-in-place-restart | Warning
	RestartAllContainersUnsupportedReason = "RestartAllContainersUnsupported"
)

// Reasons of events of fault tolerance, and of nodes that Pods leave or avoid.
const (
	// PodsKeptReason: the JobSet failed, and Jobs that still run are kept, until the time given.
	// +reference=events-of-tolerance | Normal
	PodsKeptReason = "PodsKept"
	// SuccessTTLExpiredReason: the Jobs of a JobSet that completed `successTTLSeconds` ago are deleted.
	// +reference=events-of-tolerance | Normal
	SuccessTTLExpiredReason = "SuccessTTLExpired"
	// RetryPauseReason: all Jobs of a reset are gone. Says until when it pauses, and how many restarts are used.
	// +reference=events-of-tolerance | Normal
	RetryPauseReason = "RetryPause"
	// WorkersMovedReason: Pods on nodes that are labelled sick or avoided, or that wait to avoid a node that was given up, are deleted,
	// to be recreated elsewhere.
	// +reference=events-of-tolerance | Warning
	WorkersMovedReason = "WorkersMoved"
	// NodeAvoidedReason: so many restarts within `faultTolerance.avoidNodes.withinSeconds` began on a node that new Pods avoid it.
	// +reference=events-of-tolerance | Warning
	NodeAvoidedReason = "NodeAvoided"
	// PlacedByQueueReason: Pods have to leave their nodes, or could not be scheduled for a minute, but only the queue that chose the nodes
	// may choose others.
	// +reference=events-of-tolerance | Warning
	PlacedByQueueReason = "PlacedByQueue"
)

// Reasons of events of elastic groups.
const (
	// ElasticWaitingReason: a minimum does not fit, and other jobs cannot give enough: it waits, or starts anyway if it requests no
	// accelerator.
	// +reference=events-of-elastic | Warning
	ElasticWaitingReason = "ElasticWaiting"
	// ElasticCoolingDownReason: a size would change, but was changed less than the cooldown ago. Says until when.
	// +reference=events-of-elastic | Normal
	ElasticCoolingDownReason = "ElasticCoolingDown"
)

// Reasons of events of trouble, besides those of JobsBlocked.
const (
	// ForeignJobReason: Jobs name the JobSet as their controller, without its labels or a name that it would use. They are ignored. Names
	// up to five.
	// +reference=events-of-trouble | Warning
	ForeignJobReason = "ForeignJob"
	// HostNamesMissingReason: the Service of the subdomain belongs to another owner and does not select all Pods, or is not headless, so
	// these have no host names.
	// +reference=events-of-trouble | Warning
	HostNamesMissingReason = "HostNamesMissing"
	// PVCTerminatingReason: Jobs wait until claims that they need are gone. Names up to five.
	// +reference=events-of-trouble | Normal
	PVCTerminatingReason = "PVCTerminating"
)

// NodeLost is the reason of the status of a Pod that was on a node which is lost.
const NodeLost = "NodeLost"
