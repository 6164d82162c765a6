/*
Copyright 2026 The JobSet Authors.
SPDX-License-Identifier: Apache-2.0
*/

package group

import (
	"cmp"

	jobset "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/jobset/pkg/facts"
	"sigs.k8s.io/jobset/pkg/policy/internal/pass"
	"sigs.k8s.io/jobset/pkg/policy/internal/view"
)

// endNotSeen is the code that a runtime gives to a container whose end it did not see. A kubelet may show that before it shows
// that the Pod has no sandbox, as when its node restarted (P74).
const endNotSeen = 255

// causeOfBreak returns why the group breaks: what failed first, if that was
// seen, which is returned too, else what the group shows now.
func causeOfBreak(v *view.View, reporter *facts.Member) (cause jobset.RestartCause, failure *pass.Failure) {
	failure = v.FirstFailure
	reported := firstReported(v)
	if failure == nil || failure.Container != "" && reported != nil && reported.Hang.Hung() { // peers may report before the one that hung
		failure = reported
	}
	switch {
	case failure == nil:
		failure = sandboxFailure(v, "")
	case failure.ExitCode == endNotSeen:
		failure = cmp.Or(sandboxFailure(v, failure.Pod), failure)
	}
	switch {
	case failure != nil:
		return failure.Cause(), failure
	case reporter != nil:
		return jobset.RestartCause{Type: jobset.CauseUnseen, Pod: reporter.Name}, nil
	default:
		return jobset.RestartCause{Type: jobset.CauseLost, Job: v.Group.Lacking.Name}, nil
	}
}
