/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package jobset

import (
	"k8s.io/utils/ptr"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy"
)

// The first cause of a group restart is for users only; nothing is decided by it.
// A container's own exit code appears in a single watch event:
//
//	worker running                       annotation epoch 1
//	worker terminated, code 1            AllContainersRestarting True     <- here
//	all waiting RestartingAllContainers  False
//	agent running                        annotation epoch 2
//
// The exit codes of one epoch may still be in the status when the Pod reports the next
// one, and a new leader sees them again. So a failure counts only in the change that first
// shows it, in a Pod that ran in that epoch before the change. The restart code of an agent
// never counts, since agents are told to exit. One gap remains: a kubelet that reports the
// end of a worker only after the lift of the next epoch.
//
// In process mode the agent of the Pod tells how its worker ended (P66), exactly and for good. What comes
// first is kept here, too: another Pod may have failed, or been deleted, before. A supervisor that was killed with its worker
// tells nothing, so what the kubelet shows of its container is the cause.

// failureIn returns what failed in the running epoch, if this change of a Pod is the first to show it.
// The Pod before is nil if the Pod was not in the cache.
func failureIn(js *jobset.JobSet, was, is *facts.Member) (policy.Failure, bool) {
	if !policy.Runs(js) || was == nil { // while the group restarts, containers are meant to end
		return policy.Failure{}, false
	}
	if !ranIn(was, js) {
		return policy.Failure{}, false
	}
	if !is.SameExit(was) {
		if failure, ok := policy.ReportedFailure(is, ptr.Deref(js.Status.SyncedEpoch, 0)); ok {
			return failure, true // by its agent, together with the next epoch
		}
	}
	if !ranIn(is, js) {
		return policy.Failure{}, false
	}
	if _, failedBefore := policy.FailureOf(was); failedBefore {
		return policy.Failure{}, false
	}
	if killed := &is.Killed; killed.Container != "" && was.Killed != is.Killed && !is.Terminating() {
		return policy.Failure{Pod: is.Name, Node: is.Node, Container: killed.Container, ExitCode: killed.ExitCode, Reason: killed.Reason}, true
	}
	return policy.FailureOf(is)
}

// ranIn reports whether a Pod belongs to the running epoch. A failure of an
// earlier epoch stays visible, and a new leader sees it again.
func ranIn(is *facts.Member, js *jobset.JobSet) bool {
	return is.Reported.Epoch > 0 && is.Reported.Epoch == ptr.Deref(js.Status.SyncedEpoch, 0)
}
