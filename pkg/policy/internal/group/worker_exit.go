/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
	"sigs.k8s.io/jobset/pkg/workerpod"
	"sigs.k8s.io/jobset/supervisor/protocol"
)

// In process mode no container ends with its worker, so the agent of the Pod tells how it ended, with
// the report of the next epoch (P66):
//
//	epoch 2, worker-exit {"container":"worker","epoch":1,"code":3,...}
//
// Unlike what a kubelet shows, this stays, so a new leader knows it, too. What cannot be read, and
// what is reported of another epoch, is nothing.

// exitIn returns what the agent of a Pod tells of the end of a worker in an epoch.
func exitIn(m *facts.Member, epoch int32) (protocol.WorkerExit, bool) {
	if m.Exit == nil || m.Exit.Epoch != epoch {
		return protocol.WorkerExit{}, false
	}
	return *m.Exit, true
}

// ReportedFailure returns the failure that the agent of a Pod reports for an epoch. Workers that were told
// to stop, and workers that are done, have not failed.
func ReportedFailure(m *facts.Member, epoch int32) (pass.Failure, bool) {
	failure, _, failed := reportedFailure(m, epoch)
	return failure, failed
}

func reportedFailure(m *facts.Member, epoch int32) (failure pass.Failure, exit protocol.WorkerExit, failed bool) {
	exit, ok := exitIn(m, epoch)
	if !ok || exit.Stopped || exit.Done || exit.Code == 0 && exit.Leave == "" && !exit.Hung.Hung() {
		return pass.Failure{}, exit, false
	}
	failure = pass.Failure{Pod: m.Name, Node: m.Node, Container: exit.Container, ExitCode: int32(exit.Code), Replaced: exit.Leave, Hang: exit.Hung}
	if exit.OOMKilled {
		failure.Reason = "OOMKilled"
	}
	return failure, exit, true
}

// firstReported returns the failure that came first of those that agents report for the epoch that runs, as
// far as the clocks of their nodes agree; nil if there is none.
func firstReported(v *view.View) *pass.Failure {
	var first *pass.Failure
	var firstExit protocol.WorkerExit
	for _, pod := range v.Group.Pods(func(s *view.Slot) bool { return s.Pod.Exit != nil }) {
		failure, exit, failed := reportedFailure(pod, v.Synced)
		if failed && (first == nil || endedBefore(&exit, &firstExit)) {
			first, firstExit = &failure, exit
		}
	}
	return first
}

// followWithin is how long before the end of a worker that hung others may end because of that. Their connections to it end
// a moment before its own end is seen, and the clocks of nodes differ; the hang began seconds earlier.
const followWithin = 2 * time.Second

// endedBefore reports whether a worker that failed ended before another one, and was not ended by the end of that.
func endedBefore(a, b *protocol.WorkerExit) bool {
	at := func(e *protocol.WorkerExit) time.Time {
		if e.Hung.Hung() {
			return e.Time.Add(-followWithin)
		}
		return e.Time
	}
	return at(a).Before(at(b))
}

// reportsDone reports whether the agent of a Pod tells that all of its workers have finished in an epoch, and the
// kubelet does not say otherwise.
func reportsDone(m *facts.Member, epoch int32) bool {
	exit := m.Exit
	return exit != nil && exit.Epoch == epoch && exit.Done && exit.Code == 0 && !exit.Stopped && m.Phase != corev1.PodFailed
}

// ReplacedPods tells which Pods of the group have ended because their agents and supervisors cannot restart them in place.
func ReplacedPods(v *view.View, _ pass.Result) pass.Result {
	if workerpod.ModeOf(v.JobSet.Spec.FailurePolicy) != jobset.ProcessMode {
		return pass.Result{}
	}
	var r pass.Result
	for i := range v.Group.Jobs {
		slots := v.Group.Jobs[i].Slots // not those beside: what a Pod was replaced by stands in its slot
		for k := range slots {
			if slots[k].State == view.SlotMember || slots[k].State == view.SlotDone {
				continue
			}
			m := slots[k].Pod
			if because, reason := whyReplaced(m); m.Phase == corev1.PodFailed && because != "" {
				r.Reports.Replaced = append(r.Reports.Replaced, pass.Replacement{Pod: m, Because: because, Reason: reason})
			}
		}
	}
	return r
}

// whyReplaced knows no more than the exit code if the admission policy of agents is too old to let them say more.
func whyReplaced(m *facts.Member) (because string, reason protocol.LeaveReason) {
	if m.Exit != nil && m.Exit.Leave != "" {
		return m.Exit.Leave, m.Exit.LeaveReason
	}
	if m.LeftBy != "" {
		return fmt.Sprintf("the supervisor of container %s ended with code %d", m.LeftBy, protocol.ExitLeave), ""
	}
	return "", ""
}
