/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package constants holds the keys, reasons and messages that the controller
// writes and that are not part of the API package. The tables of the site's
// reference are made of their comments (hack/reference).
package constants

// RestartsKey holds `status.restarts` as it was when the Job was built.
// +reference=keys-of-jobs
const RestartsKey = "jobset.sigs.k8s.io/restart-attempt"

// JobRestartAttemptKey holds how often the Job had been restarted on its own when it was built: with gate `RestartJob`, or after
// such a restart.
// +reference=keys-of-jobs
const JobRestartAttemptKey = "jobset.sigs.k8s.io/job-restart-attempt"

// TemplateEntriesKey holds which entries of the Pod template came from the JobSet, so that a resume removes those that it no longer has.
//
// Of entries that may change while the JobSet is suspended (C334a).
// +reference=keys-of-others | annotation of Jobs, by the controller
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

// AgentAccess is the name of the ClusterRole of agents, and of the ValidatingAdmissionPolicy that
// narrows them and its binding.
const AgentAccess = "jobset-agent"

// AgentLeases is the name of the ValidatingAdmissionPolicy that narrows what agents write of Leases, and of its binding.
const AgentLeases = "jobset-agent-leases"

// AgentPolicyRevisionKey holds the number of its version: a manager that was rolled back accepts a policy with a number above its own.
// +reference=keys-of-others | label of the ValidatingAdmissionPolicies of agents, by the installation
const AgentPolicyRevisionKey = "jobset.sigs.k8s.io/policy-revision"

// RestartingAllContainers is the reason that a kubelet gives, with exit code 137, for containers that it killed because the rule
// of another container restarts the Pod, and while they wait to start again.
const RestartingAllContainers = "RestartingAllContainers"

// ActionReason is the reason of the event that an action of a failure policy was taken.
func ActionReason[Action ~string](action Action) string {
	return string(action) + "FailurePolicyAction"
}
