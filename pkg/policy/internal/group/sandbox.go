/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"fmt"
	"time"

	"sigs.k8s.io/jobset/pkg/constants"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
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
func withoutSandbox(v *view.View) (lost []*facts.Member, next time.Duration) {
	pods := v.Group.Pods(func(s *view.Slot) bool { return s.NoSandbox })
	return view.Due(pods, func(pod *facts.Member) time.Duration {
		return v.Until(pod.NoSandboxSince.Add(view.SandboxPatience))
	})
}

// sandboxFailure is the failure of a Pod that is lost with its sandbox, nil if it is not; of the first by name if none is asked for.
func sandboxFailure(v *view.View, name string) *pass.Failure {
	lost, _ := withoutSandbox(v)
	for _, pod := range lost {
		if name == "" || pod.Name == name {
			return &pass.Failure{Pod: pod.Name, Node: pod.Node, NoSandbox: true}
		}
	}
	return nil
}

// LostSandboxes deletes the Pods of a group that assembles which do not come back, so that the Job controller
// replaces them (P74). A group that runs breaks first: see slotOf.
func LostSandboxes(v *view.View, before pass.Result) pass.Result {
	lost, next := withoutSandbox(v)
	r := pass.RequeueAfter(next)
	if len(lost) == 0 || v.Running() || before.Changes.Any(pass.LiftBarrier) {
		return r
	}
	r = r.And(pass.RequeueAfter(pass.RecheckInterval))
	return r.And(pass.DeletePods(lost, constants.WorkerReplacedReason,
		fmt.Sprintf("%d worker Pods lost their sandbox, as when their node restarts, and cannot start again; they are deleted to be recreated: %s",
			len(lost), view.PodNames(lost))))
}
