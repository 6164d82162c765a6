/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package policy

import (
	"fmt"
	"time"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
)

// A Pod whose sandbox is gone does not come back (P74). After a restart of its node, or when the
// runtime's process of the Pod was killed, a kubelet makes no second sandbox for a Pod with
// restartPolicy Never in which a container has run:
//
//	phase                      Running, as before
//	containers                 terminated, reason Unknown
//	PodReadyToStartContainers  False, and stays so
//
// Nothing in such a Pod reports, so without this rule its group would wait without end, or run on without it. Where a rule of a
// container asks for RestartAllContainers, the kubelet makes another sandbox, and the Pod is not lost.

// withoutSandbox returns the Pods of the group that stand in a slot and are lost with their sandbox, and how
// long until the next one is, 0 if there is none.
func (v *view) withoutSandbox() (lost []*facts.Member, next time.Duration) {
	pods := v.group.pods(func(s *Slot) bool { return s.noSandbox })
	return due(pods, func(pod *facts.Member) time.Duration {
		return v.until(pod.NoSandboxSince.Add(sandboxPatience))
	})
}

// sandboxFailure is the failure of a Pod that is lost with its sandbox, nil if it is not; of the first by name if none is asked for.
func (v *view) sandboxFailure(name string) *Failure {
	lost, _ := v.withoutSandbox()
	for _, pod := range lost {
		if name == "" || pod.Name == name {
			return &Failure{Pod: pod.Name, Node: pod.Node, NoSandbox: true}
		}
	}
	return nil
}

// lostSandboxes deletes the Pods of a group that assembles which do not come back, so that the Job controller
// replaces them (P74). A group that runs breaks first: see slotOf.
func lostSandboxes(v *view, before result) result {
	lost, next := v.withoutSandbox()
	r := requeueAfter(next)
	if len(lost) == 0 || v.running() || before.changes.any(liftBarrier) {
		return r
	}
	r = r.and(requeueAfter(gatherNodes)) // a Pod that changed since it was read is not deleted
	return r.and(deletePods(lost, constants.WorkerReplacedReason,
		fmt.Sprintf("%d worker Pods lost their sandbox, as when their node restarts, and cannot start again; they are deleted to be recreated: %s",
			len(lost), podNames(lost))))
}
